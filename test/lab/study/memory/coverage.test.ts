import { describe, expect, it } from 'vitest';
import type { StudyTable } from '../../../../src/contract/study.js';
import { coverageTables } from '../../../../src/lab/study/memory/coverage.js';
import { bitsEstimate } from '../../../../src/lab/study/memory/intervals.js';
import type { MemorySection } from '../../../../src/lab/study/memory/sections.js';
import { type MemoryRow, summarise } from '../../../../src/lab/study/memory/summary.js';

/** The study of one row, with five base models of one run in each repetition. */
function row(kind: 'binary' | 'dense', repetitions: readonly (readonly number[])[], isRepeated = true): MemoryRow {
  const condition = kind === 'dense' ? ({ kind, credit: 'stepwise' } as const) : { kind };
  const runs = repetitions.flatMap((times, at) => times.map((episodes, own) => ({ episodes, at, own })));
  return summarise({
    ...{ group: 'A', task: { condition, N: 64, secret: 3, perStep: 4 }, extra: {} },
    verdicts: runs.map(({ episodes }) =>
      episodes === Infinity
        ? { kind: 'stuck', answer: 4, bits: -9, episodes: 9000 }
        : { kind: 'memorised', step: episodes / 4, episodes, resolution: 4 },
    ),
    origins: runs.map(({ at, own }) => ({
      ...{ pair: `s${at}.${own}`, base: `w${at}.${own}` },
      repetition: isRepeated ? `repetition ${at}` : null,
    })),
  });
}

const sectionOf = (rows: MemoryRow[]): MemorySection => ({
  ...{ group: 'A', title: null, scalings: [], rows },
  bits: new Map(rows.map((each) => [each, bitsEstimate(each)])),
});

function rowsOf({ columns, rows }: StudyTable): Record<string, unknown>[] {
  return rows.map(({ cells }) => Object.fromEntries(columns.map(({ title }, at) => [title, cells[at]])));
}

describe('the coverage of the intervals of a repeated study', () => {
  const usual = [100, 200, 300, 400, 500];
  const apart = [800, 900, 1000, 1100, Infinity];
  const slow = row('binary', [usual, usual, usual, apart]);
  const fast = row('dense', [usual, usual, usual, usual]);
  const [repetitions, coverage] = coverageTables(sectionOf([slow, fast]), 5).map(rowsOf);

  it('has the interval of each repetition, and whether it holds the median over all', () => {
    expect(repetitions!.map((each) => each['episodes of binary'])).toEqual([
      ...Array.from({ length: 3 }, () => '300 [100, 500]'),
      '1,000 [800, ∞] misses',
    ]);
    expect(repetitions![3]!['ratio of dense, stepwise over binary']).toBe('×0.222 [0, 0.364] misses');
  });

  it('counts the intervals that hold it, with Wilson’s interval, for each method', () => {
    const told = coverage!.map(({ of, what, by, 'long run': longRun, 'hold it': held }) => [
      of,
      what,
      by,
      longRun,
      held,
    ]);
    expect(told.slice(0, 3)).toEqual([
      ['binary', 'episodes', 'Student’s t', '400', '3/4 [30–95 %]'],
      ['binary', 'episodes', 'bootstrap', '400', '3/4 [30–95 %]'],
      ['binary', 'memorised', 'Wilson', '95.0 %', '4/4 [51–100 %]'],
    ]);
    expect(told[5]).toEqual(['dense, stepwise', 'memorised', 'Wilson', '100.0 %', '4/4 [51–100 %]']);
    expect(told[6]!.slice(1, 4)).toEqual(['ratio', 'Student’s t', '×1']);
    // Of 100 to 500 three times, and of 800 to infinity.
    expect(coverage![0]!['width']).toBe('×5');
    expect(coverage![0]!['of drawn studies']).toMatch(/^\d+ %$/);
  });

  it('is empty for a study that is not repeated', () => {
    expect(coverageTables(sectionOf([row('binary', [usual, usual], false)]))).toEqual([]);
    expect(coverageTables(sectionOf([row('binary', [usual])]))).toEqual([]);
  });
});
