import { describe, expect, it } from 'vitest';
import { overviewOf } from '../../../../src/tui/screens/sweep/sweep-overview.js';
import { aRun, aSweep } from '../../simulated-fleet.js';

const HOUR = 3_600_000;
const exit = (code: number) => ({ class: 'failed', code, signal: null }) as const;
const groups = ['A', 'B'].map((name) => ({ name, title: `group ${name}`, needs: [] }));
const runs = [
  aRun('A_1', { state: 'done', startedAt: 0, endedAt: HOUR, metrics: { loss: 3 }, gpuCount: 2, attempt: 1 }),
  aRun('A_2', { state: 'done', startedAt: 0, endedAt: HOUR, metrics: { loss: 1 }, attempt: 3 }),
  aRun('A_3', { state: 'done', startedAt: HOUR, endedAt: 2 * HOUR, metrics: { loss: NaN }, attempt: 1 }),
  aRun('A_4', { state: 'running', startedAt: 0, metrics: { loss: 2 }, attempt: 1 }),
  aRun('B_1', { state: 'failed', startedAt: 0, endedAt: HOUR, exit: exit(1), reason: 'loss is NaN at step 10' }),
  aRun('B_2', { state: 'failed', startedAt: 0, endedAt: HOUR, exit: exit(1), reason: 'loss is NaN at step 2400' }),
  aRun('B_3', { state: 'failed', startedAt: 0, endedAt: HOUR, exit: exit(1), reason: 'no such file' }),
  aRun('B_4', { state: 'killed', startedAt: null, endedAt: 0 }),
];
const choice = { metrics: ['loss'], direction: 'minimize', now: 4 * HOUR, forecast: () => null } as const;
const overview = overviewOf(runs, [aSweep({ groups })], choice);

describe('a sweep as a whole', () => {
  it('took this long, on GPUs and in all, and goes this fast', () => {
    expect(overview).toMatchObject({ runs: 8, runTime: 10 * HOUR, gpuTime: 2 * HOUR, donePerHour: 3 / 4, retries: 2 });
  });

  it('has a row for each group, with the best of its runs where the sweep says which way is better', () => {
    expect(overview.groups).toMatchObject([
      { name: 'A', title: 'group A', best: { value: 1, run: 'A_2' }, values: [{ mean: 2, count: 3 }] },
      { name: 'B', title: 'group B', best: null, values: [null] },
    ]);
    expect(overviewOf(runs, [aSweep()], { ...choice, direction: null }).groups[0]!.best).toBeNull();
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

  it('names the slowest runs, beside what is usual in their group', () => {
    expect(overview.slowest[0]).toMatchObject({ run: { name: 'A_4' }, time: 4 * HOUR, factor: 4 });
    expect(overview.slowest.find(({ run }) => run.name === 'B_1')?.factor).toBeNull();
    expect(overview.slowest.map(({ run }) => run.name)).not.toContain('B_4');
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
      donePerHour: null,
      slowest: [],
      failures: [],
    });
  });
});
