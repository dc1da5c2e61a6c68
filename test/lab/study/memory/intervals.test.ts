import { describe, expect, it } from 'vitest';
import { type MemoryRow, summarise } from '../../../../src/lab/study/memory/summary.js';
import {
  besideExamples,
  bitsEstimate,
  comparisons,
  rowIntervals,
  timesOf,
} from '../../../../src/lab/study/memory/intervals.js';
import type { Verdict } from '../../../../src/lab/study/memory/verdict.js';
import type { MemorySection } from '../../../../src/lab/study/memory/sections.js';
import { answerTables } from '../../../../src/lab/study/memory/tables.js';
import { testTables } from '../../../../src/lab/study/memory/test-tables.js';
import type { StudyTable } from '../../../../src/contract/study.js';

const memorised = (episodes: number): Verdict => ({
  ...{ kind: 'memorised', step: episodes / 4, episodes, resolution: 40 },
  updates: episodes / 8,
});
const near = (value: number, digits = 2) => expect.closeTo(value, digits) as number;
const stuck: Verdict = { kind: 'stuck', answer: 4, bits: -9, episodes: 10_000 };

/** A row in which seed s is on base model s % 2, and the rewards have said the secret after ten episodes. */
function row(
  condition: 'binary' | 'dense' | 'sft',
  verdicts: readonly Verdict[],
  extra: Record<string, unknown> = {},
  timesLost: readonly number[] = [],
): MemoryRow {
  const asked = condition === 'dense' ? ({ kind: 'dense', credit: 'stepwise' } as const) : { kind: condition };
  return summarise({
    ...{ group: 'A', task: { condition: asked, N: 1024, secret: 3, perStep: 4 }, extra, verdicts },
    origins: verdicts.map((_, seed) => ({ pair: `s${seed}`, base: `w${seed % 2}` })),
    determinedAfter: verdicts.map(() => 10),
    timesLost,
  });
}

const sectionOf = (rows: MemoryRow[]): MemorySection => ({
  ...{ group: 'A', title: null, scalings: [], rows },
  bits: new Map(rows.map((each) => [each, bitsEstimate(each)])),
});
const titlesOf = ({ columns }: StudyTable) => columns.map(({ title }) => title);
/** The texts of a column of a table. */
function textsIn({ columns, rows }: StudyTable, title: string): string[] {
  const at = columns.findIndex((column) => column.title === title);
  return rows.map(({ cells }) =>
    typeof cells[at] === 'string' ? cells[at] : String((cells[at] as { text: string }).text),
  );
}

const slow = row('binary', [900, 1000, 1100, 1200, 1300, 1400, 1500, 1600].map(memorised));
const fast = row('dense', [90, 100, 110, 120, 130, 140, 150, 160].map(memorised));

describe('intervals of a row', () => {
  it('have medians of updates and episodes, over base models', () => {
    const [intervals] = rowIntervals([slow], []);
    expect(intervals).toMatchObject({ bases: 2, episodes: { median: 1250, runs: 8 }, updates: { median: 156.25 } });
    expect(intervals!.late!.median).toBe(1240);
    expect(intervals!.ratio!.median).toBe(125);
    const [low, high] = intervals!.episodes!.interval;
    expect(low).toBeGreaterThanOrEqual(900);
    expect(low).toBeLessThan(1250);
    expect(high).toBeGreaterThan(1250);
  });

  it('count runs that did not memorise as infinite, and as censored at their end', () => {
    const missed = row('binary', [...[100, 200, 300].map(memorised), stuck, stuck]);
    const [intervals] = rowIntervals([missed], timesOf([missed]));
    expect(timesOf([missed])).toEqual([100, 1000, 10_000]);
    expect(intervals!.by.map((each) => each?.share)).toEqual([0.2, 0.6, 0.6].map((share) => near(share)));
    expect(intervals!.episodes).toMatchObject({ median: 300 });
    expect(intervals!.episodes!.interval[1]).toBe(Infinity);
    expect(intervals!.memorised).toEqual([near(0.231, 3), near(0.882, 3)]);
  });

  it('report the share of runs that lost the secret among those that knew it for long, only if runs continued', () => {
    const lost = row('binary', [memorised(100), memorised(200), stuck, stuck], {}, [0, 2, 1, 0]);
    expect(rowIntervals([lost], [])[0]!.lost).toEqual({ count: 2, of: 3, interval: [near(0.208), near(0.939)] });
    const titles = (shown: MemoryRow) => titlesOf(testTables([sectionOf([shown])])[0]!);
    expect(titles(lost)).toContain('lost later');
    expect(titles(slow)).not.toContain('lost later');
  });

  it('mark the best learning rate: memorised most often, then fastest', () => {
    const rates = [
      row('binary', [memorised(100), memorised(100), stuck], { learning_rate: 1e-2 }),
      row('binary', [300, 400, 500].map(memorised), { learning_rate: 1e-3 }),
      row('binary', [900, 900, 900].map(memorised), { learning_rate: 1e-4 }),
    ];
    expect(rowIntervals(rates, []).map(({ isBest }) => isBest)).toEqual([false, true, false]);
    expect(rowIntervals([slow, fast], []).map(({ isBest }) => isBest)).toEqual([null, null]);
  });

  it('mark the best learning rate for each value of the other parameters', () => {
    const rates = [1, 128].flatMap((batch_size) => [
      row('binary', [300, 400, 500].map(memorised), { batch_size, learning_rate: 1e-3 }),
      row('binary', [900, 900, 900].map(memorised), { batch_size, learning_rate: 1e-4 }),
    ]);
    expect(rowIntervals(rates, []).map(({ isBest }) => isBest)).toEqual([true, false, true, false]);
  });
});

describe('two rows of one size', () => {
  it('are compared over the seeds and secrets that both have', () => {
    const [comparison] = comparisons([slow, fast]);
    // All eight ratios have one sign: 2 / 2^8.
    expect(comparison).toMatchObject({ pairs: 8, p: near(0.0078125), memorised: { one: 0, other: 0, p: 1 } });
    expect(comparison!.ratio).toMatchObject({
      median: near(0.1),
      interval: [near(0.1), near(0.1)],
    });
  });

  it('are compared as independent samples without common seeds', () => {
    const elsewhere = { ...fast, judged: fast.judged.map((run) => ({ ...run, pair: `other ${run.pair}` })) };
    const [comparison] = comparisons([slow, elsewhere]);
    expect(comparison).toMatchObject({ pairs: 0, ratio: null, memorised: { one: 8, other: 8, p: 1 } });
    expect(comparison!.p).toBeLessThan(0.05);
  });

  it('are not tested with fewer than six common seeds, with a note in the table', () => {
    const few = row('dense', [90, 95, 100, 105, 110].map(memorised));
    const [comparison] = comparisons([slow, few]);
    expect(comparison).toMatchObject({ pairs: 5, ratio: { median: near(0.091, 3) }, p: null, holm: null });
    expect(comparison!.memorised).toEqual({ one: 0, other: 0, p: null, holm: null });
    const table = testTables([sectionOf([slow, few])])[1]!;
    expect(textsIn(table, 'pairs')).toEqual(['5: too few for a paired test']);
    expect(textsIn(table, 'p')).toEqual(['–']);
  });

  it('have sign tests of memorisation, adjusted over all comparisons', () => {
    const never = row(
      'binary',
      slow.judged.map(() => stuck),
      { temperature: 2 },
    );
    const found = comparisons([slow, fast, never]);
    // 8 : 0 twice of three: 2 / 2^8 each.
    expect(found.map(({ memorised: { p, holm } }) => [p, holm])).toEqual([
      ...[
        [1, 1],
        [near(1 / 128, 5), near(3 / 128, 5)],
        [near(1 / 128, 5), near(3 / 128, 5)],
      ],
    ]);
    const { columns, rows } = testTables([sectionOf([slow, fast, never])])[1]!;
    const at = columns.map(({ title }, index) => (title === 'p (Holm)' ? index : [])).flat();
    expect(at).toHaveLength(2);
    expect(rows.map(({ cells }) => cells[at[1]!])).toEqual(['1.0', '0.023', '0.023']);
  });

  it('are compared by how many runs lost the secret, among pairs in which both knew it', () => {
    const times = [100, 110, 120, 130, 140, 150, 160].map(memorised);
    const free = row('dense', [...times, stuck], {}, [1, 2, 1, 1, 1, 1, 0, 0]);
    const bound = row('dense', [...times, memorised(170)], { max_step_kl: 0.03 }, [0, 0, 0, 0, 0, 0, 0, 1]);
    const lostOf = (rows: MemoryRow[]) => comparisons(rows)[0]!.lost;
    expect(lostOf([free, bound])).toEqual({ one: 6, other: 0, p: near(2 / 2 ** 6, 5), holm: near(2 / 2 ** 6, 5) });
    expect(lostOf([slow, fast])).toBeNull();
    const few = row('dense', [memorised(100), memorised(110)], { max_step_kl: 0.1 }, [1, 0]);
    expect(lostOf([free, few])).toEqual({ one: 1, other: 0, p: null, holm: null });
    const titles = (rows: MemoryRow[]) => titlesOf(testTables([sectionOf(rows)])[1]!);
    expect(titles([free, bound])).toContain('lost later');
    expect(titles([slow, fast])).not.toContain('lost later');
  });

  it('are compared only at their best learning rates', () => {
    const rates = [0.1, 0.2].map((learning_rate, index) =>
      row('binary', index === 0 ? [100, 110].map(memorised) : [10, 11].map(memorised), { learning_rate }),
    );
    const found = comparisons([...rates, fast]);
    expect(found.map(({ one, other }) => [one.extra, other.condition])).toEqual([
      [{ learning_rate: 0.2 }, fast.condition],
    ]);
  });

  it('are compared at each value of another parameter', () => {
    const formats = ['decimal', 'gray', 'fixed_width'].map((answer_format, index) =>
      row('binary', [100 + index, 110 + index].map(memorised), { answer_format }),
    );
    expect(comparisons(formats)).toHaveLength(3);
    expect(rowIntervals(formats, []).map(({ isBest }) => isBest)).toEqual([null, null, null]);
  });

  it('have p values adjusted over all comparisons', () => {
    const found = comparisons([slow, fast, row('binary', [90, 100, 110, 120, 130, 140, 150, 160].map(memorised))]);
    const [first, second, third] = found.map(({ holm }) => holm);
    expect([first, second, third]).toEqual([near(3 / 128), near(3 / 128), 1]);
  });
});

describe('reinforcement learning beside supervised learning', () => {
  const examples = row('sft', [9, 10, 11, 12, 13, 14, 15, 16].map(memorised), { batch_size: 1 });
  const ratios = (rl: MemoryRow) => besideExamples([rl, examples])[0]!;

  it('has ratios of episodes to examples and of updates to updates, over the same secrets, beside the channel’s bits', () => {
    // Each secret takes a hundred times as many episodes as examples, or ten times; log2 1024 = 10 bits.
    expect(ratios(slow)).toMatchObject({ pairs: 8, episodes: { median: near(100) }, theory: near(10) });
    expect(ratios(fast)).toMatchObject({ pairs: 8, updates: { median: near(10) }, theory: near(1) });
    const table = testTables([sectionOf([slow]), sectionOf([examples])]).at(-1)!;
    const shown = Object.fromEntries(titlesOf(table).map((title) => [title, textsIn(table, title)[0]]));
    expect(shown).toMatchObject({ of: 'binary', over: 'SFT batch_size=1', 'by the channel': '×10' });
    expect(shown['episodes/examples']).toMatch(/^×100 \[.* n=8$/);
  });

  it('is left out with too few common secrets, or for another size', () => {
    const tables = (...sections: MemorySection[]) => testTables(sections).map(({ title }) => title);
    const beside = 'Reinforcement learning beside supervised learning';
    expect(tables(sectionOf([slow]), sectionOf([examples]))).toContain(beside);
    expect(tables(sectionOf([slow]), sectionOf([row('sft', [9, 10].map(memorised))]))).not.toContain(beside);
    expect(tables(sectionOf([slow, { ...examples, N: 64 }]))).not.toContain(beside);
  });

  it('counts a secret that was never memorised as infinite', () => {
    const missed = row('binary', [...[900, 1000, 1100].map(memorised), stuck, stuck, stuck, stuck, stuck]);
    expect(ratios(missed).episodes!.median).toBe(Infinity);
  });
});

describe('bits per episode', () => {
  it('have the reciprocal interval of their episodes, with 0 where most seeds did not memorise', () => {
    const [low, high] = bitsEstimate(slow)!.interval;
    const [least, most] = rowIntervals([slow], [])[0]!.episodes!.interval;
    expect([low, high]).toEqual([10 / most, 10 / least]);
    expect(bitsEstimate(row('binary', [memorised(100), stuck, stuck]))).toMatchObject({ median: 0 });
  });

  it('have an interval in both tables', () => {
    const section = sectionOf([slow]);
    expect(textsIn(answerTables(section)[0]!, '95 %')[0]).toMatch(/^\[0\.00\d+, 0\.0\d+\]$/);
    expect(textsIn(testTables([section])[0]!, 'bits/episode')[0]).toMatch(/^0\.00800 \[/);
  });
});

describe('the tables of intervals', () => {
  const wide = row('binary', [20, 30, 40, 50, 6000, 7000, 8000, 9000].map(memorised), { temperature: 2 });
  const [intervals, tests] = testTables([sectionOf([slow, wide])]);

  it('show a ratio with its interval, and mark wide ones', () => {
    const [narrow, wide] = textsIn(intervals!, 'took/told');
    expect(narrow).toMatch(/^×125 \[\d+, \d+\] n=8$/);
    expect(wide).toBe('×303 [2, 900] wide n=8');
  });

  it('show how much of the variance lies between base models, over runs that memorised', () => {
    const apart = row('dense', [100, 1000, 110, 1100, 120, 1200, 105, 1050].map(memorised));
    const alike = row('binary', [100, 100, 110, 110, 120, 120, 105, 105].map(memorised));
    const [table] = testTables([sectionOf([alike, apart])]);
    const [none, all] = textsIn(table!, 'ICC');
    expect(none).toMatch(/^0\.00 \[0\.00, 0\.\d\d\]$/);
    expect(all).toMatch(/^1\.00 \[0\.98, 1\.00\]$/);
    expect(titlesOf(testTables([sectionOf([row('binary', [stuck, stuck])])])[0]!)).not.toContain('ICC');
  });

  it('show the number of pairs of each comparison', () => {
    expect(textsIn(tests!, 'pairs')).toEqual(['8']);
  });
});
