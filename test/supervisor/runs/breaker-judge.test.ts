import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/analysis/parameters/seeded-random.js';
import type { Parameters } from '../../../src/base/scalar.js';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import { emptyState, type SchedulerState } from '../../../src/scheduler/state.js';
import { step } from '../../../src/scheduler/step.js';
import { BreakerJudge } from '../../../src/supervisor/runs/breaker-judge.js';
import { endedAs, id, slots, submitted } from '../../scheduler/play.js';

/** A night. `fails`: after so many seconds; null: the run is done after `whole` of them. */
type Night = {
  readonly runs: readonly Parameters[];
  readonly fails: (parameters: Parameters, draw: () => number, at: number) => number | null;
};

const SLOTS = 8;
const WHOLE = 3600;
const breaker = { failures: 3, withinMs: 10_000 };

/** Plays a night through scheduler and judge until nothing is up and nothing more starts. @param judged Whether there is a judge. */
function morning({ runs, fails }: Night, judged = true) {
  const state: SchedulerState = emptyState();
  const draw = seededRandom(1);
  const parametersOf = new Map(runs.map((parameters, index) => [id(`r${index}`), parameters]));
  const up: { name: string; at: number; failed: boolean }[] = [];
  let at = 0;
  const told: SchedulerEvent[] = [];
  const judge = new BreakerJudge({
    ...{ state, now: () => at, parametersOf: (run) => parametersOf.get(run) ?? null },
    tell: (event) => told.push(event),
  });
  const happens = (event: SchedulerEvent): void => {
    const { actions, touched } = step(state, event);
    if (judged) judge.heard(event, touched);
    for (const action of actions) {
      if (action.type !== 'launch') continue;
      const name = action.id.slice(2);
      const after = fails(parametersOf.get(action.id)!, draw, at);
      up.push({ name, at: at + 1000 * (after ?? WHOLE), failed: after !== null });
      happens({ type: 'run-started', at, id: action.id, attempt: 1, pid: 1 });
    }
    for (let next = told.shift(); next !== undefined; next = told.shift()) happens(next);
  };
  happens(slots(SLOTS));
  happens(submitted([...parametersOf.keys()].map((run) => run.slice(2)), {}, breaker)); // prettier-ignore
  while (up.length > 0) {
    const next = up.sort((a, b) => b.at - a.at).pop()!;
    at = next.at;
    happens(endedAs(next.name, next.failed ? { kind: 'failed', code: 1 } : { kind: 'done' }, { at }));
  }
  const all = [...state.runs.values()];
  const count = (test: (run: (typeof all)[number]) => boolean) => all.filter(test).length;
  return {
    done: count((run) => run.state.phase === 'ended' && run.state.outcome.kind === 'done'),
    failed: count((run) => run.state.phase === 'ended' && run.state.outcome.kind === 'failed'),
    held: count(({ hold }) => hold !== null),
    words: [...new Set(all.flatMap(({ hold }) => (hold !== null && 'values' in hold ? [hold.values] : [])))].sort(),
  };
}

/** 5 rates × 2 optimisers × 2 batch sizes × 3 seeds, the seeds of a setting after one another. */
const grid = [0.1, 0.2, 0.3, 0.4, 1].flatMap((lr) =>
  ['adam', 'sgd'].flatMap((opt) => [64, 8].flatMap((batch) => [0, 1, 2].map((seed) => ({ lr, opt, batch, seed })))),
);
/** The same, seed by seed. */
const bySeed = [...grid].sort((a, b) => a.seed - b.seed);
const within = (test: (parameters: Parameters) => boolean) => (parameters: Parameters) => (test(parameters) ? 3 : null);

describe('what a breaker holds in a night of 60 runs', () => {
  it.each<Night & { what: string; done: number; alone: number; words: string[] }>([
    // `alone`: how many are done where nobody asks for the values.
    { what: 'one batch size does not fit', runs: grid, fails: within(({ batch }) => batch === 64), done: 30, alone: 4, words: ['batch=64'] }, // prettier-ignore
    { what: 'the same, seed by seed', runs: bySeed, fails: within(({ batch }) => batch === 64), done: 30, alone: 5, words: ['batch=64'] }, // prettier-ignore
    { what: 'one rate diverges at once', runs: grid, fails: within(({ lr }) => lr === 1), done: 48, alone: 48, words: ['lr=1'] }, // prettier-ignore
    { what: 'one rate with one seed', runs: bySeed, fails: within(({ lr, seed }) => lr === 1 && seed === 1), done: 56, alone: 38, words: [] }, // prettier-ignore
    { what: 'two values of two parameters', runs: bySeed, fails: within(({ lr, batch }) => lr === 1 || batch === 64), done: 24, alone: 5, words: ['batch=64'] }, // prettier-ignore
  ])('$what: the others are done by the morning', ({ runs, fails, done, alone, words }) => {
    expect(morning({ runs, fails }, false).done).toBe(alone);
    const told = morning({ runs, fails });
    expect(told).toMatchObject({ done, words });
    expect(told.failed).toBeLessThanOrEqual(12);
    expect(told.done + told.failed + told.held).toBe(60);
  });

  it.each<Night & { what: string }>([
    { what: 'a package is missing', runs: grid, fails: () => 2 },
    { what: 'a package is missing, seed by seed', runs: bySeed, fails: () => 2 },
    { what: 'the disk is full after an hour', runs: grid, fails: (_, _draw, at) => (at >= 3_600_000 ? 1 : null) },
  ])('$what: the group is held after a few failures', ({ runs, fails }) => {
    const { failed, held } = morning({ runs, fails });
    expect(failed).toBeLessThanOrEqual(20);
    expect(held).toBeGreaterThanOrEqual(30);
  });

  it('does not hold what fails by chance, one run in twenty', () => {
    const { done, failed, held } = morning({ runs: grid, fails: (_, draw) => (draw() < 0.05 ? 5 : null) });
    expect(held).toBe(0);
    expect(done + failed).toBe(60);
  });
});
