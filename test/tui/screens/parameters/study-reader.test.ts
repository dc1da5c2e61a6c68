import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { seededRandom } from '../../../../src/analysis/parameters/seeded-random.js';
import type { RunSummary } from '../../../../src/tui/state/port.js';
import type { StudyQuestion } from '../../../../src/tui/screens/parameters/study.js';
import { StudyReader } from '../../../../src/tui/screens/parameters/parameters-reader.js';
import { aRun } from '../../simulated-fleet.js';

const random = seededRandom(2);
const runs = Array.from({ length: 40 }, (_, index): RunSummary => {
  const lr = [1e-4, 1e-3, 1e-2][index % 3]!;
  const parameters = { lr, width: [64, 128][index % 2]!, seed: index };
  return aRun(`A_${index}`, { state: 'done', parameters, metrics: { loss: lr * 50 + 0.1 * random(), reward: lr } });
});
const none: readonly string[] = [];
const question = (over: Partial<StudyQuestion> = {}): StudyQuestion => ({
  ...{ sweep: 'abcd', filter: '', metric: 'loss', goal: 'minimize', scale: 'value', others: ['reward'] },
  fromSeeds: none,
  runs,
  ...over,
});

let reader: StudyReader;
let told = 0;
beforeEach(() => {
  vi.useFakeTimers();
  told = 0;
  reader = new StudyReader(() => void told++);
});
afterEach(() => {
  reader.rest();
  vi.useRealTimers();
});

/** The clock goes on by so much each time somebody looks at it: as if every step took so long. */
function withSlowSteps(ms: number): void {
  let clock = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (clock += ms));
}

describe('a study', () => {
  it('is begun by asking, and told of once it is through', () => {
    reader.want(question());
    expect(reader.study).toBeNull();
    vi.runAllTimers();
    expect(told).toBe(1);
    expect(reader.study!.parameters.map(({ name }) => name)).toEqual(['lr', 'width']);
    expect(reader.study!.objective.values[3]).toBe(runs[3]!.metrics['loss']);
  });

  it.each([
    {
      what: 'the parameter where it is the only one',
      perGroup: { steps: [100, 900, 900] },
      axes: ['lr', 'steps', 'width'],
    },
    {
      what: 'the groups where there are several',
      perGroup: { steps: [100, 900, 900], env: ['one', 'one', 'two'] },
      axes: ['group', 'lr', 'width'],
    },
  ])('has for what is the same throughout each group one axis, of $what', ({ perGroup, axes }) => {
    const grouped = runs.map((run, index): RunSummary => {
      const group = index % 3;
      const own = Object.fromEntries(Object.entries(perGroup).map(([name, values]) => [name, values[group]!]));
      const parameters = { ...run.parameters, ...own, lr: [1e-4, 1e-3][(index % 5) & 1]! };
      return { ...run, group: ['A', 'B', 'C'][group]!, parameters };
    });
    reader.want(question({ runs: grouped }));
    vi.runAllTimers();
    expect(reader.study!.parallel.map(({ name }) => name).sort()).toEqual(axes);
  });

  it('lets keys in between: no turn goes on after its time', () => {
    withSlowSteps(4);
    reader.want(question());
    let turns = 0;
    while (reader.study === null && turns < 5000) {
      vi.runOnlyPendingTimers();
      turns++;
    }
    // Two steps a turn, of some hundred.
    expect(turns).toBeGreaterThan(50);
    expect(reader.study).not.toBeNull();
  });

  it('tells how far it is now and then', () => {
    withSlowSteps(20);
    reader.want(question());
    const seen: number[] = [];
    for (let turn = 0; turn < 40; turn++) {
      vi.runOnlyPendingTimers();
      seen.push(reader.done);
    }
    expect(told).toBeGreaterThan(2);
    expect(told).toBeLessThan(40);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBeGreaterThan(0);
  });

  it('stays while the same runs have ended, even if they are told anew', () => {
    reader.want(question());
    vi.runAllTimers();
    const { study } = reader;
    reader.want(question({ runs: runs.map((run) => ({ ...run })) }));
    expect(vi.getTimerCount()).toBe(0);
    expect(reader.study).toBe(study);
  });

  it('is shown until the next one is through when more runs have ended, which is begun after a pause', () => {
    withSlowSteps(4);
    reader.want(question({ runs: runs.slice(0, 20) }));
    while (reader.study === null) vi.runOnlyPendingTimers();
    const { study } = reader;
    reader.want(question());
    vi.advanceTimersByTime(10);
    expect(reader.study).toBe(study);
    vi.runAllTimers();
    expect(reader.study.runs).toHaveLength(40);
  });

  it('of fewer runs is brought to its end while more of them end', () => {
    withSlowSteps(4);
    reader.want(question({ runs: runs.slice(0, 20) }));
    for (let more = 21; more <= 40; more++) {
      reader.want(question({ runs: runs.slice(0, more) }));
      vi.advanceTimersByTime(1);
    }
    while (reader.study === null) vi.runOnlyPendingTimers();
    expect(reader.study.runs).toHaveLength(20);
    vi.runAllTimers();
    expect(reader.study.runs).toHaveLength(40);
  });

  it.each<{ what: string; over: Partial<StudyQuestion> }>([
    { what: 'metric', over: { metric: 'reward' } },
    { what: 'filter', over: { filter: 'lr>0.001', runs: runs.slice(0, 10) } },
    { what: 'scale', over: { scale: 'rank' } },
  ])('of another $what is dropped at once, and the new one begun', ({ over }) => {
    reader.want(question());
    vi.runAllTimers();
    reader.want(question(over));
    expect(reader.study).toBeNull();
    vi.runAllTimers();
    expect(reader.study!.of).toEqual(question(over));
  });

  it('is not worked out for nobody: on another screen it stops, and begins again when it is asked for', () => {
    withSlowSteps(4);
    reader.want(question());
    vi.runOnlyPendingTimers();
    reader.rest();
    expect(vi.getTimerCount()).toBe(0);
    vi.runAllTimers();
    expect(reader.study).toBeNull();
    reader.want(question());
    vi.runAllTimers();
    expect(reader.study).not.toBeNull();
    reader.rest();
    reader.want(question());
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends with the window', () => {
    reader.want(question());
    reader.rest();
    vi.runAllTimers();
    expect(told).toBe(0);
  });

  it('looks at some runs of very many, evenly taken', () => {
    const many = Array.from({ length: 12_000 }, (_, index) => ({ ...runs[index % 40]!, name: `A_${index}` }));
    reader.want(question({ runs: many }));
    vi.runAllTimers();
    expect(reader.study!.runs).toHaveLength(5000);
    expect(reader.study!.runs.at(-1)!.name).toBe('A_11997');
  });
});
