import { leftText } from '../../analysis/forecast/forecast.js';
import { elapsedMs } from '../../analysis/forecast/busy-time.js';
import { healthText } from '../../analysis/health/finding.js';
import { defaultMetric, metricHeading } from '../../analysis/metric-order.js';
import { noAnnotation, tagsText } from '../../base/annotation.js';
import { hasEnded, isUnhealthy } from '../../base/run-words.js';
import { anyParameterOf, type ParameterValue } from '../../base/scalar.js';
import { valueText } from '../../spec/expand/value-text.js';
import { grouped } from '../../base/group-by.js';
import type { RunSummary, RunWord, SweepSummary } from '../../client/fleet.js';
import { areRead, slotText } from '../../protocol/run-summary.js';
import { displayText, lineText, shortened } from '../../text/display-text.js';
import { shortDuration } from '../../text/duration.js';
import { narrowNumber } from '../../text/numbers.js';
import { type Column, tableLines } from '../../text/table.js';
import type { Answers } from '../answers/schemas.js';
import type { Line, Painted } from '../terminal.js';

type RunTableOptions = {
  readonly sweeps: ReadonlyMap<string, SweepSummary>;
  /** Width of the terminal in columns. */
  readonly width: number;
  /** Unix ms. */
  readonly now: number;
  readonly colour: boolean;
  /** Parameters and metrics to show instead of the default metric; absent: that one. */
  readonly columns?: readonly string[];
};

/** One line for each run, below titles: state, name, slot, duration, progress, the sweep's first metric, and the reason. */
export function runTable(runs: readonly RunSummary[], options: RunTableOptions): Line[] {
  if (runs.length === 0) return [];
  const [titles, rule, ...rows] = tableLines(columnsOf(runs, options), options.width);
  // The state comes first, so that it can be coloured after the layout.
  const coloured = rows.map((row, index): Line => {
    const { state } = runs[index]!;
    return row.startsWith(state) ? [painted(state, toneOf[state]), row.slice(state.length)] : row;
  });
  return [titles!, rule!, ...(options.colour ? coloured : rows)];
}

function columnsOf(runs: readonly RunSummary[], { sweeps, now, columns: asked }: RunTableOptions): Column[] {
  const several = new Set(runs.map(({ sweep }) => sweep)).size > 1;
  const left = (title: string, spare: number, cell: (run: RunSummary) => string): Column => ({
    ...{ title, spare, align: 'left' },
    cells: runs.map(cell),
  });
  const right = (title: string, spare: number, cell: (run: RunSummary) => string): Column => ({
    ...left(title, spare, cell),
    align: 'right',
  });
  const columns = [
    left('state', 0, ({ state }) => state),
    { ...left('run', 0, ({ id, name }) => (several ? id : name)), hasNames: true },
    right('try', 5, ({ attempt }) => (attempt > 1 ? String(attempt) : '')),
    left('slot', 3, slotText),
    ...ifAny(right('time', 0, (run) => timeOf(run, now))),
    right('progress', 2, progressOf),
    right('left', 4, leftText),
    ...(asked?.map((name) => right(displayText(name), 0, (run) => cellOf(run, name))) ?? metricColumn(runs, sweeps)),
    left('tags', 3, ({ annotation }) => displayText(tagsText(annotation))),
    left('note', 6, ({ annotation }) => shortened(lineText(annotation?.note ?? ''))),
    ...ifAny({ ...left('why', 0, (run) => whyOf(run, now)), least: leastWhy }),
  ];
  return columns.flatMap((column) => (column.spare === 0 ? column : ifAny(column)));
}

/** Minimum width of the reason, which takes precedence over the full name of the run, in columns. */
const leastWhy = 28;

/** Leaves out an empty column. */
function ifAny(column: Column): Column[] {
  return column.cells.some((cell) => cell !== '') ? [column] : [];
}

/** The value of a name in queries: a parameter of the run, or else the last value of a metric; undefined: neither. */
export function valueOf(run: RunSummary, name: string): ParameterValue | undefined {
  const parameter = anyParameterOf(run, name);
  if (parameter !== undefined) return parameter;
  const { metrics } = run;
  return Object.hasOwn(metrics, name) ? (metrics[name] ?? Number.NaN) : undefined;
}

function cellOf(run: RunSummary, name: string): string {
  const value = valueOf(run, name);
  if (value === undefined) return '';
  if (typeof value !== 'number') return shortened(displayText(valueText(value)));
  // A parameter reads as the file has it: 0.1, not 0.1000.
  const asWritten = anyParameterOf(run, name) === undefined ? '' : String(value);
  return asWritten === '' || asWritten.length > LONGEST_NUMBER ? narrowNumber(value) : asWritten;
}

const LONGEST_NUMBER = 8;

/** The default metric of each group; if groups differ, each cell names its own. */
function metricColumn(runs: readonly RunSummary[], sweeps: RunTableOptions['sweeps']): Column[] {
  const groupOf = ({ sweep, group }: RunSummary) => JSON.stringify([sweep, group]);
  const metrics = new Map(grouped(runs, groupOf).map((members) => [groupOf(members[0]!), metricOf(members, sweeps)]));
  const metricFor = (run: RunSummary) => metrics.get(groupOf(run)) ?? null;
  const headings = new Set(runs.flatMap((run) => metricFor(run)?.heading ?? []));
  if (headings.size === 0) return [];
  const cells = runs.map((run) => {
    const metric = metricFor(run);
    if (metric === null || !Object.hasOwn(run.metrics, metric.key)) return '';
    const text = narrowNumber(run.metrics[metric.key] ?? Number.NaN);
    return headings.size === 1 ? text : `${displayText(metric.heading)} ${text}`;
  });
  return [{ title: headings.size === 1 ? displayText([...headings][0]!) : 'metric', align: 'right', spare: 1, cells }];
}

/** The default metric of a group's runs, and its heading. */
type Standing = { key: string; heading: string };

function metricOf(runs: readonly RunSummary[], sweeps: RunTableOptions['sweeps']): Standing | null {
  const { sweep, group } = runs[0]!;
  const known = sweeps.get(sweep);
  const choice = known?.groups.find(({ name }) => name === group)?.shown ?? known ?? { show: [], x: 'step' };
  const counting = new Set(runs.flatMap((run) => run.counting ?? []));
  const key = defaultMetric(new Set(runs.flatMap(({ metrics }) => Object.keys(metrics))), choice, counting);
  return key === null ? null : { key, heading: metricHeading(key, choice, counting) };
}

/** How long it is or was up in its last attempt. */
function timeOf(run: RunSummary, now: number): string {
  const elapsed = elapsedMs(run, now);
  return elapsed === null ? '' : shortDuration(elapsed);
}

function progressOf({ progress, state }: RunSummary): string {
  return progress === null || state === 'done' ? '' : `${Math.floor(progress * 100)} %`;
}

function whyOf(run: RunSummary, now: number): string {
  const { reason, warning, retryAt, killAt, state } = run;
  const isTold = hasEnded(state) ? isUnhealthy(run) : state === 'running' || state === 'paused';
  const parts = [
    reason === null ? null : displayText(reason) + untilStart(run, now),
    retryAt === null ? null : `again in ${shortDuration(retryAt - now)}`,
    killAt === null ? null : `SIGKILL in ${shortDuration(killAt - now)}`,
    isTold ? displayText(healthText(run) ?? '') : null,
    warning === null ? null : displayText(warning),
  ];
  return parts.filter((part) => part !== null && part !== '').join('; ');
}

/** Time until the start, behind the words that say when that is. */
function untilStart({ startsAt = null }: RunSummary, now: number): string {
  return startsAt === null ? '' : `, in ${shortDuration(startsAt - now)}`;
}

/** Colours of the terminal's own palette. */
const codes = { good: '32', bad: '31', warn: '33', busy: '36', dim: '2' } as const;
type Tone = keyof typeof codes;

const toneOf: Readonly<Record<RunWord, Tone>> = {
  queued: 'dim',
  starting: 'busy',
  running: 'busy',
  paused: 'warn',
  stopping: 'warn',
  held: 'warn',
  done: 'good',
  failed: 'bad',
  lost: 'bad',
  killed: 'warn',
};

/** A text in a colour. */
export function painted(text: string, tone: Tone): Painted {
  return { text, look: codes[tone] };
}

/** One run in `ls --json` and `wait --json`. */
export function runStatus(run: RunSummary): Answers['ls'][number] {
  const { name, sweep, group, subgroup, state, reason, attempt, exit, pid, slot, gpus, ...more } = run;
  const {
    progress,
    etaSeconds,
    etaRange = null,
    metrics,
    best,
    health,
    healthReason,
    priority,
    gpuMemory,
    cpu,
    memory,
    warning,
  } = more;
  const { parameters, declared = {}, displayName = null, directory } = more;
  return {
    ...{ name, sweep, group, subgroup, state, reason, attempt, exit, pid, slot, gpus },
    ...{ startedAt: isoTime(more.startedAt), endedAt: isoTime(more.endedAt), retryAt: isoTime(more.retryAt) },
    startsAt: isoTime(more.startsAt),
    ...{
      progress,
      etaSeconds,
      etaRange,
      read: areRead([run], true),
      metrics,
      infinite: more.infinite ?? null,
      ...(best === undefined ? {} : { best }),
      health,
      healthReason: healthReason ?? null,
      priority,
      gpuMemory,
    },
    ...{ cpu: cpu ?? null, memory: memory ?? null, warning, ...(more.annotation ?? noAnnotation) },
    ...{ parameters, declared, displayName, directory },
  };
}

/** ISO 8601. */
export function isoTime(time: number | null | undefined): string | null {
  return time == null ? null : new Date(time).toISOString();
}
