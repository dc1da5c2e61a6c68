import { lineOf } from '../../state/line-editor.js';
import type { UiState } from '../../state/ui-state.js';
import { filteredMetrics, type WallChoice, wallPosition } from '../../state/wall-choice.js';
import { runContext } from './log-handler.js';
import { distance, type KeyContext, type Movement, type Pressed, refuse } from '../../keys/key-context.js';

/** Whether keys act on the charts of an open run or group. */
export function isOnWall({ screen }: UiState): boolean {
  return screen.kind === 'run' && screen.pane === 'charts';
}

/** Marks another chart; the page follows. */
export function moveOnWall(ui: UiState, movement: Movement, at: KeyContext): Pressed {
  const metrics = filteredMetrics(at.wall?.() ?? [], ui.wall.filter);
  if (metrics.length === 0) return refuse(ui, 'There is no chart to go to.');
  const from = wallPosition(metrics, ui.wall, at.metric);
  const wanted = from + distance(movement, Math.max(1, runContext(ui, at).focus?.height ?? 1));
  const next = Math.max(0, Math.min(metrics.length - 1, wanted));
  if (next === from) return refuse(ui, next === 0 ? 'This is the first chart.' : 'This is the last chart.');
  return chooseOnWall(ui, { at: metrics[next]! });
}

/** Gives the marked chart the pane to itself, or gives it back to all of them. */
export function zoomChart(ui: UiState, at: KeyContext): Pressed {
  const isEmpty = filteredMetrics(at.wall?.() ?? [], ui.wall.filter).length === 0;
  return isEmpty ? refuse(ui, 'There is no chart to zoom.') : chooseOnWall(ui, { isZoomed: !ui.wall.isZoomed });
}

/** Takes back what was chosen on the wall, one thing at a time; null: nothing was. */
export function leaveWall(ui: UiState): Pressed | null {
  if (!isOnWall(ui)) return null;
  if (ui.wall.isZoomed) return chooseOnWall(ui, { isZoomed: false });
  return ui.wall.filter === '' ? null : chooseOnWall(ui, { filter: '' });
}

export function askWallFilter(ui: UiState): Pressed {
  const { filter } = ui.wall;
  return { ui: { ...ui, dialog: { kind: 'wall-filter', line: lineOf(filter), before: filter } } };
}

/** What is shown of the charts, changed in part. */
export function chooseOnWall(ui: UiState, change: Partial<WallChoice>): Pressed {
  return { ui: { ...ui, wall: { ...ui.wall, ...change } } };
}
