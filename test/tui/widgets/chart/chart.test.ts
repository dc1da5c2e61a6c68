import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chart, plainLook } from '../../../../src/tui/widgets/chart/chart.js';
import type { Curve } from '../../../../src/tui/model/chart-data.js';
import { legendLines } from '../../../../src/tui/widgets/chart/chart-legend.js';
import { lineWidth, plainText, type Tone } from '../../../../src/tui/surface/span.js';

function curve(points: readonly (readonly [number, number])[], tone: Tone = 'curve0'): Curve {
  const series = { x: Float64Array.from(points.map(([x]) => x)), y: Float64Array.from(points.map(([, y]) => y)) };
  return { label: 'a', tone, series };
}

/** The legend of curves of one name that end at these values. */
function legendOf(values: readonly number[], more: readonly Partial<Curve>[]): string {
  const curves = values.map((value, at) => ({
    ...curve([
      [0, 0],
      [1, value],
    ]),
    ...more[at],
  }));
  return plainText(legendLines(curves, plainLook(''), 60, 1)[0]!).trimEnd();
}

describe('curves of one name in the legend', () => {
  const [one, other] = [{ setting: 'lr 1 N 2' }, { setting: 'lr 1 N 4' }];
  it.each<{ of: string; values: number[]; more: Partial<Curve>[]; says: string }>([
    { of: 'one setting: their mean', values: [1, 2], more: [one, one], says: '━━ a 1.500' },
    {
      of: 'several settings: the lowest and the highest',
      values: [1, 2],
      more: [one, other],
      says: '━━ a 1–2',
    },
    {
      of: 'runs of which some are not drawn: of all',
      values: [1, 2],
      more: [{ ...one, together: [0.5, 1, 2, 4] }, other],
      says: '━━ a 0.5000–4',
    },
    { of: 'no number', values: [Number.NaN, Number.NaN], more: [one, other], says: '━━ a 2 NaN' },
  ])('have the value of $of', ({ values, more, says }) => {
    expect(legendOf(values, more).replace(/^━+/, '━━')).toBe(says);
  });
});

function drawn(curves: readonly Curve[], width: number, height: number): string[] {
  return chart(curves, width, height, plainLook('nothing yet')).map((line) => plainText(line).trimEnd());
}

describe('the chart', () => {
  it('draws a rising line from corner to corner, with round numbers on both axes', () => {
    const rising = curve(Array.from({ length: 101 }, (_, step) => [step, step / 10] as const));
    expect(drawn([rising], 30, 8)).toMatchInlineSnapshot(`
      [
        " 10┤                      ⢀⣠⠤⠒",
        "   │                  ⣀⡤⠔⠊⠉",
        "   │             ⢀⣠⠤⠒⠉⠁",
        "  5┤        ⢀⣀⠤⠒⠋⠁",
        "   │    ⣀⡠⠔⠚⠉",
        "  0┤⣀⠤⠒⠋⠁",
        "   └┬────────────────────────┬",
        "    0                      100",
      ]
    `);
  });

  it('tells its lines apart by their dashes where there are no colours; a short line is solid', () => {
    const straight = (level: number, tone: Tone, from = 0): Curve => ({
      ...curve(
        Array.from({ length: 101 - from }, (_, step) => [step + from, level] as const),
        tone,
      ),
      label: tone,
    });
    const curves = [straight(3, 'curve0'), straight(2, 'curve1'), straight(1, 'curve3'), straight(0, 'curve4', 95)];
    const look = plainLook('');
    const dashed = { ...look, choice: { ...look.choice, hasDashes: true } };
    const lines = [...chart(curves, 40, 9, dashed), ...legendLines(curves, dashed, 60, 2)];
    expect(lines.map((line) => plainText(line).trimEnd())).toMatchInlineSnapshot(`
      [
        "   │⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒",
        "   │",
        "  2┤⠤⠤⠄ ⠤⠤⠄ ⠤⠤⠄ ⠤⠤⠄ ⠤⠤⠄ ⠤⠤⠄ ⠤⠤⠄ ⠤⠤⠄ ⠤⠤⠄",
        "   │",
        "   │⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤ ⠤",
        "   │",
        "  0┤                                 ⢀⣀⣀",
        "   └┬─────────────────┬────────────────┬",
        "    0                50              100",
        "⠒⠒⠒⠒ curve0 3  ⠒⠒⠂  curve1 2  ⠒ ⠒  curve3 1  ⠒⠂   curve4 0",
      ]
    `);
  });

  it('leaves a gap where values are missing, and does not join over it', () => {
    const gap = curve([
      [0, 1],
      [1, 1],
      [2, Number.NaN],
      [8, 1],
      [9, 1],
      [10, Number.NaN],
      [20, 1],
    ]);
    const row = drawn([gap], 30, 6).find((line) => /[\u2801-\u28ff]/.test(line))!;
    expect(row).toMatch(/[\u2801-\u28ff] +[\u2801-\u28ff]+ +[\u2801-\u28ff]/);
  });

  it('loses no spike, however many points share a column', () => {
    const flat = Array.from({ length: 50_000 }, (_, step) => [step, step === 31_234 ? 100 : 0] as const);
    const top = drawn([curve(flat)], 40, 10)[0]!;
    expect(top).toMatch(/[\u2801-\u28ff]/);
  });

  it('gives a cell the tone of the curve drawn last', () => {
    const lines = chart(
      [
        curve(
          [
            [0, 1],
            [9, 1],
          ],
          'faint',
        ),
        curve(
          [
            [0, 1],
            [9, 1],
          ],
          'curve3',
        ),
      ],
      30,
      6,
      plainLook(''),
    );
    expect(
      lines.flatMap((line) => line.filter(({ text }) => /[\u2801-\u28ff]/.test(text))).map(({ tone }) => tone),
    ).toEqual(['curve3']);
  });

  it('says so where there is nothing to draw', () => {
    expect(drawn([], 21, 3)).toEqual(['', '     nothing yet', '']);
    expect(drawn([curve([[0, Number.NaN]])], 21, 3)[1]).toContain('nothing yet');
  });

  it.each<{ when: string; points: [number, number][] }>([
    { when: 'one point', points: [[5, 5]] },
    {
      when: 'a flat line',
      points: [
        [0, 2],
        [9, 2],
      ],
    },
    {
      when: 'zero throughout',
      points: [
        [0, 0],
        [9, 0],
      ],
    },
    {
      when: 'one x',
      points: [
        [3, 1],
        [3, 9],
      ],
    },
    {
      when: 'infinities',
      points: [
        [0, 1],
        [1, Infinity],
        [2, -Infinity],
        [3, 2],
      ],
    },
    {
      when: 'x going back after a resume',
      points: [
        [0, 1],
        [5, 2],
        [3, 1],
        [6, 3],
      ],
    },
  ])('can draw $when', ({ points }) => {
    expect(drawn([curve(points)], 40, 10).join('')).toMatch(/[\u2801-\u28ff]/);
  });

  it('always has the size asked for', () => {
    const point = fc.tuple(fc.double({ noNaN: true }), fc.oneof(fc.double(), fc.constant(Number.NaN)));
    const size = fc.integer({ min: 1, max: 60 });
    fc.assert(
      fc.property(fc.array(point, { maxLength: 40 }), size, size, (points, width, height) => {
        const lines = chart([curve(points)], width, height, plainLook('nothing yet'));
        expect(lines).toHaveLength(height);
        for (const line of lines) expect(lineWidth(line)).toBe(width);
      }),
    );
  });
});
