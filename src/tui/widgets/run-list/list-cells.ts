import { leftText } from '../../../analysis/forecast/forecast.js';
import { healthWord } from '../../../analysis/health/finding.js';
import { notFiniteText } from '../../../analysis/seed-statistics.js';
import { isUnhealthy, progressOf } from '../../../base/run-words.js';
import { anyParameterOf } from '../../../base/scalar.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth, truncate } from '../../../text/display-width.js';
import { shortDuration } from '../../../text/duration.js';
import { narrowMemory, narrowNumber } from '../../../text/numbers.js';
import { parameterText } from '../../model/varying-parameters.js';
import { healthTone } from '../../model/state-look.js';
import { bestOf, elapsed, type RunValues } from '../../model/tally.js';
import { type Branch, commonValueOf, trendOf, usageOf } from '../../model/tree/branch.js';
import type { BranchValue } from '../../model/tree/branch-value.js';
import { columnKey, type CommonColumn, curveValueOf } from '../../state/list-choice.js';
import type { RunSummary } from '../../state/port.js';
import { fit, fitRight, type Line, lineWidth, span, type Tone } from '../../surface/span.js';
import { progressBar, shortKey } from '../line-parts.js';
import { type ListColumn, percentWidth } from './list-columns.js';

/** What the cells of a row need besides its run. `now`: Unix ms. */
export type CellContext = { readonly metric: string | null; readonly now: number };

/** The cell of a run in a column, as wide as the column; null: empty. */
export function runCell(run: RunSummary, column: ListColumn, at: CellContext): Line | null {
  const key = columnKey(column.id);
  if (key?.kind === 'parameter') return textCell(parameterText(anyParameterOf(run, key.key)), column, 'plain');
  if (key !== null) return numberCell(run.metrics[key.key], column);
  const curve = curveValueOf(column.id);
  if (curve !== null) return numberCell(run.curveValues?.[curve.word], column);
  return runCells[column.id as CommonColumn](run, column, at);
}

/** The cell of a group in a column; null: empty. `value`: what stands for its runs there; undefined: it shows no such value. */
export function branchCell(branch: Branch, column: ListColumn, value: BranchValue | null | undefined): Line | null {
  if (value !== undefined) return value === null ? null : valueCell(value, column);
  const key = columnKey(column.id);
  if (key?.kind === 'parameter') return textCell(commonValueOf(branch, key.key) ?? '', column, 'dim');
  return branchCells[column.id as CommonColumn]?.(branch, column) ?? null;
}

type RunCell = (run: RunSummary, column: ListColumn, at: CellContext) => Line | null;

const runCells: Record<CommonColumn, RunCell> = {
  progress: (run, column) => barCell(run.progress === null ? null : progressOf(run), column, 'busy'),
  left: remaining,
  trend: ({ spark }, { width }) => (spark.length === 0 ? null : [span(sparkline(spark, width), 'spark')]),
  metric: (run, column, { metric }) => (metric === null ? null : numberCell(run.metrics[metric], column)),
  best: (run, column) => numberCell(bestOf(run), column),
  slot: ({ slot }, column) => textCell(slot ?? '', column, 'dim'),
  time: (run, column, { now }) => {
    const time = elapsed(run, now);
    return time === null ? null : textCell(shortDuration(time), column, 'dim');
  },
  cpu: ({ cpu }, column) => textCell(cpuText(cpu), column, 'dim'),
  memory: ({ memory }, column) => textCell(memoryText(memory), column, 'dim'),
  'gpu memory': ({ gpuMemory }, column) => textCell(memoryText(gpuMemory), column, 'dim'),
  attempt: ({ attempt }, column) =>
    attempt === 0 ? null : textCell(String(attempt), column, attempt > 1 ? 'warn' : 'dim'),
  exit: ({ exit }, column) => (exit === null ? null : textCell(exitText(exit), column, exitTone(exit))),
  priority: ({ priority }, column) => textCell(String(priority), column, priority === 0 ? 'faint' : 'plain'),
  tags: ({ annotation }, column) => textCell(cleanText(annotation?.tags.join(', ') ?? ''), column, 'accent'),
  note: ({ annotation }, column) => textCell(cleanText(annotation?.note ?? ''), column, 'plain'),
};

const branchCells: Partial<Record<CommonColumn, (branch: Branch, column: ListColumn) => Line | null>> = {
  progress: ({ tally }, column) => barCell(tally.progress, column, 'accent'),
  trend: (branch, { width }) => {
    const trend = trendOf(branch);
    return trend.every((value) => value === null) ? null : [span(sparkline(trend, width), 'spark')];
  },
  cpu: (branch, column) => textCell(cpuText(usageOf(branch, 'cpu')), column, 'dim'),
  memory: (branch, column) => textCell(memoryText(usageOf(branch, 'memory')), column, 'dim'),
  'gpu memory': (branch, column) => textCell(memoryText(usageOf(branch, 'gpuMemory')), column, 'dim'),
};

/** The percentage, with a bar if there is room. */
function barCell(fraction: number | null, { width }: ListColumn, tone: Tone): Line {
  const percent = span(fitRight(fraction === null ? '' : percentOf(fraction), percentWidth), 'dim');
  const bar = width - percentWidth - 1;
  return bar > 0 ? [...progressBar(fraction, bar, tone), span(' '), percent] : [percent];
}

/** `67%`, rounded down. */
export function percentOf(fraction: number): string {
  return `${Math.floor(fraction * 100)}%`;
}

/** The health problem of the run, otherwise its remaining time. */
function remaining(run: RunSummary, column: ListColumn): Line | null {
  if (isUnhealthy(run)) return textCell(healthWord(run.health), column, healthTone(run.health));
  return textCell(leftText(run), column, 'dim');
}

/** The number; null stands for NaN, since JSON has no NaN. */
function numberCell(value: number | null | undefined, column: ListColumn): Line | null {
  if (value === undefined) return null;
  return textCell(narrowNumber(value ?? Number.NaN), column, Number.isFinite(value) ? 'value' : 'bad');
}

/** One number; the low end of a range; or, where none is finite, what the runs have instead. */
function valueCell(value: BranchValue, column: ListColumn): Line | null {
  if (value.kind === 'best') return numberCell(value.value, column);
  if (value.kind === 'range' && value.low <= value.high) return numberCell(value.low, column);
  if (value.kind === 'seeds' && value.values.count > 0) return numberCell(value.values.mean, column);
  const text = value.kind === 'seeds' ? notFiniteText(value.values) : '';
  const words = [text, value.broken].filter((each) => each !== '').join(', ');
  return textCell(words.length <= column.width ? words : text === '' ? 'broken' : 'NaN/inf', column, 'bad');
}

function textCell(text: string, { width, isRight }: ListColumn, tone: Tone): Line | null {
  return text === '' ? null : [span(isRight ? fitRight(text, width) : fit(text, width), tone)];
}

function memoryText(mebibytes: number | null | undefined): string {
  return mebibytes === null || mebibytes === undefined ? '' : narrowMemory(mebibytes);
}

function cpuText(percent: number | null | undefined): string {
  return percent === null || percent === undefined ? '' : `${Math.round(percent)}%`;
}

type Exit = NonNullable<RunSummary['exit']>;

function exitText(exit: Exit): string {
  if (exit.class === 'failed') return exit.code === null ? 'failed' : `code ${exit.code}`;
  return exit.class === 'signal' ? (exit.signal ?? 'signal') : exit.class;
}

function exitTone(exit: Exit): Tone {
  return exit.class === 'done' ? 'dim' : exit.class === 'killed' ? 'warn' : 'bad';
}

/** Without the full block, so that rows below each other stay separate. */
const levels = '▁▂▃▄▅▆▇';

/** The values as one row of blocks, `width` columns, newest at the right; a missing value is a space. */
export function sparkline(values: readonly (number | null)[], width: number): string {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value));
  if (known.length === 0 || width <= 0) return ' '.repeat(Math.max(0, width));
  const low = Math.min(...known);
  const range = Math.max(...known) - low;
  const columns = Math.min(width, values.length);
  const drawn = Array.from({ length: columns }, (_, column) => {
    const value = values[Math.floor(((column + 1) * values.length) / columns) - 1] ?? null;
    if (value === null || !Number.isFinite(value)) return ' ';
    return levels[range === 0 ? 3 : Math.round(((value - low) / range) * (levels.length - 1))];
  });
  return drawn.join('').padEnd(width);
}

/** What belongs to the value of a group: `±0.12 · 4 NaN`, `lr=0.1, median of 3`, or the other end of a range: `to 9.31`. */
export function besideValue(value: BranchValue | null, width: number): Line {
  if (value === null) return [];
  if (value.kind === 'best') return [span(settingText(value, width), 'accent')];
  if (value.kind === 'seeds') return besideMean(value, width);
  if (value.low >= value.high) return value.low > value.high ? [] : withBroken('', value.broken, width);
  const end = `to ${narrowNumber(value.high)}`;
  return textWidth(end) <= width ? withBroken(end, value.broken, width) : [];
}

/** The longest text of a setting that fits; its values alone, if its names do not. */
function settingText(
  { setting, runs, isJudged, metric }: BranchValue & { readonly kind: 'best' },
  width: number,
): string {
  const median = runs > 1 ? `median of ${runs}` : '';
  const by = isJudged ? '' : `best by ${shortKey(metric)}`;
  const bare = setting.replace(/(^| )[^ =]+=/g, '$1');
  const texts = [[setting, median, by], [setting, by], [setting], [bare]];
  const fitting = texts.map((words) => words.filter((word) => word !== '').join(', '));
  return fitting.find((text) => textWidth(text) <= width) ?? truncate(bare, width);
}

/**
 * Deviation and number of other runs: `±0.12 · 4 NaN, 1 diverged`; only the latter if there is little room. Runs that are not as far
 * as the others are counted (`±0.12, 2 behind`), or marked (`±0.12*`).
 */
function besideMean({ values, broken, behind }: BranchValue & { readonly kind: 'seeds' }, width: number): Line {
  if (values.count === 0) return [];
  const deviation = values.count < 2 ? '' : `±${shortDeviation(values.deviation)}`;
  const words = [notFiniteText(values), broken].filter((each) => each !== '').join(', ');
  if (words !== '') return withBroken(behind > 0 ? `${deviation}*` : deviation, words, width);
  if (behind === 0) return [span(fittingDeviation(values, deviation, width), 'dim')];
  const counted = [deviation, `${behind} behind`].filter((each) => each !== '').join(', ');
  return [span([counted, `${deviation}*`].find((text) => textWidth(text) <= width) ?? '*', 'dim')];
}

/** The text, and what is wrong with other runs if there is room. */
function withBroken(text: string, broken: string, width: number): Line {
  const own = textWidth(text) <= width ? [span(text, 'dim')] : [];
  if (broken === '') return own;
  const whole = [span(text === '' ? '· ' : `${text} · `, 'dim'), span(broken, 'bad')];
  if (lineWidth(whole) <= width) return whole;
  return text.startsWith('to ') ? own : [span(broken, 'bad')];
}

/** The deviation with one digit or not at all if there is little room, since a cut number would be wrong. */
function fittingDeviation({ deviation }: RunValues, text: string, width: number): string {
  const texts = [text, `±${deviation.toExponential(0).replace('e+', 'e')}`];
  return texts.find((each) => each.length <= width) ?? '';
}

/** Two significant digits, enough for a handful of seeds; one for small values. */
function shortDeviation(value: number): string {
  if (value >= 100 || value === 0) return narrowNumber(value);
  if (value < 1e-3) return value.toExponential(0);
  return value.toPrecision(value < 0.01 ? 1 : 2);
}
