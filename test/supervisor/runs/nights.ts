import { seededRandom } from '../../../src/analysis/parameters/seeded-random.js';
import type { Parameters } from '../../../src/base/scalar.js';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import { gpusOf } from '../../../src/scheduler/placement/slot.js';
import { emptyState, type SchedulerState } from '../../../src/scheduler/state.js';
import { step } from '../../../src/scheduler/step.js';
import { BreakerJudge } from '../../../src/supervisor/runs/breaker-judge.js';
import { endedAs, id, slots, submitted } from '../../scheduler/play.js';

/** One start of a run: its parameters, its GPU, seconds since the evening, and a draw between 0 and 1. */
type Start = {
  readonly parameters: Parameters;
  readonly gpu: number;
  readonly at: number;
  readonly draw: () => number;
};

/** A night. `fails`: after so many seconds; null: the run is done after an hour. `gpus`: how many there are; absent: eight. */
export type Night = {
  readonly runs: readonly Parameters[];
  readonly fails: (start: Start) => number | null;
  readonly gpus?: number;
};

/** How a night ended. `whole`: runs that are held without values. `values`, `gpus`: what else is held. */
export type Morning = {
  readonly done: number;
  readonly failed: number;
  readonly held: number;
  readonly whole: number;
  readonly values: readonly string[];
  readonly gpus: readonly string[];
};

const WHOLE = 3600;
const breaker = { failures: 3, withinMs: 10_000 };

/** Plays a night through scheduler and judge until nothing is up and nothing more starts. @param judged Whether there is a judge. */
export function morning({ runs, fails, gpus = 8 }: Night, judged = true): Morning {
  const state = emptyState();
  const draw = seededRandom(1);
  const parametersOf = new Map(runs.map((parameters, index) => [id(`r${index}`), parameters]));
  const up: { name: string; at: number; failed: boolean }[] = [];
  const told: SchedulerEvent[] = [];
  let at = 0;
  const judge = new BreakerJudge({
    ...{ state, now: () => at, parametersOf: (run) => parametersOf.get(run) ?? null },
    tell: (event) => told.push(event),
  });
  const happens = (event: SchedulerEvent): void => {
    const { actions, touched } = step(state, event);
    if (judged) judge.heard(event, touched);
    for (const action of actions) {
      if (action.type !== 'launch') continue;
      const [gpu = 0] = gpusOf(action.slot);
      const after = fails({ parameters: parametersOf.get(action.id)!, gpu, at: at / 1000, draw });
      up.push({ name: action.id.slice(2), at: at + 1000 * (after ?? WHOLE), failed: after !== null });
      happens({ type: 'run-started', at, id: action.id, attempt: 1, pid: 1 });
    }
    for (let next = told.shift(); next !== undefined; next = told.shift()) happens(next);
  };
  happens(slots(0, gpus));
  const all = [...parametersOf.keys()].map((run) => ({ name: run.slice(2), need: { gpus: 1 } }));
  happens(submitted(all, {}, breaker));
  while (up.length > 0) {
    const next = up.sort((a, b) => b.at - a.at).pop()!;
    at = next.at;
    happens(endedAs(next.name, next.failed ? { kind: 'failed', code: 1 } : { kind: 'done' }, { at }));
  }
  return outcomeOf(state);
}

function outcomeOf(state: SchedulerState): Morning {
  const runs = [...state.runs.values()];
  const ended = (kind: string) =>
    runs.filter(({ state: own }) => own.phase === 'ended' && own.outcome.kind === kind).length;
  const held = runs.flatMap(({ hold }) => (hold?.by === 'breaker' ? [hold.values] : []));
  const values = held.filter((each) => each !== undefined);
  return {
    ...{ done: ended('done'), failed: ended('failed'), held: held.length, whole: held.length - values.length },
    values: [...new Set(values)].sort(),
    gpus: [...state.gpu.devices.values()].flatMap(({ index, drained }) => (drained ? [`GPU ${index}`] : [])),
  };
}

/** 5 rates × 2 optimisers × 2 batch sizes × 3 seeds, the seeds of a setting after one another. */
export const grid = [0.1, 0.2, 0.3, 0.4, 1].flatMap((lr) =>
  ['adam', 'sgd'].flatMap((opt) => [64, 8].flatMap((batch) => [0, 1, 2].map((seed) => ({ lr, opt, batch, seed })))),
);
/** The same, seed by seed. */
export const bySeed = [...grid].sort((a, b) => a.seed - b.seed);

/** Runs that meet a condition fail after some seconds. */
export const when =
  (test: (parameters: Parameters) => boolean, seconds = 3): Night['fails'] =>
  ({ parameters }) =>
    test(parameters) ? seconds : null;

/** What may go wrong in a night. `what`: as the table of the documentation names it. */
export const nights: readonly (Night & { readonly what: string })[] = [
  { what: 'one batch size crashes within three seconds', runs: grid, fails: when(({ batch }) => batch === 64) },
  { what: 'the same, with the seeds in the outer loop', runs: bySeed, fails: when(({ batch }) => batch === 64) },
  { what: 'one rate crashes', runs: grid, fails: when(({ lr }) => lr === 1) },
  {
    what: 'one optimiser crashes with one batch size',
    runs: grid,
    fails: when(({ opt, batch }) => opt === 'adam' && batch === 64),
  },
  { what: 'one of eight GPUs is broken', runs: grid, fails: ({ gpu }) => (gpu === 3 ? 2 : null) },
  { what: 'the same, with the seeds in the outer loop', runs: bySeed, fails: ({ gpu }) => (gpu === 3 ? 2 : null) },
  {
    what: 'one of eight GPUs breaks after two hours',
    runs: grid,
    fails: ({ gpu, at }) => (gpu === 3 && at >= 7200 ? 2 : null),
  },
  {
    what: 'one batch size crashes, and a GPU is broken',
    runs: grid,
    fails: ({ parameters, gpu }) => (gpu === 3 || parameters['batch'] === 64 ? 2 : null),
  },
  { what: 'the disk is full after an hour', runs: grid, fails: ({ at }) => (at >= 3600 ? 1 : null) },
  { what: 'a package is missing: everything crashes in a second', runs: grid, fails: () => 1 },
  { what: 'one run in twenty crashes by chance', runs: grid, fails: ({ draw }) => (draw() < 0.05 ? 5 : null) },
  { what: 'one rate crashes after five minutes', runs: grid, fails: when(({ lr }) => lr === 1, 300) },
];

/** A row for each night: what is held, what runs, and what is done where nobody asks why. */
export function nightTable(): string {
  const rows = nights.map((night) => {
    const [judged, before] = [morning(night), morning(night, false)];
    const { done, failed, held, whole, values, gpus } = judged;
    const what = whole > 0 ? 'the group' : [...gpus, ...values.map((each) => `\`${each}\``)].join(', ');
    const heldWords = what === '' ? 'nothing' : what;
    return `| ${night.what} | ${heldWords} | ${held} | ${failed} | ${done} | ${before.done} |`;
  });
  return [
    '| what goes wrong | is held | runs held | failed | done by the end | done where the whole group is held |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}
