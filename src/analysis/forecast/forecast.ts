/**
 * When runs end that are up or wait, as far as it can be told: who is up ends when its row says so, who waits takes as long as
 * runs like it took, and slots are given in the order of the queue, as the scheduler gives them. The same for the window,
 * `ls`, `status` and `wait`.
 */
import { groupBy } from '../../base/group-by.js';
import type { RunWord } from '../../base/run-words.js';
import type { Parameters } from '../../base/scalar.js';
import { Durations, type RunKind } from './durations.js';

/** What is looked at in a run; a run summary is one. Times: Unix ms. */
export type ForecastRun = {
  readonly id: string;
  readonly sweep: string;
  readonly group: string;
  readonly parameters: Parameters;
  readonly state: RunWord;
  readonly attempt: number;
  readonly priority: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly progress: number | null;
  /** Of a run that is up; null: nobody knows. */
  readonly etaSeconds: number | null;
  /** GPUs it takes; absent: none, it takes a CPU slot. */
  readonly gpuCount?: number | undefined;
  /** Of a run that waits: from its start to its end, where that is known better than by runs like it; null: nobody knows. */
  readonly expectedSeconds?: number | null;
  /** CPU slots it takes where it takes no GPU; absent: one. */
  readonly cores?: number | undefined;
};

/** Where runs go, and what waits for what. `needs`: of a group of a sweep, the groups of that sweep that have to be done before. */
export type ForecastSetting = {
  readonly cpuSlots: number;
  readonly gpus: number;
  readonly needs: (sweep: string, group: string) => readonly string[];
  /** Unix ms. */
  readonly now: number;
};

/** What a supervisor says of the room for runs and of its sweeps, as far as it is looked at. */
type Known = {
  readonly status: {
    readonly cpu: { readonly slots: number };
    readonly gpus: readonly { readonly drained: boolean; readonly leasedBy: string | null }[];
  };
  readonly sweeps: ReadonlyMap<
    string,
    { readonly groups: readonly { readonly name: string; readonly needs: readonly string[] }[] }
  >;
};

/** The setting that a supervisor tells of. `now`: Unix ms. */
export function forecastSetting({ status, sweeps }: Known, now: number): ForecastSetting {
  const needs = new Map(
    [...sweeps].flatMap(([sweep, { groups }]) =>
      groups.map((group) => [groupKey(sweep, group.name), group.needs] as const),
    ),
  );
  const gpus = status.gpus.filter(({ drained, leasedBy }) => !drained && leasedBy === null).length;
  return { cpuSlots: status.cpu.slots, gpus, needs: (sweep, group) => needs.get(groupKey(sweep, group)) ?? [], now };
}

/** Seconds until the last of these runs has ended that will; null: nothing tells, or there is nothing to wait for. */
export type Forecast = (runs: Iterable<Pick<ForecastRun, 'id' | 'state'>>) => number | null;

/** @param runs All that share the slots, in the order of their submission. */
export function forecastOf(runs: readonly ForecastRun[], setting: ForecastSetting): Forecast {
  const { ends, unknown, hasUnknownQueue } = new Schedule(runs, setting, new Likes(runs, setting)).run();
  return (asked) => {
    let last: number | null = null;
    for (const { id, state } of asked) {
      // What would come after something that nobody knows cannot be told.
      if (unknown.has(id) || (hasUnknownQueue && state === 'queued')) return null;
      const end = ends.get(id);
      if (end !== undefined) last = Math.max(last ?? 0, end);
    }
    return last;
  };
}

/** How long runs take that are like one that has not begun. */
class Likes {
  readonly #whole = new Durations();
  readonly #kindOf: (run: ForecastRun) => RunKind;

  constructor(runs: readonly ForecastRun[], setting: ForecastSetting) {
    this.#kindOf = runKinds(runs, setting);
    for (const run of runs) {
      const seconds = wholeSeconds(run, setting.now);
      if (seconds !== null) this.#whole.note(this.#kindOf(run), seconds);
    }
  }

  /** Seconds from its start to its end; null: nothing tells. A run that has come some way before goes on from there. */
  expected(run: ForecastRun): number | null {
    if (run.expectedSeconds !== undefined) return run.expectedSeconds;
    const like = this.#whole.like(this.#kindOf(run));
    return like === null ? null : like.mean * (1 - (run.progress ?? 0));
  }
}

/** Tells which runs are alike, among these. */
export function runKinds(
  runs: readonly ForecastRun[],
  { needs }: Pick<ForecastSetting, 'needs'>,
): (run: ForecastRun) => RunKind {
  const preparations = new Set<string>();
  const groups = new Map(runs.map(({ sweep, group }) => [groupKey(sweep, group), { sweep, group }]));
  for (const { sweep, group } of groups.values()) {
    for (const needed of needs(sweep, group)) preparations.add(groupKey(sweep, needed));
  }
  return ({ sweep, group, parameters }) => ({
    ...{ sweep, group, parameters },
    isPreparation: preparations.has(groupKey(sweep, group)),
  });
}

/** Of a run that is done in one go, or is up and knows how long it will be; others tell nothing of runs like them. */
export function wholeSeconds(
  { state, attempt, startedAt, endedAt, etaSeconds }: ForecastRun,
  now: number,
): number | null {
  if (startedAt === null || attempt > 1) return null;
  if (state === 'done') return endedAt === null ? null : (endedAt - startedAt) / 1000;
  return state === 'running' && etaSeconds !== null ? (now - startedAt) / 1000 + etaSeconds : null;
}

/** `ends`: seconds from now. `unknown`: those that are up of which nobody knows. `hasUnknownQueue`: one of those that wait. */
type Outlook = { ends: Map<string, number>; unknown: Set<string>; hasUnknownQueue: boolean };

/** Plays the queue: whenever a slot is free, the first run that may start takes it (list scheduling). */
class Schedule {
  readonly #setting: ForecastSetting;
  readonly #likes: Likes;
  readonly #outlook: Outlook = { ends: new Map(), unknown: new Set(), hasUnknownQueue: false };
  /** Room that is free now, in CPU slots and GPUs. */
  readonly #free: Record<Pool, number>;
  readonly #up = new Ends();
  /** Runs of a group that have yet to be done; infinite where one of them will not be, so that what needs it does not start. */
  readonly #open = new Map<string, number>();
  readonly #queue: Queue;

  constructor(runs: readonly ForecastRun[], setting: ForecastSetting, likes: Likes) {
    this.#setting = setting;
    this.#likes = likes;
    this.#free = { cpu: setting.cpuSlots, gpu: setting.gpus };
    for (const run of runs) this.#enter(run);
    // Where runs share GPUs, more are up than there are GPUs: as one ends, another takes its place.
    for (const pool of ['cpu', 'gpu'] as const) this.#free[pool] = Math.max(0, this.#free[pool]);
    this.#queue = new Queue(runs.filter(({ state }) => state === 'queued'));
  }

  run(): Outlook {
    for (let now = 0; ;) {
      this.#startAll(now);
      const next = this.#up.takeFirst();
      if (next === null) return this.#outlook;
      now = next.at;
      this.#end(next.run, now);
    }
  }

  #enter(run: ForecastRun): void {
    const key = groupKey(run.sweep, run.group);
    if (run.state === 'done') return;
    this.#open.set(key, willEnd(run) ? (this.#open.get(key) ?? 0) + 1 : Infinity);
    if (!isUp(run)) return;
    this.#free[poolOf(run)] -= roomOf(run);
    const left = this.#leftOf(run);
    if (left === 'unknown') this.#outlook.unknown.add(run.id);
    else if (left !== 'never') this.#up.add({ run, at: left });
    else this.#open.set(key, Infinity);
  }

  /** Seconds. `never`: it keeps its slot, paused or standing still, and is not waited for. */
  #leftOf(run: ForecastRun): number | 'unknown' | 'never' {
    if (run.state === 'paused') return 'never';
    if (run.state === 'stopping') return 0;
    if (run.state === 'running' && run.etaSeconds !== null) return run.etaSeconds;
    const whole = this.#likes.expected({ ...run, progress: null });
    if (whole === null) return 'unknown';
    if (run.state === 'starting') return whole;
    // It says how far it is, and its supervisor knows others like it; that nothing is told of its end has a reason.
    const left = run.progress === null ? whole - (this.#setting.now - (run.startedAt ?? 0)) / 1000 : -1;
    return left > 0 ? left : 'never';
  }

  #startAll(now: number): void {
    const mayStart = (run: ForecastRun) => this.#free[poolOf(run)] >= roomOf(run) && this.#isReady(run);
    for (let run = this.#queue.takeFirst(mayStart); run !== null; run = this.#queue.takeFirst(mayStart)) {
      const seconds = this.#likes.expected(run);
      if (seconds === null) this.#outlook.hasUnknownQueue = true;
      this.#free[poolOf(run)] -= roomOf(run);
      this.#up.add({ run, at: now + (seconds ?? 0) });
    }
  }

  #end(run: ForecastRun, now: number): void {
    this.#outlook.ends.set(run.id, now);
    this.#free[poolOf(run)] += roomOf(run);
    const key = groupKey(run.sweep, run.group);
    this.#open.set(key, this.#open.get(key)! - 1);
  }

  #isReady({ sweep, group }: ForecastRun): boolean {
    return this.#setting.needs(sweep, group).every((needed) => (this.#open.get(groupKey(sweep, needed)) ?? 0) === 0);
  }
}

/** Runs of one group, and their places in the whole queue; those before `at` have started. */
type Line = { readonly runs: readonly ForecastRun[]; readonly ranks: readonly number[]; at: number };

/** Those that wait, by group: the runs of a group wait for the same thing. The higher priority goes first, then the order. */
class Queue {
  readonly #lines: Line[];

  constructor(waiting: readonly ForecastRun[]) {
    const inOrder = waiting.toSorted((a, b) => b.priority - a.priority);
    const ranks = new Map(inOrder.map((run, rank) => [run, rank]));
    const lines = groupBy(inOrder, ({ sweep, group }) => groupKey(sweep, group));
    this.#lines = [...lines.values()].map((runs) => ({ runs, ranks: runs.map((run) => ranks.get(run)!), at: 0 }));
  }

  /** The first that may start of those that are first of their group. */
  takeFirst(mayStart: (run: ForecastRun) => boolean): ForecastRun | null {
    let best: Line | null = null;
    for (const line of this.#lines) {
      if (line.at === line.runs.length || (best !== null && best.ranks[best.at]! < line.ranks[line.at]!)) continue;
      if (mayStart(line.runs[line.at]!)) best = line;
    }
    return best === null ? null : best.runs[best.at++]!;
  }
}

type End = { readonly run: ForecastRun; readonly at: number };

/** Ends to come. There are as many as slots: few enough for a list that is kept in order. */
class Ends {
  /** The last first. */
  readonly #inOrder: End[] = [];

  add(end: End): void {
    let [low, high] = [0, this.#inOrder.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#inOrder[middle]!.at > end.at) low = middle + 1;
      else high = middle;
    }
    this.#inOrder.splice(low, 0, end);
  }

  takeFirst(): End | null {
    return this.#inOrder.pop() ?? null;
  }
}

function willEnd({ state }: ForecastRun): boolean {
  return state === 'queued' || isUp({ state });
}

function isUp({ state }: Pick<ForecastRun, 'state'>): boolean {
  return state === 'starting' || state === 'running' || state === 'paused' || state === 'stopping';
}

type Pool = 'cpu' | 'gpu';

function poolOf({ gpuCount = 0 }: ForecastRun): Pool {
  return gpuCount > 0 ? 'gpu' : 'cpu';
}

function roomOf({ gpuCount = 0, cores = 1 }: ForecastRun): number {
  return gpuCount > 0 ? gpuCount : cores;
}

function groupKey(sweep: string, group: string): string {
  return `${sweep}\n${group}`;
}
