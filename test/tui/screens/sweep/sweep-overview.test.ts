import { describe, expect, it } from 'vitest';
import { answersOf } from '../../../../src/analysis/answer/sweep-answers.js';
import { overviewOf } from '../../../../src/tui/screens/sweep/sweep-overview.js';
import { aRun, aSweep } from '../../simulated-fleet.js';

const HOUR = 3_600_000;
const exit = (code: number) => ({ class: 'failed', code, signal: null }) as const;
const groups = ['A', 'B'].map((name) => ({ name, title: `group ${name}`, needs: [] }));
const runs = [
  aRun('A_1', { state: 'done', startedAt: 0, endedAt: HOUR, metrics: { loss: 3 }, gpuCount: 2, attempt: 1 }),
  aRun('A_2', {
    state: 'done',
    startedAt: 0,
    endedAt: HOUR,
    metrics: { loss: 1 },
    attempt: 5,
    earlier: [
      [0, 0],
      [0, 0],
    ],
  }),
  aRun('A_3', { state: 'done', startedAt: HOUR, endedAt: 2 * HOUR, metrics: { loss: NaN }, attempt: 1 }),
  aRun('A_4', { state: 'running', startedAt: 0, metrics: { loss: 2 }, attempt: 1 }),
  aRun('B_1', { state: 'failed', startedAt: 0, endedAt: HOUR, exit: exit(1), reason: 'loss is NaN at step 10' }),
  aRun('B_2', { state: 'failed', startedAt: 0, endedAt: HOUR, exit: exit(1), reason: 'loss is NaN at step 2400' }),
  aRun('B_3', { state: 'failed', startedAt: 0, endedAt: HOUR, exit: exit(1), reason: 'no such file' }),
  aRun('B_4', { state: 'killed', startedAt: null, endedAt: 0 }),
];
const choice = { metrics: ['loss'], answers: [], x: 'step', now: 4 * HOUR, forecast: () => null };
const overview = overviewOf(runs, [aSweep({ groups })], choice);

describe('a sweep as a whole', () => {
  it('took this long, on GPUs and in all, and goes this fast', () => {
    expect(overview).toMatchObject({ runs: 8, runTime: 10 * HOUR, gpuTime: 2 * HOUR, again: 2 });
    expect(overview.rate).toEqual({ done: 3 / 4, per: 'hour' });
  });

  it('goes at a rate that can be told after a minute, in runs a minute for the first hour', () => {
    const done = (seconds: number) => [aRun('A_1', { state: 'done', startedAt: 0, endedAt: seconds * 1000 })];
    const rateAfter = (seconds: number) => overviewOf(done(seconds), [aSweep()], choice).rate;
    expect([rateAfter(12), rateAfter(120)]).toEqual([null, { done: 0.5, per: 'minute' }]);
  });

  it('has a row for each group, with the mean of its runs', () => {
    expect(overview.groups).toMatchObject([
      { name: 'A', title: 'group A', values: [{ kind: 'seeds', values: { mean: 2, count: 3 } }] },
      { name: 'B', title: 'group B', values: [null] },
    ]);
  });

  it('has the best setting in the row of a group with several, and the median over the runs of that alone, as the list has it', () => {
    const of = (group: string, lr: number, seed: number, loss: number) =>
      aRun(`${group}_${lr}_${seed}`, { group, state: 'done', parameters: { lr, seed }, metrics: { loss } });
    const grid = ['A', 'B'].flatMap((group) => [
      ...[of(group, 0.1, 0, 1), of(group, 0.1, 1, 3)],
      ...[of(group, 1, 0, 1e33), of(group, 1, 1, 1e34)],
    ]);
    const sweep = aSweep({ groups, objective: { name: 'loss', goal: 'minimize' } });
    const { answers } = answersOf(grid, sweep, { fromSeeds: [] });
    const { groups: rows, answers: told } = overviewOf(grid, [sweep], { ...choice, answers });
    expect(rows.map(({ values }) => values[0])).toMatchObject(
      Array(2).fill({ kind: 'best', setting: 'lr=0.1', runs: 2, value: 2 }),
    );
    // A single group without settings of its own is a grid as well.
    const one = grid.filter(({ group }) => group === 'A');
    const alone = answersOf(one, sweep, { fromSeeds: [] }).answers;
    expect(overviewOf(one, [sweep], { ...choice, answers: alone }).groups[0]!.values[0]).toMatchObject({ value: 2 });
    expect(told.map(({ group }) => group)).toEqual(['A', 'B']);
    expect(told[0]!.sentences[0]).toContain('lr=0.1');
  });

  it('with one group has a row for each of its settings', () => {
    const settings = [
      aRun('A_1', { subgroup: 'N16' }),
      aRun('A_2', { subgroup: 'N64' }),
      aRun('A_3', { subgroup: 'N16' }),
    ];
    const names = overviewOf(settings, [aSweep()], choice).groups.map(({ name, tally }) => [name, tally.total]);
    expect(names).toEqual([
      ['N16', 2],
      ['N64', 1],
    ]);
  });

  it('names the slowest runs, beside what is usual in their group, and none that took as long as others', () => {
    expect(overview.slowest[0]).toMatchObject({ run: { name: 'A_4' }, time: 4 * HOUR, factor: 4 });
    expect(overview.slowest.find(({ run }) => run.name === 'B_1')?.factor).toBeNull();
    expect(overview.slowest.map(({ run }) => run.name)).not.toContain('B_4');
    expect(overview.slowest.map(({ run }) => run.name)).not.toContain('A_1');
  });

  it('sorts failures by class; reasons that differ in numbers alone are one', () => {
    expect(overview.failures).toMatchObject([
      { name: 'exit 1', count: 3, reason: 'loss is NaN at step 10', reasonCount: 2 },
      { name: 'killed', count: 1, reason: null, reasonCount: 0 },
    ]);
  });

  it('has nothing to say of no runs', () => {
    expect(overviewOf([], [], choice)).toMatchObject({
      runs: 0,
      groups: [],
      rate: null,
      slowest: [],
      failures: [],
    });
  });
});
