import { hasEnded } from '../../../base/run-words.js';
import { cleanText } from '../../../text/display-text.js';
import { shellQuote } from '../../../text/shell-words.js';
import { wrapWithin } from '../../../text/wrap.js';
import type { KeyContext } from '../../keys/key-context.js';
import { groupKeyOfVerb, keyOfVerb } from '../../keys/run-verb-handler.js';
import { filledCharts } from '../../model/detail.js';
import { isUnstarted } from '../../model/state-look.js';
import type { TreeNode } from '../../model/tree/branch.js';
import { selectedNode, selectedRuns, type WindowModel } from '../../model/window-model.js';
import { paneSize } from '../../state/preferences-port.js';
import { fitLine, type Line, sideBySide, span, tileGap, tileWidth } from '../../surface/span.js';
import type { Size } from '../../surface/surface.js';
import { chartSection } from '../../widgets/chart/chart-section.js';
import { detailHeading } from '../../widgets/detail-heading.js';
import { logSection } from '../../widgets/log/log-pane.js';
import { parameterLines } from '../../widgets/parameters.js';
import { hintLine, type KeyHint, sectionRule } from '../../widgets/line-parts.js';
import { failureDetail } from '../../widgets/run-list/failure-row.js';
import { listPane, listRows } from '../../widgets/run-list/list-pane.js';

/** Minimum rows that leave room for the end of the log below the curve. */
const roomForLog = 14;

/** Rows of a chart without values. */
const leastChart = 3;

/**
 * Whether a node has a log and no metrics. False for a live run that reports where it looked for metrics, since its log would move
 * when they come.
 */
function hasOnlyLog({ detail }: WindowModel, node: TreeNode): boolean {
  const mayCome = node.kind === 'run' && !hasEnded(node.run.state) && Boolean(detail.report);
  return detail.isLoaded && !mayCome && detail.log.length > 0 && filledCharts(detail) === 0;
}

/** Heading of the selection; for a kind of failure, with its associated parameters. */
function headingOf(node: TreeNode, model: WindowModel, width: number): Line[] {
  const { now, tally } = model;
  if (node.kind === 'run' || !node.isFailure) return detailHeading(node, width, now);
  return failureDetail(node, model.causeOf(node), { width, now, total: tally.total });
}

/**
 * For runs that have not begun, and so have neither curve nor log: the reason for waiting, the key that releases them, and their
 * parameters. Null: the node has begun.
 */
function unstartedDetail(node: TreeNode, model: WindowModel, width: number, height: number): Line[] | null {
  const runs = selectedRuns(node);
  if (node.kind === 'run' ? !isUnstarted(node.run) : node.kind !== 'waiting') return null;
  const key = keyOfVerb('release', model.ui.keys)!;
  const hint: KeyHint =
    node.kind === 'run' ? [key, 'releases it'] : [groupKeyOfVerb('release', model.ui.keys)!, 'releases them'];
  const command = node.kind === 'run' ? wrapWithin(shellQuote(node.run.argv.map(cleanText)), width, height) : [];
  return [
    ...headingOf(node, model, width),
    ...(runs[0]!.state === 'held' ? [hintLine([hint])] : []),
    sectionRule('parameters', [], width),
    ...parameterLines(runs, model.varying, width, height),
    ...(command.length === 0 ? [] : [sectionRule('command', [], width)]),
    ...command.map((text): Line => [span(text)]),
  ].slice(0, height);
}

/** Least columns of a pane with several charts, and least rows of each of these. */
const several = { width: 60, height: 13 };

/**
 * As many charts as there is room for, the chosen metric first; below each other before beside each other. Exactly `height` lines, or
 * none.
 */
function chartGrid({ detail }: WindowModel, width: number, height: number): Line[] {
  const mostRows = width < several.width ? 1 : Math.max(1, Math.floor(height / several.height));
  const mostColumns = Math.max(1, Math.floor((width + tileGap) / (several.width + tileGap)));
  const filled = detail.charts.slice(1).filter(({ curves }) => curves.some(({ series }) => series.y.length > 0));
  const shown = [...detail.charts.slice(0, 1), ...filled].slice(0, mostRows * mostColumns);
  const columns = Math.ceil(shown.length / mostRows);
  const rows = Math.ceil(shown.length / columns);
  return Array.from({ length: rows }, (_, row): Line[] => {
    const tiles = shown.slice(row * columns, (row + 1) * columns);
    const size = {
      width: tileWidth(width, tiles.length),
      height: Math.floor(((row + 1) * height) / rows) - Math.floor((row * height) / rows),
    };
    return sideBySide(
      tiles.map((data) => chartSection(data, detail, size)),
      size,
    );
  }).flat();
}

/** The selection: heading, curves, parameters, end of the log. */
export function detailPane(model: WindowModel, width: number, height: number): Line[] {
  const node = selectedNode(model);
  if (node === undefined) return [];
  const unstarted = unstartedDetail(node, model, width, height);
  if (unstarted !== null) return unstarted.map((line) => fitLine(line, width));
  const heading = headingOf(node, model, width);
  const parameters = parameterLines(selectedRuns(node), model.varying, width, Math.max(1, Math.floor(height / 7)));
  const rest = height - heading.length - parameters.length - 1;
  // A log without any metric takes the room of the chart.
  const chartHeight = hasOnlyLog(model, node) ? leastChart : rest - Math.floor(rest * 0.42);
  const logHeight = node.kind === 'run' && rest >= roomForLog ? rest - chartHeight : 0;
  const lines = [
    ...heading,
    ...chartGrid(model, width, rest - logHeight),
    sectionRule('parameters', [], width),
    ...parameters,
    ...(logHeight === 0 ? [] : logSection(model.detail.log, { offset: 0, wraps: false }, width, logHeight)),
  ];
  return lines.slice(0, height).map((line) => fitLine(line, width));
}

type DrawLines = (model: WindowModel, size: Size) => readonly Line[];

export const drawList: DrawLines = (model, { width, height }) => listPane(model, width, height);
export const drawRows: DrawLines = (model, { width, height }) => listRows(model, width, height);
export const drawDetail: DrawLines = (model, { width, height }) => detailPane(model, width, height);

/** The curve with its name, for small areas. */
export const drawStrip: DrawLines = (model, { width, height }) => {
  const node = selectedNode(model);
  const unstarted = node === undefined ? null : unstartedDetail(node, model, width, height);
  if (unstarted !== null) return unstarted.map((line) => fitLine(line, width));
  const first = model.detail.charts[0];
  const heading = node === undefined ? [] : headingOf(node, model, width);
  const rest = { width, height: height - heading.length };
  const curve = first === undefined ? [] : chartSection(first, model.detail, rest);
  return [...heading, ...curve].map((line) => fitLine(line, width));
};

/** The line between list and details. */
export const ruleLine: Line = [span(' │ ', 'faint')];

/** The whole screen, without components. */
export function jobsLines(model: WindowModel, size: Size, isSmall: boolean): readonly Line[] {
  const { list, strip, pane } = jobsLayout(size, { isSmall, rows: model.rows.length, wanted: model.ui.panes.list });
  const rows = (isSmall ? drawRows : drawList)(model, list);
  const right = pane === 0 ? [] : drawDetail(model, { width: pane, height: size.height });
  const upper = Array.from({ length: list.height }, (_, row) => {
    const line = fitLine(rows[row] ?? [], list.width);
    return pane === 0 ? line : [...line, ...ruleLine, ...(right[row] ?? [])];
  });
  return [...upper, ...(strip === 0 ? [] : drawStrip(model, { width: size.width, height: strip }))];
}

/** Minimum width for a pane beside the list; the next constant is the minimum height of the body for a curve below it. */
const wide = 100;
const tall = 25;
/** Rows of the column heading. */
const heading = 1;
/** Columns of the rule between list and pane, including margins. */
const ruleWidth = 3;

/** Least size of the list and of what is beside or below it, in columns and in rows. */
const leastColumns = { list: 40, pane: 24 };
const leastRows = { list: 5, strip: 6 };

/** Division of the jobs screen. `strip`: rows of the curve below the list; `pane`: columns beside it. */
type JobsLayout = { readonly list: Size; readonly strip: number; readonly pane: number };

/** What the layout depends on. `rows`: rows of the list; a short one leaves its room to the curve. `wanted`: as in `PaneSizes`. */
type ListContent = { readonly isSmall: boolean; readonly rows: number; readonly wanted: number | null };

export function jobsLayout({ width, height }: Size, { isSmall, rows, wanted }: ListContent): JobsLayout {
  if (isSmall) return { list: { width, height }, strip: 0, pane: 0 };
  if (width >= wide) {
    const usual = Math.max(58, Math.min(104, Math.floor(width * 0.6)));
    const most = width - ruleWidth - leastColumns.pane;
    const left = paneSize(wanted, { usual, least: leastColumns.list, most });
    return { list: { width: left, height }, strip: 0, pane: width - left - ruleWidth };
  }
  const most = height - (height >= tall ? Math.floor(height * 0.4) : 0);
  if (most === height) return { list: { width, height }, strip: 0, pane: 0 };
  const usual = Math.min(most, Math.max(6, rows + 2));
  const used = paneSize(wanted, { usual, least: leastRows.list, most: height - leastRows.strip });
  return { list: { width, height: used }, strip: height - used, pane: 0 };
}

/** Number of visible rows of runs and groups, which is the size of a page. */
export function listPage(body: Size, { isSmall, wanted }: Omit<ListContent, 'rows'>): number {
  // The list has all its room before it is known how many rows it has.
  const { list } = jobsLayout(body, { isSmall, rows: Infinity, wanted });
  return Math.max(1, isSmall ? list.height : list.height - heading);
}

/** Where the boundary of the layout is, for the keys that move it. */
export function listBoundary(body: Size, content: ListContent): KeyContext['boundary'] {
  const { list, strip, pane } = jobsLayout(body, content);
  if (pane > 0) return { size: list.width, step: 2 };
  return strip > 0 ? { size: list.height, step: 1 } : null;
}
