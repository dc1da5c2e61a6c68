import { busyMs, busyTimeOf } from '../../../analysis/forecast/busy-time.js';
import type { Forecast } from '../../../analysis/forecast/forecast.js';
import type { TimeRange } from '../../../analysis/forecast/time-range.js';
import { hasEnded } from '../../../base/run-words.js';
import { groupBy } from '../../../base/group-by.js';
import { cleanText } from '../../../text/display-text.js';
import type { RunSummary, SweepSummary } from '../../state/port.js';
import type { Direction } from '../compare/compare-value.js';
import { exitWords } from '../../model/run-reason.js';
import type { MemoryRow } from './sweep-memory.js';
import { elapsed, tally, type Tally } from '../../model/tally.js';

/** Everything the sweep screen is drawn from. Times in ms. */
export type SweepOverview = {
  readonly description: string | null;
  readonly runs: number;
  readonly groups: readonly GroupOverview[];
  /** Titles of the file's groups by name. */
  readonly titles: ReadonlyMap<string, string | null>;
  /** Shown metrics, the chosen one first. `direction`: which way the first one should go. */
  readonly metrics: readonly string[];
  readonly direction: Direction;
  /** Total time of the last attempts of all runs. `gpuTime`: the same multiplied by the number of GPUs. */
  readonly runTime: number;
  readonly gpuTime: number;
  /** Completed runs per hour in which at least one was up; null: none has begun. */
  readonly donePerHour: number | null;
  readonly retries: number;
  readonly slowest: readonly SlowRun[];
  readonly failures: readonly FailureClass[];
  /** The table of results in lines of at most `width` columns; null: there is none. */
  readonly results: ((width: number) => readonly string[]) | null;
  readonly memory: readonly MemoryRow[];
  /** Number of curves read and wanted for `memory`, and number of memory runs. */
  readonly curves: { readonly read: number; readonly wanted: number; readonly of: number };
};

/** A group of the sweep file, or one of its settings if there is only one group. */
export type GroupOverview = {
  readonly name: string;
  readonly title: string | null;
  readonly tally: Tally;
  readonly runTime: number;
  readonly left: TimeRange | null;
  /** Values by metric. */
  readonly values: readonly Tally['metric'][];
  /** Best last value of the first metric and its run, if the sweep names a direction. */
  readonly best: { readonly value: number; readonly run: string } | null;
};

/** `factor`: time relative to the median of the group's done runs; null if fewer than three are done. */
export type SlowRun = { readonly run: RunSummary; readonly time: number; readonly factor: number | null };

/** `reason`: the most common one, and the number of runs with it. Numbers in reasons may differ. */
export type FailureClass = {
  readonly name: string;
  readonly count: number;
  readonly reason: string | null;
  readonly reasonCount: number;
  readonly runs: readonly RunSummary[];
};

type OverviewChoice = {
  readonly metrics: readonly string[];
  readonly direction: Direction;
  /** Unix ms. */
  readonly now: number;
  readonly forecast: Forecast;
};

const mostSlow = 8;
const hour = 3_600_000;

/** Overview of all runs of the sweeps, except what must be read from their files. */
export function overviewOf(
  runs: readonly RunSummary[],
  sweeps: readonly SweepSummary[],
  choice: OverviewChoice,
): Omit<SweepOverview, 'results' | 'memory' | 'curves'> {
  const times = runs.map((run) => elapsed(run, choice.now) ?? 0);
  const busy = busyTimeOf(runs);
  const span = busy === null ? null : busyMs(busy, choice.now);
  const done = runs.filter(({ state }) => state === 'done').length;
  return {
    description: sweeps.length === 1 ? (sweeps[0]!.description ?? null) : null,
    runs: runs.length,
    groups: groupsOf(runs, sweeps, choice),
    titles: new Map(sweeps.flatMap(({ groups }) => groups.map(({ name, title }) => [name, title] as const))),
    metrics: choice.metrics,
    direction: choice.direction,
    runTime: times.reduce((sum, time) => sum + time, 0),
    gpuTime: runs.reduce((sum, { gpuCount }, index) => sum + times[index]! * (gpuCount ?? 0), 0),
    donePerHour: span === null || span <= 0 ? null : (done / span) * hour,
    retries: runs.reduce((sum, { attempt }) => sum + Math.max(0, attempt - 1), 0),
    slowest: slowestOf(runs, choice.now),
    failures: failuresOf(runs),
  };
}

function groupsOf(
  runs: readonly RunSummary[],
  sweeps: readonly SweepSummary[],
  choice: OverviewChoice,
): GroupOverview[] {
  const byGroup = groupBy(runs, ({ sweep, group }) => `${sweep}\n${group}`);
  const isSingle = byGroup.size === 1;
  const buckets = isSingle ? groupBy(runs, ({ subgroup, group }) => subgroup ?? group) : byGroup;
  const titles = new Map<string, string | null>(
    sweeps.flatMap(({ name, groups }) => groups.map((group) => [`${name}\n${group.name}`, group.title] as const)),
  );
  return [...buckets].map(([key, members]) => {
    const { sweep, group, subgroup } = members[0]!;
    const name = isSingle ? (subgroup ?? group) : sweeps.length > 1 ? `${sweep} ${group}` : group;
    return {
      name,
      title: titles.get(key) ?? null,
      tally: tally(members, null),
      runTime: members.reduce((sum, run) => sum + (elapsed(run, choice.now) ?? 0), 0),
      left: choice.forecast(members),
      values: choice.metrics.map((metric) => tally(members, metric).metric),
      best: bestOf(members, choice),
    };
  });
}

function bestOf(runs: readonly RunSummary[], { metrics, direction }: OverviewChoice): GroupOverview['best'] {
  const [metric] = metrics;
  if (metric === undefined || direction === null) return null;
  const sign = direction === 'maximize' ? 1 : -1;
  let best: GroupOverview['best'] = null;
  for (const run of runs) {
    const value = run.metrics[metric] ?? null;
    if (value === null || !Number.isFinite(value)) continue;
    if (best === null || sign * value > sign * best.value) best = { value, run: run.name };
  }
  return best;
}

/** Runs that took longest, with the usual time of their group. */
function slowestOf(runs: readonly RunSummary[], now: number): SlowRun[] {
  const usual = new Map([...groupBy(runs, groupKey)].map(([key, members]) => [key, medianTime(members, now)] as const));
  return runs
    .flatMap((run) => {
      const time = elapsed(run, now);
      return time === null ? [] : [{ run, time }];
    })
    .sort((a, b) => b.time - a.time)
    .slice(0, mostSlow)
    .map(({ run, time }) => {
      const median = usual.get(groupKey(run)) ?? null;
      return { run, time, factor: median === null || median <= 0 ? null : time / median };
    });
}

function groupKey({ sweep, group }: RunSummary): string {
  return `${sweep}\n${group}`;
}

function medianTime(runs: readonly RunSummary[], now: number): number | null {
  const times = runs
    .filter(({ state }) => state === 'done')
    .map((run) => elapsed(run, now) ?? 0)
    .sort((a, b) => a - b);
  return times.length < 3 ? null : times[times.length >> 1]!;
}

/** Most common class first. */
function failuresOf(runs: readonly RunSummary[]): FailureClass[] {
  const bad = runs.filter(({ state }) => hasEnded(state) && state !== 'done');
  return [...groupBy(bad, className)]
    .map(([name, members]) => ({ name, count: members.length, ...commonReason(members), runs: members }))
    .sort((a, b) => b.count - a.count);
}

function className(run: RunSummary): string {
  return run.state === 'failed' ? exitWords(run) : run.state;
}

/** The most common reason. Reasons that differ only in numbers count as one; the text of the first is returned. */
function commonReason(runs: readonly RunSummary[]): Pick<FailureClass, 'reason' | 'reasonCount'> {
  const reasons = runs.flatMap(({ reason }) => (reason === null ? [] : [cleanText(reason)]));
  const same = [...groupBy(reasons, (reason) => reason.replace(/\d+(\.\d+)?/g, '#')).values()];
  const most = same.reduce<string[]>((longest, list) => (list.length > longest.length ? list : longest), []);
  return { reason: most[0] ?? null, reasonCount: most.length };
}
