import type { DiskUsage } from '../../../files/disk/disk-usage.js';
import { hasEnded } from '../../../base/run-words.js';
import type { Samples } from '../../../logs/samples.js';
import { textWidth } from '../../../text/display-width.js';
import { fitDistinct } from '../../../text/distinct-names.js';
import { shortDuration } from '../../../text/duration.js';
import { narrowNumber } from '../../../text/numbers.js';
import type { RunDetails, RunSummary } from '../../state/port.js';
import type { LogPage } from '../../widgets/log/log-page.js';
import type { OpenPane } from '../../state/ui-state.js';
import { attemptLines } from './attempts-pane.js';
import { labelsOf } from '../../model/tree/branch-facts.js';
import type { Branch, RunNode, TreeNode } from '../../model/tree/branch-index.js';
import { chartWall, type Wall, wallPage } from '../../widgets/chart/chart-wall.js';
import { paneSize } from '../../state/pane-sizes.js';
import { wallPosition, wallTiles } from '../../state/wall-choice.js';
import { configLines } from './config-pane.js';
import { detailHeading } from '../../widgets/detail-heading.js';
import { logPane } from '../../widgets/log/log-pane.js';
import { openTabs } from './open-tabs.js';
import { type PinnedSamples, sampleLines } from './samples-pane.js';
import { parameterLines } from '../../widgets/parameters.js';
import { inFocus, sectionRule } from '../../widgets/section.js';
import { shortKey } from '../../widgets/short-key.js';
import { blank, fit, fitLine, fitRight, type Line, lineWidth, span } from '../../surface/span.js';
import { isUnstarted } from '../../model/run-reason.js';
import { stateLook } from '../../model/state-look.js';
import { elapsed } from '../../model/tally.js';
import { selectedNode, selectedRuns, type WindowModel } from '../../model/window-model.js';

/** Data that only the screen of a run shows. */
export type RunFiles = {
  /** The log, and the percentage of it that a search has covered; null: a group has no log. */
  readonly log: { readonly page: LogPage | null; readonly progress: number | null } | null;
  /** Recorded details of the run; undefined until they have been read. */
  readonly details: RunDetails | null | undefined;
  /** Disk usage; null: not measured, which is done only while the configuration is shown. */
  readonly disk: DiskUsage | null;
  /** What its model wrote; undefined until it has been read, which is done only while it is shown; null: it cannot be. */
  readonly samples: Samples | null | undefined;
  /** The pinned run and its samples, read while they are beside; null: no other run is pinned. */
  readonly pinned: PinnedSamples | null;
};

/** Everything the screen is drawn from. */
type OpenModel = RunFiles & Pick<WindowModel, 'ui' | 'rows' | 'index' | 'now' | 'detail' | 'varying' | 'metric'>;

export function openModel({ ui, rows, index, now, detail, varying, metric }: WindowModel, files: RunFiles): OpenModel {
  return { ui, rows, index, now, detail, varying, metric, ...files };
}

/** The selection on the whole screen: charts, log, configuration and attempts, as far as they fit. */
export function openScreen(model: OpenModel, width: number, height: number): Line[] {
  const node = selectedNode(model);
  if (node === undefined) return [[span(' This run is no longer in the list; Esc goes back.', 'dim')]];
  const { heading, layout } = openParts(node, model, width, height);
  const focus = focusOf(model, node);
  const charts = layout.charts === null ? [] : drawPane(node, model, layout.charts, focus);
  const columns = layout.lower.map((rooms) => rooms.flatMap((room) => drawPane(node, model, room, focus)));
  const rows = Math.max(0, ...columns.map(({ length }) => length));
  const lower = Array.from({ length: rows }, (_, row): Line =>
    columns.flatMap((lines, column) => [
      ...(column > 0 ? [span(' '.repeat(paneGap))] : []),
      ...(lines[row] ?? blank(layout.lower[column]![0]!.width)),
    ]),
  );
  return [...heading, ...charts, ...lower].map((line) => fitLine(line, width));
}

/**
 * Size of the pane in use and its number of lines; for charts, the number of visible and of all charts. Null: the pane is not
 * visible.
 */
export function openFocus(
  model: OpenModel,
  width: number,
  height: number,
): { width: number; height: number; length: number } | null {
  const node = selectedNode(model);
  if (node === undefined) return null;
  const { layout } = openParts(node, model, width, height);
  const room = focusedRoom(layout, focusOf(model, node));
  if (room === null) return null;
  const seen = room.pane === 'charts' ? wallPage(wallOf(model), room) : room.height;
  return { width: room.width, height: seen, length: paneLength(node, model, room) };
}

/** The boundary below the charts: the rows of the charts, and the row of the screen on which the panes below begin; null: none. */
export function openBoundary(
  model: OpenModel,
  width: number,
  height: number,
): { readonly size: number; readonly row: number } | null {
  const node = selectedNode(model);
  if (node === undefined) return null;
  const { heading, layout } = openParts(node, model, width, height);
  if (layout.charts === null || layout.lower.length === 0) return null;
  return { size: layout.charts.height, row: heading.length + layout.charts.height };
}

/** The charts that match the filter, and the marked one. */
export function wallOf({ detail, ui, metric }: Pick<WindowModel, 'detail' | 'ui' | 'metric'>): Wall {
  const { filter, isZoomed } = ui.wall;
  const all = detail.wall();
  const tiles = wallTiles(all, ui.wall);
  const at = wallPosition(tiles, ui.wall, metric);
  return { tiles, chartOf: detail.chartOf, setting: detail, at, isZoomed, filter, of: all.metrics.length };
}

/** The pane in use. A group has only charts and runs. */
function focusOf({ ui }: OpenModel, { kind }: TreeNode): OpenPane {
  const pane = ui.screen.kind === 'run' ? ui.screen.pane : 'log';
  return kind === 'run' || pane === 'charts' ? pane : 'log';
}

function openParts(
  node: TreeNode,
  model: OpenModel,
  width: number,
  height: number,
): { heading: Line[]; layout: OpenLayout } {
  const focus = focusOf(model, node);
  const heading = withTabs(detailHeading(node, width, model.now), openTabs(node.kind, focus), width);
  // Parameters are left out of a low window and above the config pane, which shows all of them.
  const most = height < 15 || focus === 'config' ? 0 : Math.max(1, Math.floor(height / 16));
  const parameters = parameterLines(selectedRuns(node), model.varying, width, most);
  const content = {
    kind: node.kind === 'run' ? ('run' as const) : ('group' as const),
    focus,
    hasCharts:
      (node.kind !== 'run' || !isUnstarted(node.run)) &&
      (model.detail.wall().metrics.length > 0 || !model.detail.isLoaded),
    rows: node.kind === 'run' ? Math.max(1, node.run.attempt) : node.runs.length,
    wanted: model.ui.panes.charts,
  };
  const kept = height < 12 ? heading.slice(0, 2) : heading;
  const above = [...kept, ...parameters];
  return { heading: above, layout: openLayout(content, width, height - above.length) };
}

/** Adds the names of the panes at the right end of the first line, if enough room remains for its left end. */
function withTabs([first, ...others]: Line[], tabs: Line, width: number): Line[] {
  return [tabbed(first ?? [], tabs, width), ...others];
}

function tabbed(first: Line, tabs: Line, width: number): Line {
  const room = width - lineWidth(tabs) - 2;
  return room < 24 ? first : [...fitLine(first, room), span('  '), ...tabs];
}

/** Draws a pane as exactly the lines of its room. */
function drawPane(node: TreeNode, model: OpenModel, room: PaneRoom, focus: OpenPane): Line[] {
  const drawn = node.kind === 'run' ? runPane(node, model, room) : groupPane(node, model, room);
  const lines = room.pane === focus ? [inFocus(drawn[0] ?? []), ...drawn.slice(1)] : drawn;
  return Array.from({ length: room.height }, (_, row) => fitLine(lines[row] ?? [], room.width));
}

function groupPane(branch: Branch, model: OpenModel, { pane, width, height }: PaneRoom): Line[] {
  const top = offsetOf(model, pane, 'log');
  if (pane === 'charts') return chartWall(wallOf(model), { width, height });
  return runTable(branch, model, { width, height, top });
}

function runPane(node: RunNode, model: OpenModel, room: PaneRoom): Line[] {
  const { pane, width, height } = room;
  const top = offsetOf(model, pane, pane);
  if (pane === 'charts') return chartWall(wallOf(model), { width, height });
  if (pane === 'log') return logPane(shownLog(node.run, model), { width, height });
  return textPane(pane, textLines(node.run, model, room), { width, height, top });
}

/** Scroll offset of a pane; only the one in use is scrolled. */
function offsetOf({ ui }: OpenModel, pane: OpenPane, focus: OpenPane): number {
  return ui.screen.kind === 'run' && ui.screen.pane === focus && pane === focus ? ui.screen.offset : 0;
}

function shownLog(run: RunSummary, model: OpenModel): Parameters<typeof logPane>[0] {
  const { page, progress } = model.log ?? { page: null, progress: null };
  return { page, progress, choice: model.ui.log, isLive: !hasEnded(run.state) };
}

function textLines(run: RunSummary, model: OpenModel, { pane, width }: PaneRoom): Line[] {
  const { details, disk, varying, samples, pinned, ui } = model;
  if (pane === 'samples') {
    const { directory } = run;
    return sampleLines({ samples, pinned, directory, choice: ui.samples, search: ui.log.search }, width);
  }
  return pane === 'config'
    ? configLines({ run, details, disk, varying, metrics: model.detail.report?.() ?? null }, width)
    : attemptLines({ run, details, now: model.now }, width);
}

type TextRoom = { width: number; height: number; top: number };

/** The visible part of a text that may be longer than its pane. */
function textPane(title: string, lines: readonly Line[], { width, height, top }: TextRoom): Line[] {
  const shown = lines.slice(top, top + height - 1);
  const below = lines.length - top - shown.length;
  return [sectionRule(title, below > 0 ? [span(`${below} below`, 'faint')] : [], width), ...shown];
}

/** Number of lines of a pane that can be scrolled through; 0 for a log, which scrolls by itself. */
function paneLength(node: TreeNode, model: OpenModel, room: PaneRoom): number {
  const { pane } = room;
  if (pane === 'charts') return wallOf(model).tiles.length;
  if (node.kind !== 'run') return node.runs.length + 1;
  return pane === 'log' ? 0 : textLines(node.run, model, room).length;
}

/** One row per run of a group, with the last values of the shown metrics. */
function runTable(branch: Branch, model: OpenModel, { width, height, top }: TextRoom): Line[] {
  const labels = labelsOf(branch, model.ui.isAscii ? 'ascii' : '');
  const nameWidth = Math.min(40, Math.max('run'.length, ...labels.map(textWidth)));
  const keys = model.detail.charts.map(({ metric }) => metric).slice(0, Math.floor((width - nameWidth - 12) / 12));
  const head = `  ${fit('run', nameWidth)}  ${fitRight('time', 7)} ${keys.map((key) => fitRight(shortKey(key), 11)).join(' ')}`;
  const rows = branch.runs
    .slice(top, top + Math.max(0, height - 2))
    .map((run, row) => tableRow(run, fitDistinct(labels[top + row]!, nameWidth, labels), keys, model.now));
  const below = branch.runs.length - top - rows.length;
  return [
    sectionRule('runs', below > 0 ? [span(`${below} below`, 'faint')] : [], width),
    [span(head, 'faint')],
    ...rows,
  ];
}

function tableRow(run: RunSummary, name: string, keys: readonly string[], now: number): Line {
  const look = stateLook[run.state];
  const time = elapsed(run, now);
  const values = keys.map((key) => run.metrics[key]);
  return [
    span(`${look.glyph} `, look.tone),
    span(name),
    span(`  ${fitRight(time === null ? '' : shortDuration(time), 7)} `, 'dim'),
    ...values.map((value) =>
      span(` ${fitRight(typeof value === 'number' ? narrowNumber(value) : '', 11)}`.slice(1) + ' ', 'value'),
    ),
  ];
}

/** Position of a pane on the open screen. */
type PaneRoom = { readonly pane: OpenPane; readonly width: number; readonly height: number };

/** Charts at the top; below them columns of panes, side by side. */
type OpenLayout = { readonly charts: PaneRoom | null; readonly lower: readonly (readonly PaneRoom[])[] };

/** What to lay out. `rows`: attempts of a run, or runs of a group. `hasCharts`: whether there is a curve, or may be one soon. */
export type OpenContent = {
  readonly kind: 'run' | 'group';
  readonly focus: OpenPane;
  readonly hasCharts: boolean;
  readonly rows: number;
  /** Rows of the charts, as in `PaneSizes`. */
  readonly wanted: number | null;
};

/** Columns between two panes beside each other. */
export const paneGap = 3;

/**
 * Minimum rows for showing more than the pane in use. The next constant is the minimum number of columns for a second pane beside
 * the log.
 */
const leastRows = 18;
const leastPane = 5;
const wideColumns = 140;
const tallRows = 16;

/** Positions of the panes on `height` rows below the heading. */
export function openLayout(content: OpenContent, width: number, height: number): OpenLayout {
  const { focus, hasCharts } = content;
  if (height < leastRows) {
    const room = { pane: focus, width, height };
    return focus === 'charts' ? { charts: room, lower: [] } : { charts: null, lower: [[room]] };
  }
  if (focus === 'charts') return { charts: { pane: focus, width, height }, lower: [] };
  // Texts need the room.
  if (focus === 'samples') return { charts: null, lower: [[{ pane: focus, width, height }]] };
  if (!hasCharts) return { charts: null, lower: lowerPanes(content, width, height) };
  const half = Math.floor(height * 0.5);
  // A group of few runs leaves its room to the charts.
  const usual = content.kind === 'group' ? Math.max(half, height - content.rows - 2) : half;
  const above = paneSize(content.wanted, { usual, least: leastPane, most: height - leastPane });
  return { charts: { pane: 'charts', width, height: above }, lower: lowerPanes(content, width, height - above) };
}

/** The panes below the charts: the log, or the pane in use instead of it or beside it. */
function lowerPanes({ kind, focus, rows }: OpenContent, width: number, height: number): PaneRoom[][] {
  const pane = focus === 'charts' ? 'log' : focus;
  if (kind === 'group') return [[{ pane: 'log', width, height }]];
  if (width < wideColumns) return [[{ pane, width, height }]];
  const side = Math.floor((width - paneGap) * 0.42);
  const log = { pane: 'log' as const, width: width - paneGap - side, height };
  if (height < tallRows) return [[log], [{ pane: pane === 'log' ? 'config' : pane, width: side, height }]];
  const below = Math.min(rows + 2, Math.floor(height * 0.4));
  return [
    [log],
    [
      { pane: 'config', width: side, height: height - below },
      { pane: 'attempts', width: side, height: below },
    ],
  ];
}

/** Size of the pane in use. */
export function focusedRoom({ charts, lower }: OpenLayout, focus: OpenPane): PaneRoom | null {
  if (focus === 'charts') return charts;
  return lower.flat().find(({ pane }) => pane === focus) ?? null;
}
