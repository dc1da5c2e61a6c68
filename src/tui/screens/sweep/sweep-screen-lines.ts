import { Memo } from '../../../base/memo.js';
import { leftText } from '../../../analysis/forecast/forecast.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { durationRange, shortDuration } from '../../../text/duration.js';
import { narrowNumber } from '../../../text/numbers.js';
import { wrapWithin } from '../../../text/wrap.js';
import { fitLineRight, sampleCell } from '../compare/compare-cells.js';
import { countsLine } from '../../widgets/counts-line.js';
import { progressBar } from '../../widgets/progress-bar.js';
import { sectionRule } from '../../widgets/section.js';
import { shortKey } from '../../widgets/short-key.js';
import { fit, fitLine, type Line, lineWidth, span } from '../../surface/span.js';
import { stateLook } from '../../model/state-look.js';
import { memorySection } from './sweep-memory-section.js';
import type { FailureClass, GroupOverview, SlowRun, SweepOverview } from './sweep-overview.js';
import type { WindowModel } from '../../model/window-model.js';

/** The sweep screen. At most `height` lines of `width` columns. */
export function sweepScreen(overview: SweepOverview, model: WindowModel, width: number, height: number): Line[] {
  const { ui } = model;
  if (ui.screen.kind !== 'sweep') return [];
  const lines = sweepLines(overview, width);
  const room = Math.max(1, height - 1);
  const top = Math.max(0, Math.min(ui.screen.top, lines.length - room));
  const below = lines.length - top - room;
  const right = below > 0 ? [span(`${below} more lines ↓`, 'accent')] : top > 0 ? [span('the end', 'faint')] : [];
  return [sectionRule(`sweep · ${cleanText(model.title)}`, right, width), ...lines.slice(top, top + room)]
    .slice(0, height)
    .map((line) => fitLine(line, width));
}

/** All lines of the screen below its heading. */
export function sweepLines(overview: SweepOverview, width: number): Line[] {
  if (overview.runs === 0) return [[], [span(' The sweep has no runs yet.', 'dim')]];
  const about = overview.description === null ? [] : wrapWithin(cleanText(overview.description), width - 2, 3);
  return [
    ...about.map((text): Line => [span(` ${text}`, 'dim')]),
    factsLine(overview),
    [],
    ...memorySection(overview, width),
    ...groupsSection(overview, width),
    ...resultsSection(overview, width),
    ...troubleSection(overview, width),
  ];
}

/** Results by setting over its seeds, laid out once per width. */
function resultsSection({ results }: SweepOverview, width: number): Line[] {
  if (results === null) return [];
  return laidOut.value(results, String(width), () => {
    const lines = results(width - 2).map((text): Line => [span(` ${cleanText(text)}`)]);
    return [sectionRule('results', [], width), ...lines, []];
  });
}

const laidOut = new Memo<NonNullable<SweepOverview['results']>, Line[]>(2);

/** Total time and rate. */
function factsLine({ runs, runTime, gpuTime, donePerHour, retries }: SweepOverview): Line {
  const facts: [string, string][] = [
    [String(runs), runs === 1 ? 'run' : 'runs'],
    ...(donePerHour === null ? [] : [[rateText(donePerHour), 'done an hour'] as [string, string]]),
    ...(runTime === 0 ? [] : [[shortDuration(runTime), 'of run time'] as [string, string]]),
    ...(gpuTime === 0 ? [] : [[`${(gpuTime / 3_600_000).toFixed(1)}`, 'GPU hours'] as [string, string]]),
    ...(retries === 0 ? [] : [[String(retries), retries === 1 ? 'retry' : 'retries'] as [string, string]]),
  ];
  return facts.flatMap(([number, word], index) => [
    span(`${index === 0 ? ' ' : '   '}${number}`, 'strong'),
    span(` ${word}`, 'dim'),
  ]);
}

function rateText(perHour: number): string {
  return perHour >= 10 ? perHour.toFixed(0) : perHour.toFixed(1);
}

/** Minimum width for showing both parts beside each other. */
const wide = 100;
const gap = 3;

/** Runs that took longest, and kinds of failure. */
function troubleSection({ slowest, failures }: SweepOverview, width: number): Line[] {
  if (width < wide) return [...slowSection(slowest, width), [], ...failureSection(failures, width)];
  const left = Math.floor((width - gap) / 2);
  const right = width - gap - left;
  const slow = slowSection(slowest, left);
  const failed = failureSection(failures, right);
  return Array.from({ length: Math.max(slow.length, failed.length) }, (_, row): Line => [
    ...fitLine(slow[row] ?? [], left),
    span(' '.repeat(gap)),
    ...fitLine(failed[row] ?? [], right),
  ]);
}

function slowSection(slowest: readonly SlowRun[], width: number): Line[] {
  const rule = sectionRule('slowest runs', [span('beside the median of the group', 'faint')], width);
  if (slowest.length === 0) return [rule, [span(' No run has started.', 'dim')]];
  return [rule, ...slowest.map((slow) => slowRow(slow, width))];
}

function slowRow({ run, time, factor }: SlowRun, width: number): Line {
  const { glyph, tone } = stateLook[run.state];
  const left = leftText(run);
  const name = Math.max(8, width - 30);
  const isSlow = factor !== null && factor >= 1.5;
  return [
    span(` ${glyph} `, tone),
    span(fit(cleanText(run.name), name)),
    span(shortDuration(time).padStart(8), 'plain'),
    span(
      factor === null ? ' '.repeat(8) : `×${factor.toFixed(factor < 10 ? 1 : 0)}`.padStart(8),
      isSlow ? 'warn' : 'dim',
    ),
    span(left === '' ? '' : `  ${left} left`, 'dim'),
  ];
}

function failureSection(failures: readonly FailureClass[], width: number): Line[] {
  const count = failures.reduce((sum, failure) => sum + failure.count, 0);
  const rule = sectionRule('failures', count === 0 ? [] : [span(String(count), 'bad')], width);
  if (count === 0) return [rule, [span(' None.', 'good')]];
  return [rule, ...failures.flatMap(failureRows)];
}

/** The class, and below it its most common reason and the names of a few runs. */
function failureRows({ name, count, reason, reasonCount, runs }: FailureClass): Line[] {
  const { glyph, tone } = stateLook[runs[0]!.state];
  const shown = reasonCount > 1 && reasonCount < count ? `  (${reasonCount} of ${count})` : '';
  const names = runs.slice(0, 3).map((run) => cleanText(run.name));
  const more = runs.length > names.length ? `, and ${runs.length - names.length} more` : '';
  return [
    [span(` ${glyph} `, tone), span(`${count} × ${name}`, 'strong')],
    ...(reason === null ? [] : [[span(`   ${reason}${shown}`, tone)]]),
    [span(`   ${names.join(', ')}${more}`, 'dim')],
  ];
}

const groupsGap = 2;
const columns = { progress: 15, time: 7, left: 7, value: 16, best: 10 };

/** A row per group: runs by state, progress, time, and the means of the shown metrics. */
function groupsSection({ groups, metrics, direction }: SweepOverview, width: number): Line[] {
  const name = Math.min(Math.floor(width * 0.3), Math.max(8, ...groups.map(nameLength))) + 3;
  const counts = Math.min(28, Math.max(5, ...groups.map(({ tally }) => lineWidth(countsLine(tally)))));
  const hasBest = direction !== null && metrics.length > 0;
  const fixed = name + counts + columns.progress + columns.time + columns.left + 4 * groupsGap;
  const free = width - fixed - (hasBest ? columns.best + groupsGap : 0);
  const shown = metrics.slice(0, Math.max(0, Math.floor(free / (columns.value + groupsGap))));
  const isBestShown = hasBest && free >= 0;
  const cells = (texts: readonly [Line, number][]): Line =>
    texts.flatMap(([line, size]) => [span(' '.repeat(groupsGap)), ...fitLineRight(line, size)]);
  const faint = (text: string): Line => [span(fit(text, Math.min(textWidth(text), columns.value)), 'faint')];
  const head = cells([
    ...shown.map((key): [Line, number] => [faint(cleanText(shortKey(key))), columns.value]),
    ...(isBestShown ? [[faint(direction === 'maximize' ? 'greatest' : 'least'), columns.best] as [Line, number]] : []),
  ]);
  const rows = groups.map((group): Line => [
    ...fitLine(nameLine(group), name - 1),
    span(' '),
    ...fitLine(countsLine(group.tally), counts),
    span(' '.repeat(groupsGap)),
    ...progressCell(group),
    ...cells([
      [[span(group.runTime === 0 ? '' : shortDuration(group.runTime), 'dim')], columns.time],
      [[span(group.left === null ? '' : durationRange(group.left), 'dim')], columns.left],
      ...shown.map((_, index): [Line, number] => [valueCell(group, index), columns.value]),
      ...(isBestShown ? [[bestCell(group), columns.best] as [Line, number]] : []),
    ]),
  ]);
  const left = `${fit(' group', name)}${fit('runs', counts)}  ${fit('progress', columns.progress)}${fit('', groupsGap)}${'time'.padStart(columns.time)}${'left'.padStart(columns.left + groupsGap)}`;
  return [
    sectionRule('groups', [], width),
    fitLine([span(left, 'faint'), ...head], width),
    ...rows.map((row) => fitLine(row, width)),
    [],
  ];
}

function nameLength({ name, title }: GroupOverview): number {
  return textWidth(cleanText(name)) + (title === null ? 0 : 2 + textWidth(cleanText(title)));
}

function nameLine({ name, title }: GroupOverview): Line {
  return [span(` ${cleanText(name)}`, 'title'), span(title === null ? '' : `  ${cleanText(title)}`, 'dim')];
}

function progressCell({ tally }: GroupOverview): Line {
  const isDone = tally.counts.done === tally.total;
  const percent = `${Math.floor(tally.progress * 100)}%`;
  return [
    ...progressBar(tally.progress, columns.progress - 5, isDone ? 'good' : 'busy'),
    span(percent.padStart(5), 'dim'),
  ];
}

function valueCell({ values, tally }: GroupOverview, index: number): Line {
  const value = values[index] ?? null;
  if (value === null) return [span('–', 'faint')];
  return sampleCell({ kind: 'mean', ...value }, tally.total);
}

function bestCell({ best }: GroupOverview): Line {
  return best === null ? [span('–', 'faint')] : [span(narrowNumber(best.value), 'good')];
}
