/**
 * Estimates when runs end. A running run ends when its supervisor says so, a waiting one takes as long as similar runs, and slots
 * are given in the order of the queue, as the scheduler gives them. As none of this is known exactly, the queue is simulated in
 * several cases, whose ends are given as a range. The window, `ls`, `status`, `wait` and `--plain` all use this estimate.
 */
import { groupBy } from '../../base/group-by.js';
import { lazy } from '../../base/lazy.js';
import type { RunWord } from '../../base/run-words.js';
import type { Parameters } from '../../base/scalar.js';
import { finished, type Steps } from '../../base/steps.js';
import { durationRange } from '../../text/duration.js';
import { elapsedMs } from './busy-time.js';
import { caseSteps, RUNS_A_STEP, type Takes } from './cases.js';
import type { Duration, Likeness, RunKind } from './durations.js';
import { FailedRuns } from './failed-runs.js';
import { type Foreseen, KnownDurations, MOST_PER_GROUP } from './known-durations.js';
import { secondsToEnd } from './remaining.js';
import { type Job, Schedule } from './schedule.js';
import { type Possible, rangeOf, type TimeRange } from './time-range.js';

/** The fields of a run that a forecast reads; a run summary has them. Times: Unix ms. */
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
  /** Seconds until a running run ends; null: unknown. */
  readonly etaSeconds: number | null;
  /** The range of `etaSeconds`; absent: an older supervisor, which does not send it. */
  readonly etaRange?: readonly [low: number, high: number] | null | undefined;
  /** When its next attempt starts without a request; null: none is planned. */
  readonly retryAt?: number | null;
  /** When its start time lets it start; null or absent: it does not wait for that. */
  readonly startsAt?: number | null | undefined;
  /** Start and end of each attempt before the last. */
  readonly earlier?: readonly (readonly [since: number, at: number])[] | undefined;
  /** GPUs it takes; absent: none, it takes a CPU slot. */
  readonly gpuCount?: number | undefined;
  /** How long it takes, where the caller knows better than the runs here; null: unknown. */
  readonly like?: Likeness | null;
  /** CPU slots it takes where it takes no GPU; absent: one. */
  readonly cores?: number | undefined;
};

/** The room for runs, and which groups wait for which. `needs`: the groups of a sweep that have to be done before this one. */
export type ForecastSetting = {
  readonly cpuSlots: number;
  readonly gpus: number;
  readonly needs: (sweep: string, group: string) => readonly string[];
  /** Unix ms. */
  readonly now: number;
};

/** The part of a supervisor's status that a forecast reads. */
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

/** The setting by a supervisor's status. `now`: Unix ms. */
export function forecastSetting({ status, sweeps }: Known, now: number): ForecastSetting {
  const needs = new Map(
    [...sweeps].flatMap(([sweep, { groups }]) =>
      groups.map((group) => [groupKey(sweep, group.name), group.needs] as const),
    ),
  );
  const gpus = status.gpus.filter(({ drained, leasedBy }) => !drained && leasedBy === null).length;
  return { cpuSlots: status.cpu.slots, gpus, needs: (sweep, group) => needs.get(groupKey(sweep, group)) ?? [], now };
}

/** How long until the last of these runs has ended; null: unknown, or none is open. */
export type Forecast = (runs: Iterable<Pick<ForecastRun, 'id' | 'state'>>) => TimeRange | null;

/** How long until the last of the asked runs has ended, given all runs of the supervisor. `now`: Unix ms. */
export function timeLeft(
  fleet: Known & { readonly runs: ReadonlyMap<string, ForecastRun> },
  asked: Iterable<Pick<ForecastRun, 'id' | 'state'>>,
  now: number,
): TimeRange | null {
  return forecastOf([...fleet.runs.values()], forecastSetting(fleet, now))(asked);
}

/** @param runs All runs that share the slots, in the order of their submission. */
export function forecastOf(runs: readonly ForecastRun[], setting: ForecastSetting): Forecast {
  const open = finished(openSteps(runs, setting));
  return answersOf(
    open.jobs,
    lazy(() => finished(endSteps(open, runs, setting))),
  );
}

/** The same forecast in steps of about a millisecond, for a caller that has something else to do between them. */
export function* forecastSteps(runs: readonly ForecastRun[], setting: ForecastSetting): Steps<Forecast> {
  const open = yield* openSteps(runs, setting);
  const ends = yield* endSteps(open, runs, setting);
  return answersOf(open.jobs, () => ends);
}

function answersOf(open: readonly OpenRun[], cases: () => readonly Float64Array[]): Forecast {
  const places = new Map(open.map(({ run }, place) => [run.id, place]));
  const hasUnknownQueue = open.some(({ run, takes }) => run.state === 'queued' && takes === 'unknown');
  return (asked) => {
    const known: number[] = [];
    for (const { id, state } of asked) {
      const place = places.get(id);
      if (place === undefined) continue;
      // The end of what comes after an unknown duration is unknown too.
      if ((hasUnknownQueue && state === 'queued') || open[place]!.takes === 'unknown') return null;
      known.push(place);
    }
    return rangeOf(cases().flatMap((ends) => latest(ends, known)));
  };
}

/** For each case, when each open run ends. */
function* endSteps(
  { jobs, groups }: Open,
  runs: readonly ForecastRun[],
  setting: ForecastSetting,
): Steps<Float64Array[]> {
  const schedule = scheduleOf(jobs, groups, setting);
  yield;
  const pauses = pausesOf(runs, setting);
  const cases = yield* caseSteps(
    jobs.map(({ run, takes }) => {
      const isWaiting = run.state === 'queued';
      return { id: run.id, takes, work: isWaiting ? shareLeft(run) : 1, pause: isWaiting ? pauses[poolOf(run)] : 0 };
    }),
  );
  const ends: Float64Array[] = [];
  for (const seconds of cases) {
    ends.push(schedule.ends(seconds));
    yield;
  }
  return ends;
}

/** The latest end among these places; empty where none of them ends. */
function latest(ends: Float64Array, places: readonly number[]): Possible[] {
  let last = -1;
  for (const place of places) if (ends[place]! > last) last = ends[place]!;
  return last < 0 ? [] : [{ seconds: last, weight: 1 }];
}

/** Runs of one group, in their order. `needs`: numbers of groups. `isPreparation`: other groups wait for it. */
type RunGroup = { readonly runs: readonly ForecastRun[]; readonly needs: readonly number[]; isPreparation: boolean };

/** `numberOf`: the index of a run's group in `all`; -1: it has none. */
type RunGroups = { readonly all: readonly RunGroup[]; readonly numberOf: (run: ForecastRun) => number };

function runGroups(runs: readonly ForecastRun[], { needs }: Pick<ForecastSetting, 'needs'>): RunGroups {
  const byKey = groupBy(runs, ({ sweep, group }) => groupKey(sweep, group));
  const numbers = new Map([...byKey.keys()].map((key, number) => [key, number]));
  const all = [...byKey.values()].map((members): RunGroup => {
    const { sweep, group } = members[0]!;
    const needed = needs(sweep, group).flatMap((name) => numbers.get(groupKey(sweep, name)) ?? []);
    return { runs: members, needs: needed, isPreparation: false };
  });
  for (const group of all) for (const needed of group.needs) all[needed]!.isPreparation = true;
  return { all, numberOf: ({ sweep, group }) => numbers.get(groupKey(sweep, group)) ?? -1 };
}

/** Returns a function that tells which of these runs are alike. */
export function runKinds(
  runs: readonly ForecastRun[],
  setting: Pick<ForecastSetting, 'needs'>,
): (run: ForecastRun) => RunKind {
  const { all, numberOf } = runGroups(runs, setting);
  return (run) => kindOf(run, all[numberOf(run)] ?? { isPreparation: false });
}

function kindOf(
  { sweep, group, parameters }: ForecastRun,
  { isPreparation }: Pick<RunGroup, 'isPreparation'>,
): RunKind {
  return { sweep, group, parameters, isPreparation };
}

/** A run that is up or waits. `group`: the number of its group. */
type OpenRun = { readonly run: ForecastRun; readonly group: number; readonly takes: Takes };

type Open = { readonly jobs: readonly OpenRun[]; readonly groups: RunGroups };

function* openSteps(runs: readonly ForecastRun[], setting: ForecastSetting): Steps<Open> {
  const groups = runGroups(runs, setting);
  yield;
  // Where every run that is up says how long it takes and none waits, no run has to be compared with others.
  const durations = lazy(() => durationsOf(groups.all, setting.now));
  const withFailures = failuresOf(groups.all);
  const jobs: OpenRun[] = [];
  for (const [at, run] of runs.entries()) {
    if (at % RUNS_A_STEP === RUNS_A_STEP - 1) yield;
    if (!willEnd(run)) continue;
    const group = groups.numberOf(run);
    const like = () => (run.like === undefined ? durations().like(kindOf(run, groups.all[group]!)) : run.like);
    const takes = takesOf(run, like, setting.now);
    jobs.push({ run, group, takes: run.state === 'queued' ? withFailures(run, takes, groups.all[group]!) : takes });
  }
  return { jobs, groups };
}

function takesOf(run: ForecastRun, likeOf: () => Likeness | null, now: number): Takes {
  if (run.state === 'paused') return 'never';
  if (run.state === 'stopping') return AT_ONCE;
  const left = leftOf(run);
  if (left !== null) return left;
  const like = likeOf();
  if (like === null) return 'unknown';
  if (run.state !== 'running') return like;
  // The supervisor knows its progress and yet gives no estimate: the run stands still.
  if (run.progress !== null) return 'never';
  const elapsed = (now - (run.startedAt ?? now)) / 1000;
  return secondsToEnd({ elapsed, own: null, mayEndEarly: false, like }) ?? 'never';
}

const AT_ONCE: TimeRange = { low: 0, middle: 0, high: 0 };

type Told = Pick<ForecastRun, 'state' | 'etaSeconds' | 'etaRange'>;

/** `4-9m`: how long a running run still takes; empty where that is unknown. */
export function leftText(run: Told): string {
  const left = leftOf(run);
  return left === null ? '' : durationRange(left);
}

/** The remaining time of a running run as its supervisor reports it; null: the supervisor does not know it. */
export function leftOf({ state, etaSeconds, etaRange }: Told): TimeRange | null {
  if (state !== 'running' || etaSeconds === null) return null;
  const [low, high] = etaRange ?? [etaSeconds, etaSeconds];
  return { low, middle: etaSeconds, high };
}

/** The durations of all runs that are done or report their remaining time, by group. */
function durationsOf(groups: readonly RunGroup[], now: number): KnownDurations {
  const each = groups.map((group) => {
    const known = group.runs.filter(({ state }) => state === 'done' || state === 'running').slice(-MOST_PER_GROUP);
    return { known, kindOf: (run: ForecastRun) => kindOf(run, group) };
  });
  const done = each.flatMap(({ known, kindOf: of }) => known.flatMap((run) => durationOf(run, of(run)) ?? []));
  const up = each.flatMap(({ known, kindOf: of }) => known.flatMap((run) => foreseen(run, of(run), now) ?? []));
  return new KnownDurations(done).with(up);
}

/** Returns a function that counts in that a waiting run may fail, as others of its values have. */
function failuresOf(groups: readonly RunGroup[]): (run: ForecastRun, takes: Takes, group: RunGroup) => Takes {
  const failing = groups.filter(({ runs }) => runs.some(({ state }) => state === 'failed'));
  if (failing.length === 0) return (_, takes) => takes;
  const failed = new FailedRuns(
    failing.flatMap((group) => group.runs.flatMap((run) => endedOf(run, group)).slice(-MOST_ENDED)),
  );
  // Runs of one setting share what is known of them, so that each setting is looked up once.
  const known = new Map<Likeness, Takes>();
  return (run, takes, group) => {
    if (typeof takes === 'string' || !('centre' in takes)) return takes;
    let both = known.get(takes);
    if (both === undefined) {
      const own = failed.of(kindOf(run, group));
      known.set(takes, (both = own === null ? takes : { like: takes, failing: own }));
    }
    return both;
  };
}

/** Number of runs of one group, the latest, by which it is judged what fails. */
const MOST_ENDED = 500;

function endedOf(run: ForecastRun, group: RunGroup) {
  const { state, endedAt } = run;
  if ((state !== 'done' && state !== 'failed') || endedAt === null || !isWhole(run)) return [];
  return [{ kind: kindOf(run, group), seconds: elapsedMs(run, endedAt)! / 1000, failed: state === 'failed' }];
}

/** The duration of a run that is done; null: it is not done, or the times of some attempt are unknown. */
export function durationOf(run: ForecastRun, kind: RunKind): Duration | null {
  const { state, startedAt, endedAt } = run;
  if (state !== 'done' || startedAt === null || endedAt === null || !isWhole(run)) return null;
  return { kind, seconds: elapsedMs(run, endedAt)! / 1000, share: null, weight: 1 };
}

/** The expected duration of a running run with an estimate; null: it has none. */
export function foreseen(run: ForecastRun, kind: RunKind, now: number): Foreseen | null {
  const left = leftOf(run);
  if (left === null || !isWhole(run)) return null;
  return { kind, elapsed: elapsedMs(run, now)! / 1000, left, share: null };
}

/** Whether the times of all its attempts are known. */
function isWhole({ attempt, startedAt, earlier = [] }: ForecastRun): boolean {
  return startedAt !== null && (attempt <= 1 || earlier.length > 0);
}

function scheduleOf(open: readonly OpenRun[], { all }: RunGroups, { cpuSlots, gpus, now }: ForecastSetting): Schedule {
  const jobs = open.map(({ run, group }): Job => ({
    ...{ group, pool: poolOf(run), room: roomOf(run), isUp: run.state !== 'queued', priority: run.priority },
    notBefore: Math.max(0, (Math.max(run.retryAt ?? 0, run.startsAt ?? 0) - now) / 1000),
  }));
  const willNotBeDone = (run: ForecastRun) => run.state !== 'done' && !willEnd(run);
  const blocked = new Set([...all.keys()].filter((group) => all[group]!.runs.some(willNotBeDone)));
  for (const { group, takes } of open) if (takes === 'never') blocked.add(group);
  return new Schedule(jobs, { cpu: cpuSlots, gpu: gpus }, { needs: all.map(({ needs }) => needs), blocked });
}

/** The share of its work that a waiting run has left: one that resumes has done some of it before. */
function shareLeft({ progress }: ForecastRun): number {
  return Math.max(LEAST_SHARE, 1 - (progress ?? 0));
}

/** Even a run that has done all its work takes some time once it is started again. */
const LEAST_SHARE = 0.01;

function pausesOf(runs: readonly ForecastRun[], { cpuSlots, gpus }: ForecastSetting): Record<Job['pool'], number> {
  const pools = groupBy(runs, poolOf);
  const pauseOf = (pool: Job['pool'], room: number) => {
    const members = pools.get(pool) ?? [];
    const taken = members.reduce((sum, run) => sum + roomOf(run), 0) / Math.max(1, members.length);
    return pauseBetween(members, Math.floor(room / Math.max(1, taken)));
  };
  return { cpu: pauseOf('cpu', cpuSlots), gpu: pauseOf('gpu', gpus) };
}

function poolOf({ gpuCount = 0 }: ForecastRun): Job['pool'] {
  return gpuCount > 0 ? 'gpu' : 'cpu';
}

function roomOf({ gpuCount = 0, cores = 1 }: ForecastRun): number {
  return gpuCount > 0 ? gpuCount : cores;
}

function willEnd({ state }: ForecastRun): boolean {
  return (
    state === 'queued' || state === 'starting' || state === 'running' || state === 'paused' || state === 'stopping'
  );
}

function groupKey(sweep: string, group: string): string {
  return `${sweep}\n${group}`;
}

/** The times of a run's attempts, Unix ms. `earlier`: start and end of each attempt before the last. */
type Attempts = {
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly earlier?: readonly (readonly [since: number, at: number])[] | undefined;
};

/** Only the latest starts are counted, as they show how fast runs start now: at most so many, and so many per slot. Fewer than `FEWEST` show nothing. */
const STARTS = 1000;
const STARTS_PER_PLACE = 4;
const FEWEST = 10;
/** Starting a run takes at most so many seconds. Longer pauses have other causes: a night, an empty queue, a new slot. */
const LONGEST_START = 0.25;

/**
 * Seconds for which a slot is free between two runs: the time to see that a run has ended and to start the next. It matters where
 * runs are short.
 *
 * @param atOnce How many of these runs there is room for.
 */
export function pauseBetween(runs: readonly Attempts[], atOnce: number): number {
  const starts = sorted(runs, 0);
  const ends = sorted(runs, 1);
  const places = Math.max(atOnce, mostAtOnce(starts, ends));
  const from = Math.max(places, starts.length - Math.max(STARTS, STARTS_PER_PLACE * places));
  if (starts.length - from < FEWEST) return 0;
  // Room is taken in the order in which it became free.
  const pauses = starts.slice(from).map((start, index) => Math.max(0, (start - ends[from + index - places]!) / 1000));
  const usual = pauses.filter((pause) => pause <= places * LONGEST_START);
  return usual.reduce((sum, pause) => sum + pause, 0) / Math.max(1, usual.length);
}

/** The starts (0) or the ends (1) of all attempts. */
function sorted(runs: readonly Attempts[], which: 0 | 1): Float64Array {
  const times: number[] = [];
  for (const { startedAt, endedAt, earlier } of runs) {
    if (earlier !== undefined) for (const span of earlier) times.push(span[which]);
    const time = which === 0 ? startedAt : endedAt;
    if (time !== null && startedAt !== null) times.push(time);
  }
  return Float64Array.from(times).sort();
}

/** The largest number of runs that were up at once, among the latest starts. */
function mostAtOnce(starts: Float64Array, ends: Float64Array): number {
  let [most, ended] = [1, 0];
  for (let start = Math.max(0, starts.length - STARTS); start < starts.length; start++) {
    while (ended < ends.length && ends[ended]! <= starts[start]!) ended++;
    most = Math.max(most, start + 1 - ended);
  }
  return most;
}
