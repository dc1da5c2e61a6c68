import { expect, it } from 'vitest';
import { fitted, fittedText, MOST_BYTES } from '../../../src/cli/mcp/fitted.js';

const rows = (count: number, text = 'x'.repeat(100)) => Array.from({ length: count }, (_, n) => ({ n, text }));

it('an answer that fits is whole', () => {
  expect(JSON.parse(fitted({ runs: rows(5) }, () => ''))).toEqual({ runs: rows(5) });
});

it('a longer one has the first items, and says how many there are and how to get the rest', () => {
  const { runs, left_out } = JSON.parse(
    fitted({ runs: rows(2000), points: [[1, 2]] }, (kept) => `Go on at ${kept}.`),
  ) as {
    runs: { n: number }[];
    left_out: string;
  };
  expect(runs.map(({ n }) => n)).toEqual([...runs.keys()]);
  expect(left_out).toBe(`Shown are ${runs.length} of 2000 runs. Go on at ${runs.length}.`);
});

it('keeps the points of a curve together', () => {
  const points = Array.from({ length: 50 }, (_, x) => [x, x]);
  const { curves } = JSON.parse(fitted({ curves: Array.from({ length: 200 }, () => ({ points })) }, () => '')) as {
    curves: { points: unknown }[];
  };
  expect(curves.every((curve) => JSON.stringify(curve.points) === JSON.stringify(points))).toBe(true);
});

it.each([
  ['one long text', { log: '\u001b'.repeat(1_000_000) }],
  ['many fields', Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`name-${n}`, n]))],
  ['long names', { rows: rows(3).map((row) => ({ ...row, ['k'.repeat(30_000)]: 1 })) }],
  ['lists in lists', { a: [rows(300), rows(300)].map((b) => ({ b, c: b.map(() => ({ d: rows(10) })) })) }],
])('is never longer than the limit: %s', (_what, value) => {
  expect(Buffer.byteLength(fitted(value, () => 'Narrow it.'))).toBeLessThanOrEqual(MOST_BYTES);
});

it.each(['first', 'last'] as const)('text keeps its %s lines', (end) => {
  const lines = Array.from({ length: 5000 }, (_, n) => `line ${n} ü`);
  const text = fittedText(lines.join('\n'), end, 'Use grep.');
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MOST_BYTES);
  expect(text).toContain(end === 'first' ? 'line 0 ' : 'line 4999 ');
  expect(text).toMatch(/left out: \d+ of 5000 lines\. Use grep\./);
  expect(Buffer.byteLength(fittedText('ü'.repeat(100_000), end, ''))).toBeLessThanOrEqual(MOST_BYTES);
});
