import { Durations, type RunKind } from '../../../src/analysis/forecast/durations.js';
import { type ForecastRun, forecastOf } from '../../../src/analysis/forecast/forecast.js';
import { secondsToEnd, standsStill } from '../../../src/analysis/forecast/remaining.js';

/** What was foretold at one moment. `share`: of the runs that have ended. `actual`: until the last of them ended that did. */
export type Look = { at: number; share: number; left: number | null; actual: number };

type Played = RunKind & { id: string; start: number; seconds: number; budget: number; hangs: boolean };

const SLOTS = 2;
const EVERY = 2;

/**
 * A sweep as `sweeps/abcd.yaml` is one: warm-ups first, then groups of five settings with three seeds each, of which a rule ends
 * most long before their budget; a few use it up, and that is the heavy tail. Looked at every two seconds.
 *
 * @param hung One run in the middle stops moving and is there for good.
 */
export function playedSweep({ seed, hung }: { seed: number; hung: boolean }): Look[] {
  const runs = scheduled(drawn(seed, hung));
  const ending = runs.filter(({ hangs }) => !hangs);
  const last = Math.max(...ending.map(({ start, seconds }) => start + seconds));
  const looks: Look[] = [];
  for (let at = 1; at < last + 2 * EVERY; at += EVERY) {
    const ended = runs.filter((run) => hasEnded(run, at)).length;
    looks.push({ at, share: ended / runs.length, left: foretold(runs, at), actual: Math.max(0, last - at) });
  }
  return looks;
}

/** Of |log(foretold / actual)|, from when a tenth of the runs had ended until the last ten seconds. */
export function medianError(looks: readonly Look[]): number {
  const errors = looks
    .filter(({ share, actual, left }) => share >= 0.1 && actual >= 10 && left !== null)
    .map(({ left, actual }) => Math.abs(Math.log(Math.max(1, left!) / actual)))
    .sort((a, b) => a - b);
  return errors[errors.length >> 1]!;
}

function drawn(seed: number, hung: boolean): Played[] {
  const random = uniform(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const run = (group: string, setting: number, n: number, typical: number): Played => {
    const budget = typical * 6;
    const stopped = typical * Math.exp(0.35 * normal());
    const seconds = random() < 0.06 ? budget : Math.min(budget, stopped);
    const parameters = { setting, seed: n };
    return {
      ...{ id: `${group}_${setting}_s${n}`, sweep: 's', group, parameters, isPreparation: group === 'warmup' },
      ...{ start: 0, seconds, budget, hangs: false },
    };
  };
  const warmup = { ...run('warmup', 0, 0, 30), seconds: 30, budget: 30 };
  const groups = ['A', 'B', 'C'].flatMap((group) => {
    const typical = Array.from({ length: 5 }, () => 5 * Math.exp(0.4 * normal()));
    return [0, 1, 2].flatMap((n) => typical.map((seconds, setting) => run(group, setting, n, seconds)));
  });
  const all = [warmup, ...groups];
  if (hung) all[20] = { ...all[20]!, hangs: true, seconds: Infinity };
  return all;
}

/** Gives the slots in the order of the file; all wait for the warm-up. */
function scheduled(runs: Played[]): Played[] {
  const free = Array<number>(SLOTS).fill(0);
  let ready = 0;
  return runs.map((run) => {
    const slot = free.indexOf(Math.min(...free));
    const start = Math.max(free[slot]!, ready);
    if (run.isPreparation) ready = start + run.seconds;
    free[slot] = start + run.seconds;
    return { ...run, start };
  });
}

function hasEnded({ start, seconds }: Played, at: number): boolean {
  return start + seconds <= at;
}

function foretold(runs: readonly Played[], at: number): number | null {
  const durations = new Durations();
  for (const run of runs) if (hasEnded(run, at)) durations.note(run, run.seconds);
  const rows = runs.map((run) => rowOf(run, at, durations));
  const needs = (_: string, group: string) => (group === 'warmup' ? [] : ['warmup']);
  return forecastOf(rows, { cpuSlots: SLOTS, gpus: 0, needs, now: at * 1000 })(rows);
}

function rowOf(run: Played, at: number, durations: Durations): ForecastRun {
  const { id, sweep, group, parameters, start, seconds } = run;
  const isDone = hasEnded(run, at);
  const isUp = !isDone && start <= at;
  const state = isDone ? 'done' : isUp ? 'running' : 'queued';
  const startedAt = isDone || isUp ? start * 1000 : null;
  const endedAt = isDone ? (start + seconds) * 1000 : null;
  return {
    ...{ id, sweep, group, parameters, state, startedAt, endedAt, priority: 0, attempt: startedAt === null ? 0 : 1 },
    ...{ progress: isUp ? progressOf(run, at - start) : null, etaSeconds: isUp ? etaOf(run, at, durations) : null },
  };
}

/** As the supervisor tells it: it moves every half second; one that hangs moved last four seconds after its start. */
function etaOf(run: Played, at: number, durations: Durations): number | null {
  const elapsed = at - run.start;
  const moved = run.hangs ? Math.min(at, run.start + 4) : at;
  if (standsStill({ at: moved * 1000, every: 500, longest: 500 }, at * 1000)) return null;
  const likes = durations.like(run)?.inOrder ?? [];
  const progress = progressOf(run, elapsed);
  const toBudget = progress === 0 ? null : (elapsed * (1 - progress)) / progress;
  return secondsToEnd({ elapsed, toBudget, mayEndEarly: !run.isPreparation, likes });
}

/** A run that has learnt has less to do at each step: where its rule ends it, it has come through some hundredths of its steps. */
function progressOf({ budget, isPreparation }: Played, elapsed: number): number {
  return isPreparation ? elapsed / budget : (elapsed / budget) ** 2;
}

/** Mulberry32: 32 bits of state, enough for a draw of a few hundred numbers. */
function uniform(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
