import type { DiskUsage } from '../../../files/disk/disk-usage.js';
import type { Samples } from '../../../logs/samples.js';
import { isUnstarted } from '../../model/state-look.js';
import type { TreeNode } from '../../model/tree/branch.js';
import { selectedNode, selectedRuns, type WindowModel } from '../../model/window-model.js';
import { paneSize } from '../../state/preferences-port.js';
import type { RunDetails } from '../../state/port.js';
import { wallPosition, wallTiles } from '../../state/run-choice.js';
import { fitLine, type Line, lineWidth, onBackground, span } from '../../surface/span.js';
import type { Size } from '../../surface/surface.js';
import { type Wall, wallPage } from '../../widgets/chart/chart-wall.js';
import { detailHeading } from '../../widgets/detail-heading.js';
import type { LogPage } from '../../widgets/log/log-scroll.js';
import { parameterLines } from '../../widgets/parameters.js';
import type { PinnedSamples } from './samples-pane.js';

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

/** The panes of an open run or group that movement keys can act on. */
export const openPanes = ['log', 'charts', 'config', 'attempts', 'samples'] as const;
export type OpenPane = (typeof openPanes)[number];

/** The part of the body that an open run fills: all of it on a small screen, otherwise without one column on each side. */
export function runArea({ width, height }: Size, isSmall: boolean): Size {
  return { width: isSmall ? width : width - 2, height };
}

/** The charts that match the filter, and the marked one. */
export function wallOf({ detail, ui, metric }: Pick<WindowModel, 'detail' | 'ui' | 'metric'>): Wall {
  const { filter, isZoomed } = ui.wall;
  const all = detail.wall();
  const tiles = wallTiles(all, ui.wall);
  const at = wallPosition(tiles, ui.wall, metric);
  return { tiles, chartOf: detail.chartOf, setting: detail, at, isZoomed, filter, of: all.metrics.length };
}

/** The screen of the selected run or group: its heading with the parameters, the pane in use, and the positions of the panes. */
export type OpenRun = {
  readonly node: TreeNode;
  readonly heading: readonly Line[];
  readonly focus: OpenPane;
  readonly layout: OpenLayout;
};

export function openRun(node: TreeNode, model: WindowModel, { width, height }: Size): OpenRun {
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
  const above = [...(height < 12 ? heading.slice(0, 2) : heading), ...parameters];
  return { node, heading: above, focus, layout: openLayout(content, width, height - above.length) };
}

/** The pane in use. A group has only charts and runs. */
function focusOf({ ui }: WindowModel, { kind }: TreeNode): OpenPane {
  const pane = ui.screen.kind === 'run' ? ui.screen.pane : 'log';
  return kind === 'run' || pane === 'charts' ? pane : 'log';
}

/** Size of the pane in use; for charts, `height` is the number of visible ones. Null: the pane is not visible. */
export function openFocus(model: WindowModel, size: Size): Size | null {
  const node = selectedNode(model);
  if (node === undefined) return null;
  const { layout, focus } = openRun(node, model, size);
  const room = focusedRoom(layout, focus);
  if (room === null) return null;
  return { width: room.width, height: room.pane === 'charts' ? wallPage(wallOf(model), room) : room.height };
}

/** The boundary below the charts: the rows of the charts, and the row of the screen on which the panes below begin; null: none. */
export function openBoundary(model: WindowModel, size: Size): { readonly size: number; readonly row: number } | null {
  const node = selectedNode(model);
  const open = node && openRun(node, model, size);
  if (open === undefined || open.layout.charts === null || open.layout.lower.length === 0) return null;
  const { height } = open.layout.charts;
  return { size: height, row: open.heading.length + height };
}

/** Adds the names of the panes at the right end of the first line, if enough room remains for its left end. */
function withTabs([first = [], ...others]: Line[], tabs: Line, width: number): Line[] {
  const room = width - lineWidth(tabs) - 2;
  return [room < 24 ? first : [...fitLine(first, room), span('  '), ...tabs], ...others];
}

/** Names of the panes with the one in use marked: `log │ charts │ config │ attempts`. */
function openTabs(kind: TreeNode['kind'], focus: OpenPane): Line {
  return panesOf(kind).flatMap((pane, index): Line => {
    const name = ` ${pane === 'log' && kind !== 'run' ? 'runs' : pane} `;
    const tab = pane === focus ? onBackground([span(name, 'strong')], 'selected') : [span(name, 'dim')];
    return index === 0 ? tab : [span('│', 'faint'), ...tab];
  });
}

/** The panes of an open run or group. */
export function panesOf(kind: TreeNode['kind']): readonly OpenPane[] {
  return kind === 'run' ? openPanes : ['log', 'charts'];
}

/** Position of a pane on the open screen. */
export type PaneRoom = { readonly pane: OpenPane; readonly width: number; readonly height: number };

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
