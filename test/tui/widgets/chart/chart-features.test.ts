import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChartChoice, guideChoices, initialChartChoice, spreads } from '../../../../src/tui/state/chart-choice.js';
import { chart, type ChartLook, plainLook } from '../../../../src/tui/widgets/chart/chart.js';
import type { Curve } from '../../../../src/tui/model/chart-data.js';
import { chartHeading } from '../../../../src/tui/widgets/chart/chart-section.js';
import type { Reference } from '../../../../src/tui/model/chart-data.js';
import { lineWidth, plainText, type Tone } from '../../../../src/tui/surface/span.js';

type Points = readonly (readonly [x: number, y: number])[];

function curve(points: Points, more: Partial<Curve> = {}): Curve {
  const series = { x: Float64Array.from(points, ([x]) => x), y: Float64Array.from(points, ([, y]) => y) };
  return { label: 'a', tone: 'curve0', series, ...more };
}

function line(count: number, y: (x: number) => number, more: Partial<Curve> = {}): Curve {
  return curve(
    Array.from({ length: count }, (_, x) => [x, y(x)] as const),
    more,
  );
}

function look(choice: Partial<ChartChoice>, references: readonly Reference[] = []): ChartLook {
  return { ...plainLook('nothing yet'), choice: { ...initialChartChoice, ...choice }, references };
}

function drawn(curves: readonly Curve[], choice: Partial<ChartChoice>, references?: readonly Reference[]): string[] {
  return chart(curves, 40, 8, look(choice, references)).map((row) => plainText(row).trimEnd());
}

/** What of the picture has a tone, the other cells blank. */
function inTone(curves: readonly Curve[], choice: Partial<ChartChoice>, tone: Tone): string {
  const rows = chart(curves, 40, 8, look(choice)).slice(0, 6);
  const cells = rows.map((row) =>
    row
      .slice(1)
      .map((span) => (span.tone === tone ? span.text : ''))
      .join(''),
  );
  return cells.join('').replaceAll(' ', '');
}

describe('axes of a chart', () => {
  it('make a line of an exponential on a logarithmic y axis, with powers of ten beside it', () => {
    expect(drawn([line(41, (x) => 10 ** (x / 10))], { isLogY: true })).toMatchInlineSnapshot(`
      [
        "10k┤                               ⢀⣀⠤⠔⠒",
        "   │                         ⣀⠤⠤⠒⠒⠉⠁",
        "100┤                  ⢀⡠⠤⠔⠒⠉⠉",
        "   │           ⣀⣀⠤⠔⠒⠊⠉⠁",
        "   │    ⢀⣀⠤⠤⠒⠒⠉",
        "  1┤⠤⠔⠒⠉⠁",
        "   └┬─────────────────┬────────────────┬",
        "    0                20               40",
      ]
    `);
  });

  it('spread small x on a logarithmic x axis', () => {
    expect(drawn([line(10_001, (x) => Math.log10(x))], { isLogX: true })).toMatchInlineSnapshot(`
      [
        "  4┤                               ⢀⣀⡤⠴⠒",
        "   │                         ⣀⣠⠤⠖⠚⠉⠉",
        "   │                  ⢀⣀⡤⠴⠒⠚⠉⠁",
        "  2┤            ⣀⣠⠤⠔⠒⠋⠉",
        "   │      ⣀⡠⠤⠒⠊⠉⠁",
        "  0┤⣀⠤⠔⠒⠉⠉",
        "   └┬─────────────────┬────────────────┬",
        "    1                100             10k",
      ]
    `);
  });

  it('say why nothing can be drawn on them', () => {
    expect(drawn([line(9, () => -1)], { isLogY: true }).join('')).toContain('no positive values');
    const sparse = [
      curve([
        [0, 1],
        [1, Number.NaN],
        [1000, 1],
      ]),
    ];
    expect(drawn(sparse, { zoom: { from: 0.4, to: 0.5 } }).join('')).toContain('no data in this range; Z zooms out');
  });
});

describe('zoom and cursor', () => {
  const rising = [line(101, (x) => x)];

  it('show a part of x, and fit y to it', () => {
    expect(drawn(rising, { zoom: { from: 0.5, to: 0.6 } })).toMatchInlineSnapshot(`
      [
        " 60┤                               ⢀⣀⠤⠔⠒",
        "   │                         ⣀⡠⠤⠒⠒⠉⠁",
        " 55┤                  ⢀⣀⠤⠔⠒⠉⠉",
        "   │           ⣀⣀⠤⠔⠒⠊⠉⠁",
        "   │    ⢀⣀⠤⠤⠒⠊⠉",
        " 50┤⠤⠔⠒⠉⠁",
        "   └┬─────────────────┬────────────────┬",
        "    50               55               60",
      ]
    `);
  });

  it('draw the cursor down to the axis, but not over a curve', () => {
    expect(drawn(rising, { cursor: 0.5 })).toMatchInlineSnapshot(`
      [
        "100┤                  │            ⢀⣀⠤⠤⠒",
        "   │                  │      ⣀⣠⠤⠔⠒⠉⠁",
        "   │                  │⣀⡤⠤⠒⠊⠉⠁",
        " 50┤            ⣀⣀⠤⠔⠒⠉⠉",
        "   │     ⢀⣀⡠⠤⠒⠚⠉      │",
        "  0┤⣀⠤⠔⠒⠊⠉            │",
        "   └┬─────────────────┼────────────────┬",
        "    0                50              100",
      ]
    `);
  });

  it('leave a cursor out that is not in the part shown', () => {
    const zoom = { from: 0.5, to: 0.6 };
    expect(drawn(rising, { zoom, cursor: 0.1 })).toEqual(drawn(rising, { zoom }));
  });
});

describe('outliers', () => {
  const spiky = [line(300, (x) => (x === 150 ? 1e6 : x === 200 ? -1e6 : Math.sin(x / 30)))];

  it('flatten all else as long as they are in the range', () => {
    expect(drawn(spiky, {}).join('')).toMatch(/-1M.*1M|1M.*-1M/);
  });

  it('are cut when asked, with an arrow where the curve leaves', () => {
    expect(drawn(spiky, { isClipped: true })).toMatchInlineSnapshot(`
      [
        "  1┤    ⣀⣀⣀⡀          ▲       ⢀⣀⣀⣀",
        "   │  ⡴⠊⠁  ⠉⠳⣄        ⡇     ⣠⠞⠉  ⠈⠙⢦⡀",
        "   │⣠⠊       ⠈⠳⡀      ⡇   ⢀⢼⡇       ⠙⣄",
        "  0┤⠁          ⠘⢦⡀    ⡇  ⡰⠋⢸⡇        ⠈⠳⡄",
        "   │             ⠙⢦⡀  ⣇⡤⠊  ⢸⡇          ⠈",
        " -1┤               ⠉⠉⠉⠉    ▼⡇",
        "   └┬───────────┬──────────┬────────────",
        "    0          100        200",
      ]
    `);
  });

  it.each<{ what: string; curves: Curve[]; labels: string; marks: string; notes: string }>([
    {
      what: 'two of six curves explode: the others are shown',
      curves: [...[1, 2, 3, 4].map((top) => line(41, () => top)), ...[1, 2].map(() => line(41, (x) => 3 ** x))],
      labels: '4 2',
      marks: '▲▲',
      notes: '▲ 2 curves to 1.2e19 · step',
    },
    {
      what: 'one of three goes down without end',
      curves: [line(41, () => 1), line(41, () => 2), line(41, (x) => -(3 ** x))],
      labels: '2.0 1.5 1.0',
      marks: '▼▼',
      notes: '▼ 1 curve to -1.2e19 · step',
    },
    {
      what: 'one is infinite at its end',
      curves: [line(41, (x) => (x > 30 ? Infinity : 1)), line(41, () => 2)],
      labels: '2.0 1.5 1.0',
      marks: '▲▲',
      notes: '▲ 1 curve to inf · step',
    },
    {
      what: 'a curve explodes alone: a logarithmic axis has room for all of it',
      curves: [line(41, (x) => 3 ** x)],
      labels: '1e14 1e7 1',
      marks: '',
      notes: 'log y · step',
    },
    {
      what: 'most explode',
      curves: [line(41, () => 1), ...[1, 2].map(() => line(41, (x) => 3 ** x))],
      labels: '1e14 1e7 1',
      marks: '',
      notes: 'log y · step',
    },
    {
      what: 'a curve explodes to both sides: no logarithm',
      curves: [line(41, (x) => (-3) ** x)],
      labels: '1.0e19 0.5e19 0',
      marks: '',
      notes: 'step',
    },
    {
      what: 'they differ by a factor of a thousand',
      curves: [line(41, () => 1), line(41, () => 2), line(41, () => 1000)],
      labels: '1000 500 0',
      marks: '',
      notes: 'step',
    },
  ])('are known where $what', ({ curves, labels, marks, notes }) => {
    const rows = drawn(curves, {});
    const beside = rows.slice(0, 6).flatMap((row) => /^ *(\S+)┤/.exec(row)?.[1] ?? []);
    expect(beside.join(' ')).toBe(labels);
    expect(rows.join('').replaceAll(/[^▲▼]/g, '')).toBe(marks);
    const heading = plainText(chartHeading({ metric: 'y', xKey: 'step', note: null }, curves, look({}), 80));
    expect(heading.replace(/^.*── y ─+ /, '').trim()).toBe(notes);
  });

  it('are in the range when a logarithmic axis is asked for, and not where a linear one is', () => {
    const curves = [line(41, () => 1), line(41, () => 2), line(41, (x) => 3 ** x)];
    expect(drawn(curves, { isLogY: true }).join('')).toMatch(/1e14.*1e7.*1┤/);
    expect(drawn(curves, { isLogY: false }).join('')).toContain('▲');
  });

  it('are not seen in a handful of values', () => {
    const few = [line(5, (x) => (x === 2 ? 100 : 0))];
    expect(drawn(few, { isClipped: true })).toEqual(drawn(few, {}));
  });
});

describe('seeds of one setting', () => {
  const seeds = [0, 1, 2].map((seed) => line(60, (x) => x + 10 * (seed - 1), { label: 'B8', setting: 'B8' }));

  it('are one line in a band', () => {
    expect(drawn(seeds, { spread: 'std' })).toMatchInlineSnapshot(`
      [
        "   │                               ⢀⣀⣤⣤⣴",
        " 50┤                      ⣀⣀⣤⣤⣴⣀⣀⡠⠤⠔⠒⠊⠉⠉",
        "   │             ⣀⣀⣠⣤⣴⣀⣀⠤⠤⠔⠒⠊⠉⠉⠿⠛⠋⠉⠉",
        "   │    ⣀⣀⣠⣤⣶⣀⣀⡠⠤⠔⠒⠒⠉⠉⠟⠛⠋⠉⠉",
        "  0┤⣀⣀⡠⠤⠔⠒⠊⠉⠉⠟⠛⠛⠉⠉",
        "   │⠟⠛⠛⠉⠁",
        "   └┬───────────┬───────────┬───────────",
        "    0          20          40",
      ]
    `);
  });

  it('are each drawn where a chart says so, or where x has no order', () => {
    expect(drawn(seeds, { spread: 'each' })).not.toEqual(drawn(seeds, { spread: 'std' }));
    const cloud = [0, 1].map((seed) =>
      curve(
        Array.from({ length: 60 }, (_, at) => [(at * 37) % 60, at + seed] as const),
        { setting: 'B8' },
      ),
    );
    expect(drawn(cloud, { spread: 'std' })).toEqual(drawn(cloud, {}));
  });

  it('leave a run without a setting as it is', () => {
    const own = line(60, (x) => x, { tone: 'curve1' });
    expect(inTone([own], { spread: 'iqm' }, 'curve1')).toBe(inTone([own], {}, 'curve1'));
  });
});

describe('smoothing', () => {
  it('draws the mean before what it was made of', () => {
    const noisy = [line(200, (x) => Math.sin(x * 12.9) + x / 50)];
    expect(inTone(noisy, {}, 'faint')).not.toMatch(/[\u2801-\u28ff]/);
    expect(inTone(noisy, { smoothing: 0.9 }, 'faint')).toMatch(/[\u2801-\u28ff]/);
    expect(inTone(noisy, { smoothing: 0.9 }, 'curve0').length).toBeLessThan(inTone(noisy, {}, 'curve0').length);
  });
});

describe('a line of theory', () => {
  const known = [line(100, (x) => 8 * (1 - Math.exp(-x / 20)))];

  it('is dashes with a name beside them, and the range reaches up to them', () => {
    const most = { label: 'log2 N = 10', value: 10, isPerX: false };
    expect(drawn(known, {}, [most])).toMatchInlineSnapshot(`
      [
        " 10┤⠒ ⠒ ⠒ ⠒ ⠒ ⠒ ⠒ ⠒ ⠒ ⠒ ⠒ ⠒ ⠒ ⠒ ⠒ ⠒ ⠒ ⠒",
        "   │   log2 N = 10 ⣀⣀⣀⣀⡠⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠴⠒⠒⠒",
        "   │       ⢀⣀⠤⠔⠒⠊⠉⠉",
        "  5┤    ⢀⠴⠒⠁",
        "   │  ⡤⠊⠁",
        "  0┤⡰⠊",
        "   └┬─────────────────┬─────────────────",
        "    0                50",
      ]
    `);
  });

  it('is in the range as a limit only where the values come near it', () => {
    const limit = { label: 'limit 50', value: 50, isPerX: false, isLimit: true } as const;
    expect(drawn(known, {}, [limit]).join('')).toContain('limit 50');
    expect(drawn(known, {}, [{ ...limit, value: 5000 }])).toEqual(drawn(known, {}));
  });

  it('may grow with x, and is cut off at the top', () => {
    const ceiling = { label: '0.1 bits/episode', value: 0.1, isPerX: true };
    expect(drawn(known, {}, [ceiling]).join('')).toContain('0.1 bits/episode');
    const steep = { label: '50 bits/episode', value: 50, isPerX: true };
    expect(drawn(known, {}, [steep]).join('')).not.toContain('50 bits/episode');
  });
});

describe('guides of a chart', () => {
  it('are at the numbers of the y axis, or of both axes, behind the curve', () => {
    const falling = [line(41, (x) => 40 - x)];
    expect(drawn(falling, { guides: 'lines' })).toMatchInlineSnapshot(`
      [
        " 40┤⠒⠢⢄⣀⡀⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂",
        "   │    ⠈⠉⠒⠢⠤⢄⡀",
        "   │          ⠈⠉⠑⠒⠤⢄⣀⡀",
        " 20┤⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠈⠉⠒⠢⠤⣀⡀⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁",
        "   │                       ⠈⠉⠑⠒⠤⢄⣀",
        "  0┤⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⠉⠑⠒⠢⠤⣀",
        "   └┬─────────────────┬────────────────┬",
        "    0                20               40",
      ]
    `);
    expect(drawn(falling, { guides: 'grid' })).toMatchInlineSnapshot(`
      [
        " 40┤⠒⠢⢄⣀⡀⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠇⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠪",
        "   │⠅   ⠈⠉⠒⠢⠤⢄⡀       ⠅                ⠨",
        "   │⠅         ⠈⠉⠑⠒⠤⢄⣀⡀⠅                ⠨",
        " 20┤⠅⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠈⠉⠒⠢⠤⣀⡀⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠩",
        "   │⠅                 ⠅    ⠈⠉⠑⠒⠤⢄⣀     ⠨",
        "  0┤⡅⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡅⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⠉⠑⠒⠢⠤⣀",
        "   └┬─────────────────┬────────────────┬",
        "    0                20               40",
      ]
    `);
  });

  it('leave the curve and its labels as they are', () => {
    const curves = [line(41, (x) => 10 ** (x / 10))];
    const references = [{ label: 'most', value: 5000, isPerX: false }];
    const dots = (guides: ChartChoice['guides']): string =>
      chart(curves, 40, 8, look({ guides }, references))
        .flat()
        .filter(({ tone }) => tone === 'curve0')
        .map(({ text }) => text.trim())
        .join('');
    expect(dots('grid')).toBe(dots('none'));
    expect(drawn(curves, { guides: 'grid' }, references).join()).toContain('most');
  });
});

describe('any chart', () => {
  const wild = fc.oneof(
    { weight: 8, arbitrary: fc.double({ min: -1e3, max: 1e3, noNaN: true }) },
    { weight: 2, arbitrary: fc.double() },
    { weight: 1, arbitrary: fc.constantFrom(0, 1e308, -1e308, 5e-324, Infinity, -Infinity, Number.NaN) },
  );
  const points = fc.array(fc.tuple(wild, wild), { maxLength: 30 });
  const rising = points.map((given) => given.toSorted(([a], [b]) => a - b));
  const fraction = fc.double({ min: 0, max: 1, noNaN: true });
  const choice = fc.record({
    isLogX: fc.boolean(),
    isLogY: fc.boolean(),
    smoothing: fc.constantFrom(0, 0.9),
    spread: fc.constantFrom(...spreads),
    isClipped: fc.boolean(),
    guides: fc.constantFrom(...guideChoices),
    zoom: fc.option(fraction.map((from) => ({ from: from * 0.9, to: from * 0.9 + 0.1 }))),
    cursor: fc.option(fraction),
  });

  it('has exactly its size and never throws, whatever is in it and however it is drawn', () => {
    const size = fc.integer({ min: 1, max: 50 });
    const runs = fc.array(fc.oneof(points, rising), { maxLength: 4 });
    fc.assert(
      fc.property(runs, choice, size, size, (given, chosen, width, height) => {
        const curves = given.map((one) => curve(one, { setting: 'one' }));
        const references = [{ label: 'most', value: 3, isPerX: false }];
        const lines = chart(curves, width, height, look(chosen, references));
        expect(lines).toHaveLength(height);
        for (const row of lines) expect(lineWidth(row)).toBe(width);
      }),
      { numRuns: 300 },
    );
  });

  it('has a dot wherever a run has a value', () => {
    const value = fc.double({ min: -100, max: 100, noNaN: true });
    fc.assert(
      fc.property(fc.array(value, { minLength: 2, maxLength: 5000, size: 'max' }), (values) => {
        const rows = drawn([line(values.length, (x) => values[x]!)], {}).slice(0, 6);
        const width = Math.max(...rows.map((row) => row.length));
        const edge = rows[0]!.search(/[│┤]/);
        for (let column = edge + 1; column < width; column++) {
          expect(rows.some((row) => /[\u2801-\u28ff]/.test(row[column] ?? ''))).toBe(true);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('is drawn once, and again when it is asked for otherwise', () => {
    const curves = [line(100, (x) => x)];
    const before = chart(curves, 40, 8, look({}));
    expect(chart(curves, 40, 8, look({ cursor: 0.3 }))).not.toEqual(before);
    expect(chart(curves, 40, 8, look({ isLogX: true }))).not.toEqual(before);
    expect(chart(curves, 41, 8, look({}))).not.toEqual(before);
    expect(chart(curves, 40, 8, look({}))).toEqual(before);
  });
});
