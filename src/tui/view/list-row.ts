import { type RunSummary } from '../port.js';
import { cleanText } from './clean-text.js';
import { textWidth } from './display-width.js';
import { duration } from './duration.js';
import { type ListColumns, middleWidth } from './list-columns.js';
import { progressBar } from './progress-bar.js';
import { runReason } from './run-reason.js';
import { shortNumber } from './short-number.js';
import { ends, fit, fitLine, fitRight, type Line, lineWidth, span, type Span } from './span.js';
import { sparkline } from './sparkline.js';
import { stateLook, statesInOrder } from './state-look.js';
import { elapsed, progressOf, type Tally } from './tally.js';
import { type Branch, type RunNode } from './tree.js';

/** Columns below which a reason would be a stump. */
const leastReason = 12;

/** One run: sign, name, progress or reason, last value, slot, time. `now`: Unix ms. */
export function runRow(node: RunNode, columns: ListColumns, metric: string | null, now: number): Line {
  const { run } = node;
  const look = stateLook[run.state];
  const indent = '  '.repeat(node.depth);
  const name = [
    span(indent),
    span(look.glyph, look.tone),
    span(fit(` ${node.label}`, columns.name - indent.length - 1)),
  ];
  const value = metric === null ? undefined : run.metrics[metric];
  const time = elapsed(run, now);
  const reason = runReason(run, now);
  const isBare = time === null && value === undefined;
  // A run that never started has nothing but its reason to show; and where there is little room, a reason comes first.
  if (reason !== null && (isBare || middleWidth(columns) < leastReason)) {
    return [...name, span(fit(` ${reason.text}`, columns.total - columns.name), reason.tone)];
  }
  return joinColumns([
    name,
    middle(run, columns, now),
    number(value, columns.metric),
    cell(run.slot ?? '', columns.slot),
    cell(time === null ? '' : duration(time), columns.time, true),
  ]);
}

/** A group or subgroup: what its runs come to. `digit`: the key that jumps to it, or null. */
export function branchRow(branch: Branch, columns: ListColumns, isFolded: boolean, digit: number | null): Line {
  const isGroup = branch.kind === 'group';
  const name = [
    span(`${'  '.repeat(branch.depth)}${isFolded ? '▸' : '▾'} `, 'dim'),
    span(digit === null ? '' : `${digit} `, 'faint'),
    span(branch.label, isGroup ? 'title' : 'strong'),
    span(branch.title === null ? '' : `  ${branch.title}`, 'dim'),
  ];
  return joinColumns([
    ...(lineWidth(name) <= columns.name
      ? [fitLine(name, columns.name), branchMiddle(branch.tally, columns)]
      : [longNamed(name, branch.tally, columns)]),
    ...spreadCells(branch.tally, columns),
  ]);
}

/** Words say more than a bar: a long title takes the room up to the metric, but for the numbers. */
function longNamed(name: Line, tally: Tally, columns: ListColumns): Line {
  const room = columns.name + 1 + middleWidth(columns);
  const counts = countsLine(tally);
  const percent = columns.percent > 0 ? [span(`  ${percentOf(tally.progress)} `, 'dim')] : [span(' ')];
  return ends(name, [...percent, ...counts], room);
}

/** The words above the columns. */
export function listHeading(columns: ListColumns, metric: string): Line {
  const words: [string, number][] = [
    [fit('  run', columns.name), columns.name],
    [fit('progress', columns.bar + 1 + columns.percent), columns.bar],
    [fitRight('left', columns.left), columns.left],
    [fit('trend', columns.spark), columns.spark],
    [fitRight(metric, columns.metric), columns.metric],
    [fit('slot', columns.slot), columns.slot],
    [fitRight('time', columns.time), columns.time],
  ];
  const shown = words.filter(([, width]) => width > 0).map(([word]) => word);
  return [span(shown.join(' '), 'faint')];
}

/** The end of a metric's name says the most: `env/all/test/bits_known` → `bits_known`. */
export function shortKey(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

/** `●2 ✓14 ✗1`, states without runs left out. */
export function countsLine({ counts }: Tally): Line {
  const present = statesInOrder.filter((state) => counts[state] > 0);
  return present.flatMap((state, index) => [
    span(`${index > 0 ? ' ' : ''}${stateLook[state].glyph}${counts[state]}`, stateLook[state].tone),
  ]);
}

function joinColumns(columns: readonly Line[]): Line {
  const joined: Span[] = [];
  for (const column of columns) {
    if (column.length === 0) continue;
    if (joined.length > 0) joined.push(gap);
    joined.push(...column);
  }
  return joined;
}

const gap = span(' ');

function middle(run: RunSummary, columns: ListColumns, now: number): Line {
  const width = middleWidth(columns);
  if (width <= 0) return [];
  const reason = runReason(run, now);
  if (reason !== null) return [span(fit(reason.text, width), reason.tone)];
  const spark = columns.spark > 0 ? [span(sparkline(run.spark, columns.spark), 'spark')] : [];
  const free = width - (columns.spark > 0 ? columns.spark + 1 : 0);
  if (run.state === 'done') return joinColumns([[span(fit(doneWords(run, free), free), 'dim')], spark]);
  return joinColumns([
    columns.bar > 0 ? progressBar(run.progress, columns.bar, 'busy') : [],
    cell(run.progress === null ? '' : percentOf(progressOf(run)), columns.percent, true),
    remaining(run, columns.left),
    spark,
  ]);
}

/** A full bar would say no more; how it came to its end may, where there is room for the whole of it. */
function doneWords({ reason }: RunSummary, room: number): string {
  const whole = reason === null ? 'done' : `done · ${cleanText(reason)}`;
  return textWidth(whole) <= room ? whole : 'done';
}

/** Time left; or what is wrong with a run that goes on. */
function remaining(run: RunSummary, width: number): Line {
  if (width === 0) return [];
  if (run.state === 'running' && run.health === 'nan') return [span(fitRight('NaN', width), 'bad')];
  if (run.state === 'running' && run.health === 'stalled') return [span(fitRight('stall', width), 'warn')];
  const text = run.state === 'running' && run.etaSeconds !== null ? duration(run.etaSeconds * 1000) : '';
  return [span(fitRight(text, width), 'dim')];
}

function branchMiddle(tally: Tally, columns: ListColumns): Line {
  const width = middleWidth(columns);
  if (width <= 0) return [];
  const counts = countsLine(tally);
  const bar = joinColumns([
    columns.bar > 0 ? progressBar(tally.progress, columns.bar, 'accent') : [],
    cell(percentOf(tally.progress), columns.percent, true),
  ]);
  const room = width - lineWidth(bar) - 1;
  return room < Math.min(8, lineWidth(counts)) ? fitLine(counts, width) : [...bar, span(' '), ...fitLine(counts, room)];
}

/** Mean and standard deviation; the deviation takes the room of slot and time. */
function spreadCells({ metric }: Tally, columns: ListColumns): Line[] {
  const rest = [columns.slot, columns.time].filter((size) => size > 0);
  const width = rest.reduce((sum, size) => sum + size + 1, -1);
  const deviation = metric === null || metric.count < 2 ? '' : `±${shortDeviation(metric.deviation)}`;
  return [number(metric?.mean, columns.metric), width > 0 ? [span(fit(deviation, width), 'dim')] : []];
}

/** Two digits that count are more than a handful of seeds can tell; one where it is small. */
function shortDeviation(value: number): string {
  if (value >= 100 || value === 0) return shortNumber(value);
  if (value < 1e-3) return value.toExponential(0);
  return value.toPrecision(value < 0.01 ? 1 : 2);
}

function number(value: number | null | undefined, width: number): Line {
  if (width === 0) return [];
  const text = value === undefined ? '' : shortNumber(value ?? Number.NaN);
  return [span(fitRight(text, width), text === 'NaN' ? 'bad' : 'value')];
}

function percentOf(fraction: number): string {
  return `${Math.floor(fraction * 100)}%`;
}

function cell(text: string, width: number, isRight = false): Line {
  return width === 0 ? [] : [span(isRight ? fitRight(text, width) : fit(text, width), 'dim')];
}
