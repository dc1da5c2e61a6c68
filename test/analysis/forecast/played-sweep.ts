import type { Recording } from './recorded-sweep.js';

type Played = { group: number; setting: number; seconds: number; budget: number; hangs: boolean };

const SLOTS = 2;
const groupNames = ['warmup', 'A', 'B', 'C'];

/**
 * A sweep as `sweeps/abcd.yaml` is one: a warm-up first, then groups of five settings with three seeds each, of which a rule ends
 * most long before their budget; a few use it up, and that is the heavy tail.
 *
 * @param hung One run in the middle stops moving and is there for good.
 */
export function playedSweep({ seed, hung }: { seed: number; hung: boolean }): Recording {
  const runs = drawn(seed, hung);
  const starts = startsOf(runs);
  return {
    what: 'invented',
    slots: [[0, SLOTS]],
    needs: Object.fromEntries(groupNames.map((name, group) => [name, group === 0 ? [] : ['warmup']])),
    groups: runs.map(({ group }) => group),
    parameters: { setting: runs.map(({ setting }) => `s${setting}`) },
    attempts: runs.map(({ seconds, hangs }, run) => [
      [starts[run]! - (starts[run - 1] ?? 0), hangs ? null : Math.round(seconds * 1000)],
    ]),
    marks: runs.map((run, index) => marksOf(run, starts[index]!)),
  };
}

/**
 * A grid of five learning rates over so many seeds, a seed after the other: at the two largest every run fails after a second, and
 * of the others each twentieth somewhere on its way. No program says how far it is.
 */
export function failingSweep({ seed, seeds }: { seed: number; seeds: number }): Recording {
  const random = uniform(seed);
  const rates = [1e-4, 1e-3, 1e-2, 0.3, 1];
  const runs = Array.from({ length: seeds }, () => rates)
    .flat()
    .map((rate) => {
      const whole = 20 * Math.exp(0.2 * (random() - 0.5));
      const breaks = rate >= 0.3 || random() < 0.05;
      return { rate, failed: breaks, seconds: rate >= 0.3 ? 0.6 + random() : breaks ? random() * whole : whole };
    });
  const starts = startsOf(
    runs.map(({ seconds }) => ({ group: 1, setting: 0, seconds, budget: seconds, hangs: false })),
  );
  return {
    what: 'invented',
    slots: [[0, SLOTS]],
    needs: { main: [] },
    groups: [],
    parameters: { lr: runs.map(({ rate }) => rate), seed: runs.map((_, run) => Math.floor(run / rates.length)) },
    attempts: runs.map(({ seconds }, run) => [[starts[run]! - (starts[run - 1] ?? 0), Math.round(seconds * 1000)]]),
    marks: [],
    failed: runs.flatMap(({ failed }, run) => (failed ? [run] : [])),
  };
}

function drawn(seed: number, hung: boolean): Played[] {
  const random = uniform(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const run = (group: number, setting: number, typical: number): Played => {
    const budget = typical * 6;
    const stopped = typical * Math.exp(0.35 * normal());
    return { group, setting, seconds: random() < 0.06 ? budget : Math.min(budget, stopped), budget, hangs: false };
  };
  const warmup = { group: 0, setting: 0, seconds: 30, budget: 30, hangs: false };
  const groups = [1, 2, 3].flatMap((group) => {
    const typical = Array.from({ length: 5 }, () => 5 * Math.exp(0.4 * normal()));
    return [0, 1, 2].flatMap(() => typical.map((seconds, setting) => run(group, setting, seconds)));
  });
  const all = [warmup, ...groups];
  if (hung) all[20] = { ...all[20]!, hangs: true };
  return all;
}

/** Gives the slots in the order of the file; all wait for the warm-up. Milliseconds. */
function startsOf(runs: readonly Played[]): number[] {
  const free = Array<number>(SLOTS).fill(0);
  let ready = 0;
  return runs.map(({ group, seconds, hangs }) => {
    const slot = free.indexOf(Math.min(...free));
    const start = Math.max(free[slot]!, ready);
    free[slot] = hangs ? Infinity : start + Math.round(seconds * 1000);
    if (group === 0) ready = free[slot]!;
    return start;
  });
}

/** It moves every half second; one that hangs moved last four seconds after its start. */
function marksOf({ group, seconds, budget, hangs }: Played, start: number): number[] {
  const marks: number[] = [];
  let [at, share] = [0, 0];
  for (let elapsed = 0.5; elapsed < (hangs ? 4 : seconds); elapsed += 0.5) {
    // A run that has learnt has less to do at each step: where its rule ends it, it has come through some hundredths of its steps.
    const next = Math.round(10_000 * (group === 0 ? elapsed / budget : (elapsed / budget) ** 2));
    if (next === share) continue;
    marks.push(start + 1000 * elapsed - at, next - share);
    [at, share] = [start + 1000 * elapsed, next];
  }
  return marks;
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
