import type { OpenPane } from '../ui-state.js';

/** A part of the open screen. */
export type PaneRoom = { readonly pane: OpenPane; readonly width: number; readonly height: number };

/** Charts above; below them the lower panes, side by side, one below the other within a column. */
export type OpenLayout = { readonly charts: PaneRoom | null; readonly lower: readonly (readonly PaneRoom[])[] };

/** What is laid out. `rows`: attempts of a run, or runs of a group. `hasCharts`: whether there is a curve, or may be one soon. */
export type OpenContent = {
  readonly kind: 'run' | 'group';
  readonly focus: OpenPane;
  readonly hasCharts: boolean;
  readonly rows: number;
};

/** Columns between two panes beside each other. */
export const paneGap = 3;

/** Below this many rows only the pane in use is shown; from these columns on a second one stands beside the log. */
const leastRows = 18;
const wideColumns = 140;
const tallRows = 16;

/** Where each pane is, on so many rows below the heading. */
export function openLayout(content: OpenContent, width: number, height: number): OpenLayout {
  const { focus, hasCharts } = content;
  if (height < leastRows) {
    const room = { pane: focus, width, height };
    return focus === 'charts' ? { charts: room, lower: [] } : { charts: null, lower: [[room]] };
  }
  const share = focus === 'charts' ? 0.64 : 0.5;
  const wanted = hasCharts || focus === 'charts' ? Math.floor(height * share) : 0;
  // A group of few runs leaves its room to the charts.
  const above = content.kind === 'group' && wanted > 0 ? Math.max(wanted, height - content.rows - 2) : wanted;
  const charts = above === 0 ? null : { pane: 'charts' as const, width, height: above };
  return { charts, lower: lowerPanes(content, width, height - above) };
}

/** The log, and what it gives way to or has beside it. */
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

/** The room of the pane in use. */
export function focusedRoom({ charts, lower }: OpenLayout, focus: OpenPane): PaneRoom | null {
  if (focus === 'charts') return charts;
  return lower.flat().find(({ pane }) => pane === focus) ?? null;
}
