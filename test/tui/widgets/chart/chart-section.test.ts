import { describe, expect, it } from 'vitest';
import { type ChartChoice, initialChartChoice } from '../../../../src/tui/state/chart-choice.js';
import type { Curve } from '../../../../src/tui/model/chart-data.js';
import { chartSection, sharedLegend } from '../../../../src/tui/widgets/chart/chart-section.js';
import { lineWidth, plainText } from '../../../../src/tui/surface/span.js';

function line(label: string, y: (x: number) => number, count = 100): Curve {
  const x = Float64Array.from({ length: count }, (_, index) => index);
  return { label, tone: 'curve0', setting: label, series: { x, y: x.map(y) } };
}

function section(curves: readonly Curve[], choice: Partial<ChartChoice>, width = 100, note: string | null = null) {
  const detail = { xKey: 'progress/episodes', isLoaded: true, choice: { ...initialChartChoice, ...choice }, note };
  const rows = chartSection({ metric: 'test/bits/answer_clamped', curves }, detail, { width, height: 16 });
  return rows.map((row) => plainText(row).trimEnd());
}

const heading = (choice: Partial<ChartChoice>, width = 100, note: string | null = null) =>
  section([line('s0', (x) => x - 50)], choice, width, note)[0]!;

describe('the heading of a chart', () => {
  it.each<{ choice: Partial<ChartChoice>; words: string }>([
    { choice: {}, words: 'progress/episodes' },
    { choice: { isLogX: true }, words: '1 at x ≤ 0 left out · log x · progress/episodes' },
    { choice: { isLogY: true }, words: '51 ≤ 0 left out · log y · progress/episodes' },
    { choice: { smoothing: 0.9, isClipped: true }, words: 'smoothed 0.9 · outliers cut · progress/episodes' },
    { choice: { spread: 'std' }, words: 'mean ± std · progress/episodes' },
    { choice: { spread: 'band' }, words: 'mean, 95 % band · progress/episodes' },
    { choice: { spread: 'iqm' }, words: 'IQM, quartiles · progress/episodes' },
    { choice: { zoom: { from: 0.25, to: 0.375 } }, words: 'zoom 25–37.5 % · progress/episodes' },
  ])('says $words', ({ choice, words }) => {
    expect(heading(choice)).toMatch(/^── test\/bits\/answer_clamped ─+ /);
    expect(heading(choice)).toContain(` ${words}`);
  });

  it('says when not all runs are drawn', () => {
    expect(heading({}, 100, '32 of 60 runs')).toContain('32 of 60 runs · progress/episodes');
  });

  it('says it shorter where there is little room, the name of the metric last', () => {
    const all = { isLogX: true, isLogY: true, smoothing: 0.9, spread: 'std', zoom: { from: 0, to: 0.5 } } as const;
    expect(heading(all, 100)).toMatch(
      /^── test\/bits\/answer_clamped ─+ 51 ≤ 0 · 1 x ≤ 0 · 0–50 % · std · ~0.9 · log x y/,
    );
    expect(heading(all, 50)).toBe('── test/bits/answer_clamped ─── 51 ≤ 0 · episodes');
    expect(heading(all, 34)).toMatch(/^── answer_clamped ─+ .*episodes$/);
    for (const width of [12, 20, 30, 40]) {
      expect(lineWidth([{ text: heading(all, width), tone: 'plain' }])).toBeLessThanOrEqual(width);
    }
  });
});

const legend = (curves: readonly Curve[], choice: Partial<ChartChoice>) =>
  section(curves, choice, 100).filter((row) => row.includes('━ '));

describe('the legend of a chart', () => {
  it('keeps what tells long labels apart', () => {
    const labels = ['1B', '3B'].map((size) => `s0_data/models/meta-llama/Llama-3.2-${size}-Instruct-final-checkpoints`);
    const curves = labels.map((label) => line(label, () => 1));
    const entries = section(curves, {}, 32).filter((row) => row.includes('━ ') && row.length <= 32);
    expect(entries).toEqual([expect.stringContaining('1B'), expect.stringContaining('3B')]);
  });

  it('has one entry for each label, with the mean of its last values', () => {
    expect(legend([line('B4', () => 1), line('B4', () => 3), line('B8', () => 6)], {})).toEqual(['━ B4 2  ━ B8 6']);
  });

  it('reads values off at the cursor, between points as well', () => {
    const curves = [line('up', (x) => x), line('down', (x) => -x, 30)];
    expect(legend(curves, { cursor: 0.255 })).toEqual([`x = 25.25 │  ━ up 25.25  ━ down -25.25`]);
    expect(legend(curves, { cursor: 0.5 })).toEqual(['x = 49.50 │  ━ up 49.50  ━ down –']);
  });

  it('reads off a run without a name too', () => {
    expect(legend([line('', (x) => x)], {})).toEqual([]);
    expect(legend([line('', (x) => x)], { cursor: 1 })).toEqual(['x = 99 │  ━ 99']);
  });

  it('has the values of the list: the last as it is known, not as far as the file is read, and without runs that broke', () => {
    const seeds = [1, 2, 3].map((value) => ({ ...line('B8', () => value, 90), last: value * 10, place: 100 }));
    expect(legend(seeds, { spread: 'std' })).toEqual(['━ B8 n=3 20 ±10']);
    expect(legend(seeds, { spread: 'std', smoothing: 0.9 })).toEqual(['━ B8 n=3 20 ±10']);
    const broken = { ...seeds[2]!, last: 1e22, isBroken: true };
    expect(legend([seeds[0]!, seeds[1]!, broken], { spread: 'std' })).toEqual(['━ B8 n=2 of 3 15 ±7.071']);
    const early = { ...seeds[2]!, place: 60 };
    expect(legend([seeds[0]!, seeds[1]!, early], { spread: 'std' })).toEqual(['━ B8 n=3, 1 behind 20 ±10']);
  });

  it('tells of how many seeds it speaks, and how far they lie apart', () => {
    const seeds = [1, 2, 3].map((value) => line('B8', () => value, value * 30));
    expect(legend(seeds, { spread: 'std' })).toEqual(['━ B8 n=3 2 ±1']);
    expect(legend(seeds, { spread: 'iqm' })).toEqual(['━ B8 n=3 2 [1.500–2.500]']);
    expect(legend(seeds, { spread: 'std', cursor: 0.5 })[0]).toContain('━ B8 n=2 of 3 2.500 ±0.7071');
    expect(legend(seeds, { spread: 'std', cursor: 0.9 })[0]).toContain('━ B8 n=1 of 3 3');
  });

  it('counts runs that have come to NaN or infinity, and leaves them out of the mean', () => {
    const ending = (last: number) => line('B8', (x) => (x === 99 ? last : 1));
    const seeds = [0.0058, 0.006, NaN, NaN, NaN, Infinity].map(ending);
    expect(legend(seeds, {})).toEqual(['━ B8 0.0059 · 3 NaN, 1 inf']);
    expect(legend(seeds, { spread: 'range' })).toEqual(['━ B8 n=2 0.0059 [0.0058–0.0060] · 3 NaN, 1 inf']);
    expect(legend([ending(NaN)], {})).toEqual(['━ B8 NaN']);
    expect(legend([ending(NaN), ending(NaN)], { spread: 'std' })).toEqual(['━ B8 2 NaN']);
  });

  it('leaves the charts beside each other as much room as the longest needs', () => {
    const detail = { xKey: 'step', isLoaded: true };
    const many = Array.from({ length: 12 }, (_, index) => line(`setting ${index}`, (x) => x));
    const charts = [
      { metric: 'a', curves: many },
      { metric: 'b', curves: [line('one', (x) => x)] },
    ];
    expect(sharedLegend(charts, detail, 60, 20)).toBe(3);
    expect(sharedLegend(charts.slice(1), detail, 60, 20)).toBe(1);
  });
});

describe('runs that ended before the others', () => {
  const long = line('B8', () => 4);
  const short = (value: number) => ({ ...line('B8', () => value, 41), isOver: true });
  const seeds = [long, short(8), short(9)];

  it('count on with their last value, and the row of n says how many still have one of their own', () => {
    const rows = section(seeds, { spread: 'std' });
    expect(rows[0]).toContain('mean ± std · ended runs carried · progress/episodes');
    expect(rows.find((row) => row.trimStart().startsWith('n '))).toMatch(/^ *n 3 {20,}1$/);
    expect(legend(seeds, { spread: 'std' })).toEqual(['━ B8 n=3 7 ±2.646']);
    expect(legend(seeds, { spread: 'std', cursor: 0.9 })[0]).toContain('━ B8 n=3, 2 ended 7 ±2.646');
  });

  it('are left out from their end on if that was chosen, and it is said of how many the line speaks', () => {
    const choice = { spread: 'std', carriesEnded: false } as const;
    expect(section(seeds, choice)[0]).toContain('ended runs left out');
    expect(legend(seeds, choice)).toEqual(['━ B8 n=1 of 3 4']);
    expect(legend(seeds, { ...choice, cursor: 0.9 })[0]).toContain('━ B8 n=1 of 3 4');
  });

  it('need no word and no row where all end together, or go on', () => {
    const running = [long, { ...short(8), isOver: false }];
    expect(section(running, { spread: 'std' })[0]).not.toContain('ended');
    const together = section([long, { ...line('B8', () => 8), isOver: true }], { spread: 'std' });
    expect(together[0]).not.toContain('ended');
    expect(together.some((row) => row.trimStart().startsWith('n '))).toBe(false);
  });
});
