import { assertNever } from '../../base/assert-never.js';
import { cleanText } from '../../text/display-text.js';
import { shortDuration } from '../../text/duration.js';
import { keyOf } from './key-map.js';
import type { FleetStatus } from '../state/port.js';
import { chartSection } from '../widgets/chart/chart-section.js';
import { compareScreen } from '../screens/compare/compare-screen.js';
import { detailHeading } from '../widgets/detail-heading.js';
import { withDialog } from '../dialogs/dialogs.js';
import { footer, keysLine, messageLine } from './footer.js';
import { gpuScreen } from '../screens/gpus/gpu-screen.js';
import { listPane, listRows } from '../widgets/run-list/list-pane.js';
import { logSection } from '../widgets/log/log-section.js';
import { openScreen } from '../screens/run/open-screen.js';
import { parameterLines } from '../widgets/parameters.js';
import { progressBar } from '../widgets/progress-bar.js';
import { sectionRule } from '../widgets/section.js';
import { blank, ends, fitLine, type Line, lineWidth, onBackground, span } from '../widgets/span.js';
import { stateLook, statesInOrder } from '../model/state-look.js';
import { sweepScreen } from '../screens/sweep/sweep-screen.js';
import { isOver } from '../model/tally.js';
import { selectedNode, selectedRuns, type WindowModel } from '../model/window-model.js';

/** Below this much room there is only a list; below the minimum, nothing that would be of use. */
const whole = { width: 80, height: 24 };
const least = { width: 40, height: 10 };
/** From this width on the selection has a pane beside the list; from this height on a curve below it. */
const wide = 100;
const tall = 30;

/** The whole window: exactly `height` lines of `width` columns. */
export function screen(model: WindowModel, width: number, height: number): readonly Line[] {
  if (width < least.width || height < least.height) return tooSmall(width, height);
  return withDialog(plainScreen(model, width, height), model, width);
}

/** Rows of the list on a window of this size: what a page is. */
export function listHeight(width: number, height: number): number {
  if (width < whole.width || height < whole.height) return Math.max(1, height - 2);
  return bodyHeight(height) - stripHeight(width, height) - 1;
}

/** Where the rows of the list are on the screen, counted from 0. */
export function listArea(width: number, height: number): { top: number; width: number; height: number } {
  const isSmall = width < whole.width || height < whole.height;
  return {
    top: isSmall ? 1 : 4,
    width: isSmall || width < wide ? width : listWidth(width),
    height: listHeight(width, height),
  };
}

/** Columns of the list beside a pane. */
function listWidth(width: number): number {
  return Math.max(58, Math.min(104, Math.floor(width * 0.6)));
}

/** Rows of a screen that has the window to itself, between header and footer. */
export function wholeHeight(width: number, height: number): number {
  return width < whole.width || height < whole.height ? height - 2 : bodyHeight(height);
}

function plainScreen(model: WindowModel, width: number, height: number): Line[] {
  if (width < whole.width || height < whole.height) return smallScreen(model, width, height);
  const body = bodyHeight(height);
  const main = bodyOf(model, width, { body, height });
  return [...header(model, width), ...padTo(main, width, body), ...footer(model, width)];
}

/** What stands between header and footer. `height`: of the whole window. */
function bodyOf(model: WindowModel, width: number, { body, height }: { body: number; height: number }): Line[] {
  const { screen: shown } = model.ui;
  switch (shown.kind) {
    case 'jobs':
      return jobsBody(model, width, height);
    case 'open':
      return openBody(model, width, body);
    case 'compare':
      return compareScreen(model, width, body);
    case 'gpus':
      return gpuScreen(model, width, body);
    case 'sweep':
      return sweepScreen(model, width, body);
    default:
      return assertNever(shown);
  }
}

/** Rows between header and footer. */
function bodyHeight(height: number): number {
  return height - 5;
}

/** Rows of the curve below the list, on a terminal that is tall but not wide. */
function stripHeight(width: number, height: number): number {
  return width < wide && height >= tall ? Math.floor(bodyHeight(height) * 0.4) : 0;
}

function jobsBody(model: WindowModel, width: number, height: number): Line[] {
  const body = bodyHeight(height);
  const strip = stripHeight(width, height);
  if (width < wide) {
    if (strip === 0) return listPane(model, width, body);
    // A short list leaves its room to the curve.
    const rows = Math.min(body - strip, Math.max(6, model.rows.length + 2));
    return [...padTo(listPane(model, width, rows), width, rows), ...chartStrip(model, width, body - rows)];
  }
  const left = listWidth(width);
  const right = width - left - 3;
  const list = listPane(model, left, body);
  const detail = detailPane(model, right, body);
  return Array.from({ length: body }, (_, row): Line => [
    ...(list[row] ?? blank(left)),
    span(' │ ', 'faint'),
    ...(detail[row] ?? blank(right)),
  ]);
}

function openBody(model: WindowModel, width: number, body: number): Line[] {
  return openScreen(model, openWidth(width), body).map((line): Line => [span(' '), ...line, span(' ')]);
}

/** Columns of the open screen, on a window of that width. */
export function openWidth(width: number): number {
  return width - 2;
}

/** One line of header, the list, and one of footer. */
function smallScreen(model: WindowModel, width: number, height: number): Line[] {
  const { ui } = model;
  const hasMessage = ui.note !== null || ui.dialog.kind !== 'none';
  const main = smallBody(model, width, height - 2);
  return [
    shortHeader(model, width),
    ...padTo(main, width, height - 2),
    hasMessage ? messageLine(model, width) : keysLine(model, width),
  ];
}

function smallBody(model: WindowModel, width: number, body: number): Line[] {
  const { kind } = model.ui.screen;
  if (kind === 'jobs') return listRows(model, width, body);
  return kind === 'open' ? openScreen(model, width, body) : bodyOf(model, width, { body, height: body });
}

function tooSmall(width: number, height: number): Line[] {
  const words = [
    `${width}×${height} is too small:`,
    `the minimum is ${least.width}×${least.height}.`,
    'q detaches; runs keep running.',
  ];
  return padTo(
    words.map((text): Line => fitLine([span(text, 'warn')], width)),
    width,
    height,
  );
}

/** Exactly `height` lines; those that are there have their width already. */
function padTo(lines: readonly Line[], width: number, height: number): Line[] {
  return Array.from({ length: height }, (_, row) => lines[row] ?? blank(width));
}

/** The selection: what it is, its curve, its parameters, the end of its log. Exactly `height` lines. */
function detailPane(model: WindowModel, width: number, height: number): Line[] {
  const node = selectedNode(model);
  if (node === undefined) return blankLines(height).map(() => blank(width));
  const heading = detailHeading(node, width, model.now);
  const parameters = parameterLines(selectedRuns(node), model.varying, width, Math.max(1, Math.floor(height / 7)));
  const rest = height - heading.length - parameters.length - 1;
  const isRun = node.kind === 'run';
  const logHeight = isRun && rest >= 14 ? Math.floor(rest * 0.42) : 0;
  const first = model.detail.charts[0];
  const lines = [
    ...heading,
    ...(first === undefined ? [] : chartSection(first, model.detail, { width, height: rest - logHeight })),
    sectionRule('parameters', [], width),
    ...parameters,
    ...(logHeight === 0 ? [] : logSection(model.detail.log, { offset: 0, wraps: false }, width, logHeight)),
  ];
  return [...lines, ...blankLines(height - lines.length)].slice(0, height).map((line) => fitLine(line, width));
}

/** The curve with its name, for when there is little room. Exactly `height` lines. */
function chartStrip(model: WindowModel, width: number, height: number): Line[] {
  const node = selectedNode(model);
  const first = model.detail.charts[0];
  const heading = node === undefined ? [] : detailHeading(node, width, model.now);
  const rest = height - heading.length;
  const below = first === undefined ? blankLines(rest) : chartSection(first, model.detail, { width, height: rest });
  return [...heading, ...below].map((line) => fitLine(line, width));
}

function blankLines(count: number): Line[] {
  return Array.from({ length: Math.max(0, count) }, (): Line => []);
}

/** Three lines: the sweep and its runs by state; the whole progress; what keeps the supervisor from its work, if anything. */
function header(model: WindowModel, width: number): Line[] {
  const name: Line = [span(` ${model.title}`, 'title'), span('   ')];
  const right = rightEnd(model);
  const room = width - lineWidth(name) - lineWidth(right) - 2;
  const long = counts(model, true);
  return [
    ends([...name, ...(lineWidth(long) <= room ? long : counts(model, false))], right, width),
    isOver(model.tally) ? endedLine(model, width) : progressLine(model, width),
    model.status.problem === null ? blank(width) : problemLine(model.status.problem, width),
  ];
}

/** One line, for a small screen. */
function shortHeader(model: WindowModel, width: number): Line {
  const percent = `${Math.floor(model.tally.progress * 100)}%`;
  const connection = model.connection === 'connected' ? [] : onBackground([span(' ! ', 'strong')], 'alarm');
  return ends(
    [span(`${model.title} `, 'title'), ...counts(model, false)],
    [...connection, span(` ${percent}`, 'dim')],
    width,
  );
}

function counts({ tally }: WindowModel, isLong: boolean): Line {
  return statesInOrder
    .filter((state) => tally.counts[state] > 0)
    .flatMap((state) => [
      span(`${stateLook[state].glyph}${isLong ? ' ' : ''}${tally.counts[state]}`, stateLook[state].tone),
      span(isLong ? ` ${state}   ` : ' ', 'dim'),
    ]);
}

function rightEnd(model: WindowModel): Line {
  if (model.connection === 'reconnecting')
    return onBackground([span(' supervisor lost · reconnecting ', 'strong')], 'alarm');
  return [span(`${slotWords(model.status)} `, 'dim'), span(timeWords(model), 'plain')];
}

/** How long the runs have taken. Nothing of runs that had all ended before this supervisor knew of them. */
function timeWords({ startedAt, endedAt, now, tally }: WindowModel): string {
  if (startedAt !== null) return `  ${shortDuration((endedAt ?? now) - startedAt)} `;
  return isOver(tally) ? '' : '  not started ';
}

/** `2 of 4 slots busy`, `7 of 8 GPUs busy`, or both. */
function slotWords({ cpu, gpus }: FleetStatus): string {
  const busyGpus = gpus.filter(({ runs }) => runs.length > 0).length;
  const words = [
    gpus.length > 0 ? `${busyGpus} of ${gpus.length} GPUs` : '',
    cpu.busy > 0 || gpus.length === 0 ? `${cpu.busy} of ${cpu.slots} slots` : '',
  ];
  return `${words.filter((word) => word !== '').join(', ')} busy`;
}

function problemLine(problem: string, width: number): Line {
  return onBackground(fitLine([span(` ${cleanText(problem)}`, 'strong')], width), 'alarm');
}

function progressLine({ tally, etaSeconds }: WindowModel, width: number): Line {
  const percent = ` ${Math.floor(tally.progress * 100)}%`.padStart(5);
  const eta = etaSeconds === null ? '' : ` · about ${shortDuration(etaSeconds * 1000)} left`;
  const right = [span(percent, 'strong'), span(`${eta} `, 'dim')];
  return [span(' '), ...progressBar(tally.progress, Math.max(0, width - lineWidth(right) - 1), 'accent'), ...right];
}

function endedLine({ tally, table, ui }: WindowModel, width: number): Line {
  const failed = tally.total - tally.counts.done;
  const text =
    failed === 0 ? `✓ all ${tally.total} runs done` : `${tally.counts.done} of ${tally.total} runs done, ${failed} not`;
  const hint = `${table === null ? '' : ` · ${keyOf('table', ui.keys)} shows the table`} · ${keyOf('leave', ui.keys)} detaches `;
  return ends([span(` ${text}`, failed === 0 ? 'good' : 'warn'), span(hint, 'dim')], [], width);
}
