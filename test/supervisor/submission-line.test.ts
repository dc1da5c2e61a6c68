import { expect, it } from 'vitest';
import { eventLine } from '../../src/supervisor/journal-text.js';
import { eventIn } from '../../src/supervisor/submission-line.js';
import { type Sketch, submitted } from '../scheduler/play.js';

const many = (count: number) =>
  submitted(
    Array.from({ length: count }, (_, n): Sketch => {
      const retry = { max: n % 2, backoffMs: 1, on: ['crash' as const] };
      return {
        name: `r${n}`,
        group: `g${n % 3}`,
        graceMs: n % 4,
        retry,
        wish: n % 5 === 0 ? 'done' : 'run',
        attempts: n,
      };
    }),
    { g1: ['g0'] },
  );

it.each([1, 99, 100, 5000])('a submission of %d runs is the same after it was written down', (count) => {
  expect(eventIn(JSON.parse(eventLine(many(count))))).toEqual(many(count));
});

it('that of many takes a third of the room', () => {
  expect(eventLine(many(5000)).length).toBeLessThan(JSON.stringify(many(5000)).length / 3);
});

it.each([
  { what: 'a run without its terms', harm: (line: string) => line.replace('["s/r7",', '["s/r7",99') },
  { what: 'a run whose name leads elsewhere', harm: (line: string) => line.replace('"s/r7"', '"s/../r7"') },
  { what: 'a wish nobody has', harm: (line: string) => line.replace('"done"', '"gone"') },
  { what: 'terms that are none', harm: (line: string) => line.replace('"graceMs":1', '"graceMs":"1"') },
  { what: 'runs that are none', harm: (line: string) => line.replace(/"runs":\[.*\]/, '"runs":{}') },
])('is damaged where there is $what', ({ harm }) => {
  const line = eventLine(many(200));
  expect(harm(line)).not.toBe(line);
  expect(eventIn(JSON.parse(harm(line)))).toBeUndefined();
});
