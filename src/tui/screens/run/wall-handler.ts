import { cleanText } from '../../../text/display-text.js';
import { lineOf } from '../../state/line-editor.js';
import type { UiState } from '../../state/ui-state.js';
import { type WallChoice, wallPosition, type WallTile, wallTiles } from '../../state/run-choice.js';
import { nextYAxis, nextYAxisOf } from '../../keys/chart-handler.js';
import { runContext } from './log-handler.js';
import { distance, type KeyContext, type Movement, type Pressed, refuse } from '../../keys/key-context.js';

/** Whether keys act on the charts of an open run or group. */
export function isOnWall({ screen }: UiState): boolean {
  return screen.kind === 'run' && screen.pane === 'charts';
}

/** Marks another chart; the page follows. */
export function moveOnWall(ui: UiState, movement: Movement, at: KeyContext): Pressed {
  const tiles = tilesOf(ui, at);
  if (tiles.length === 0) return refuse(ui, 'There is no chart to go to.');
  const from = wallPosition(tiles, ui.wall, at.metric);
  const wanted = from + distance(movement, Math.max(1, runContext(ui, at).focus?.height ?? 1));
  const next = Math.max(0, Math.min(tiles.length - 1, wanted));
  if (next === from) return refuse(ui, next === 0 ? 'This is the first chart.' : 'This is the last chart.');
  return chooseOnWall(ui, { at: tiles[next]!.metric });
}

/** Shows only the marked chart, or all charts again. */
export function zoomChart(ui: UiState, at: KeyContext): Pressed {
  const isEmpty = tilesOf(ui, at).length === 0;
  return isEmpty ? refuse(ui, 'There is no chart to zoom.') : chooseOnWall(ui, { isZoomed: !ui.wall.isZoomed });
}

/** Changes the y axis of the marked chart; while another pane is in use, of all charts. */
export function nextYAxisOnWall(ui: UiState, at: KeyContext, key: string): Pressed {
  if (!isOnWall(ui)) return nextYAxis(ui, at, key);
  const tiles = tilesOf(ui, at);
  const tile = tiles[wallPosition(tiles, ui.wall, at.metric)];
  return tile === undefined ? refuse(ui, 'There is no chart with an axis.') : nextYAxisOf(ui, tile.metric);
}

/** Gives metrics that are alike the marked one their own charts, or hides these again. */
export function openAlike(ui: UiState, at: KeyContext): Pressed {
  const tiles = tilesOf(ui, at);
  const tile = tiles[wallPosition(tiles, ui.wall, at.metric)];
  const { opened } = ui.wall;
  if (tile === undefined) return refuse(ui, 'There is no chart to open.');
  if (tile.isOpened) return chooseOnWall(ui, { opened: opened.filter((family) => family !== tile.family) });
  if (tile.alike.length === 0) return refuse(ui, `No other metric shows the same as ${cleanText(tile.metric)}.`);
  return chooseOnWall(ui, { opened: [...opened, tile.family], at: tile.metric });
}

function tilesOf({ wall }: UiState, at: KeyContext): WallTile[] {
  return wallTiles(at.wall?.() ?? { metrics: [], firstOf: new Map() }, wall);
}

/** Undoes the choices made on the wall, one at a time; null: there were none. */
export function leaveWall(ui: UiState): Pressed | null {
  if (!isOnWall(ui)) return null;
  if (ui.wall.isZoomed) return chooseOnWall(ui, { isZoomed: false });
  return ui.wall.filter === '' ? null : chooseOnWall(ui, { filter: '' });
}

export function askWallFilter(ui: UiState): Pressed {
  const { filter } = ui.wall;
  return { ui: { ...ui, dialog: { kind: 'wall-filter', line: lineOf(filter), before: filter } } };
}

/** Changes part of the choices of the wall. */
export function chooseOnWall(ui: UiState, change: Partial<WallChoice>): Pressed {
  return { ui: { ...ui, wall: { ...ui.wall, ...change } } };
}
