import { answerSentences } from '../../../analysis/answer/best-answer.js';
import { busyMs, busyTimeOf } from '../../../analysis/forecast/busy-time.js';
import type { Forecast } from '../../../analysis/forecast/forecast.js';
import type { TimeRange } from '../../../analysis/forecast/time-range.js';
import { onlyGroupName } from '../../../base/ids.js';
import { hasEnded } from '../../../base/run-words.js';
import { groupBy } from '../../../base/group-by.js';
import { cleanText } from '../../../text/display-text.js';
import type { RunSummary, SweepSummary } from '../../state/port.js';
import { type BranchQuestion, type BranchValue, branchValue } from '../../model/tree/branch-value.js';
import { exitWords } from '../../model/state-look.js';
import { elapsed, tally, type Tally } from '../../model/tally.js';

/** Everything the sweep screen is drawn from. Times in ms. */
export type SweepOverview = {
  readonly description: string | null;
  readonly runs: number;
  readonly groups: readonly GroupOverview[];
  /** Titles of the file's groups by name. */
  readonly titles: ReadonlyMap<string, string | null>;
  /** Sentences that say which setting is best, of each group; none: nothing can be said yet. */
  readonly answers: readonly { readonly group: string | null; readonly sentences: readonly string[] }[];
  /** Shown metrics, the chosen one first. */
  readonly metrics: readonly string[];
  /** Total time of the last attempts of all runs. `gpuTime`: the same multiplied by the number of GPUs. */
  readonly runTime: number;
  readonly gpuTime: number;
  /** Completed runs per hour, or per minute in the first one, in which at least one was up; null: it is too early to tell. */
  readonly rate: { readonly done: number; readonly per: 'hour' | 'minute' } | null;
  /** Attempts after the first of each run: retries, resumes and extensions. */
  readonly again: number;
  readonly slowest: readonly SlowRun[];
  readonly failures: readonly FailureClass[];
  /** The table of results in lines of at most `width` columns; null: there is none. */
  readonly results: ((width: number) => readonly string[]) | null;
  /** What programs have to say of it beyond metrics, in the same way. */
  readonly studies: ((width: number) => readonly string[]) | null;
};

/** A group of the sweep file, or one of its settings if there is only one group. */
export type GroupOverview = {
  readonly name: string;
  readonly title: string | null;
  readonly tally: Tally;
  readonly runTime: number;
  readonly left: TimeRange | null;
  /** By metric, as in its row of the list; null: none of its runs has a value. */
  readonly values: readonly (BranchValue | null)[];
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

type OverviewChoice = Pick<BranchQuestion, 'answers' | 'x'> & {
  readonly metrics: readonly string[];
  /** Unix ms. */
  readonly now: number;
  readonly forecast: Forecast;
};

const mostSlow = 8;
const hour = 3_600_000;
const minute = 60_000;
/** A run that took less than this factor longer than others is not slow. */
const slow = 1.2;

/** Overview of all runs of the sweeps, except what must be read from their files. */
export function overviewOf(
  runs: readonly RunSummary[],
  sweeps: readonly SweepSummary[],
  choice: OverviewChoice,
): Omit<SweepOverview, 'results' | 'studies'> {
  const times = runs.map((run) => elapsed(run, choice.now) ?? 0);
  const busy = busyTimeOf(runs);
  const span = busy === null ? null : busyMs(busy, choice.now);
  const done = runs.filter(({ state }) => state === 'done').length;
  return {
    description: sweeps.length === 1 ? (sweeps[0]!.description ?? null) : null,
    runs: runs.length,
    groups: groupsOf(runs, sweeps, choice),
    titles: new Map(sweeps.flatMap(({ groups }) => groups.map(({ name, title }) => [name, title] as const))),
    answers: choice.answers.flatMap(({ group, answer }) =>
      answer.candidates.length + answer.broken.length > 0 ? [{ group, sentences: answerSentences(answer) }] : [],
    ),
    metrics: choice.metrics,
    runTime: times.reduce((sum, time) => sum + time, 0),
    gpuTime: runs.reduce((sum, { gpuCount }, index) => sum + times[index]! * (gpuCount ?? 0), 0),
    rate: rateOf(done, span ?? 0),
    again: runs.reduce((sum, { earlier = [] }) => sum + earlier.length, 0),
    slowest: slowestOf(runs, choice.now),
    failures: failuresOf(runs),
  };
}

function rateOf(done: number, span: number): SweepOverview['rate'] {
  if (done === 0 || span < minute) return null;
  return span < hour ? { done: (done / span) * minute, per: 'minute' } : { done: (done / span) * hour, per: 'hour' };
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
    const name = isSingle ? (subgroup ?? onlyGroupName(sweep, group)) : sweeps.length > 1 ? `${sweep} ${group}` : group;
    return {
      name,
      title: titles.get(key) ?? null,
      tally: tally(members, null),
      runTime: members.reduce((sum, run) => sum + (elapsed(run, choice.now) ?? 0), 0),
      left: members.every(({ state }) => hasEnded(state)) ? null : choice.forecast(members),
      values: choice.metrics.map(
        (metric) => branchValue({ runs: members }, { ...choice, column: 'metric', metric }) ?? null,
      ),
    };
  });
}

/** Runs that took longest, with the usual time of their group; those that took as long as others are left out. */
function slowestOf(runs: readonly RunSummary[], now: number): SlowRun[] {
  const usual = new Map([...groupBy(runs, groupKey)].map(([key, members]) => [key, medianTime(members, now)] as const));
  return runs
    .flatMap((run) => {
      const time = elapsed(run, now);
      return time === null ? [] : [{ run, time }];
    })
    .sort((a, b) => b.time - a.time)
    .map(({ run, time }) => {
      const median = usual.get(groupKey(run)) ?? null;
      return { run, time, factor: median === null || median <= 0 ? null : time / median };
    })
    .filter(({ factor }) => factor === null || factor >= slow)
    .slice(0, mostSlow);
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
