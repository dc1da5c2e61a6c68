import { assertNever } from '../../base/assert-never.js';
import type { MoveCommand } from '../state/command.js';
import { keyOf } from './key-map.js';
import { anotherLog } from '../state/log-choice.js';
import { moveCursor } from './chart-handler.js';
import { leaveFailures } from '../screens/jobs/failures-handler.js';
import { isReadingLog, scrollLog, stopSearch } from '../screens/run/log-handler.js';
import { isOnWall, leaveWall, moveOnWall, zoomChart } from './wall-handler.js';
import { scrollTo } from '../widgets/scroll.js';
import { distance, type Movement, type Handler, type Pressed, refuse, type KeyContext } from './key-context.js';
import type { Branch } from '../model/branch-index.js';
import type { Screen, UiState } from '../state/ui-state.js';
import { panesOf } from '../screens/run/open-tabs.js';

type OpenScreen = Extract<Screen, { kind: 'open' }>;

export const handleMove: Record<MoveCommand, Handler> = {
  up: (ui, at) => travel(ui, 'up', at),
  down: (ui, at) => travel(ui, 'down', at),
  'page-up': (ui, at) => travel(ui, 'page-up', at),
  'page-down': (ui, at) => travel(ui, 'page-down', at),
  first: (ui, at) => travel(ui, 'first', at),
  last: (ui, at) => travel(ui, 'last', at),
  jump,
  fold: (ui, at) => (ui.screen.kind === 'open' ? sideways(ui, ui.screen, -1, at) : fold(ui, at)),
  unfold: (ui, at) => (ui.screen.kind === 'open' ? sideways(ui, ui.screen, 1, at) : unfold(ui, at)),
  open,
  back,
  'next-pane': nextPane,
};

/** Through the list, the log of an open run, or the rows of another screen. */
function travel(ui: UiState, movement: Movement, at: KeyContext): Pressed {
  const { screen } = ui;
  switch (screen.kind) {
    case 'jobs':
      return move(ui, movement, at);
    case 'open':
      return scrollOpen(ui, screen, movement, at);
    case 'gpus': {
      const index = within(screen.index + distance(movement, at.page), at.screenLength - 1);
      return { ui: { ...ui, screen: { ...screen, index } } };
    }
    case 'compare':
    case 'sweep': {
      const top = within(screen.top + distance(movement, at.page), at.screenLength - at.page);
      return { ui: { ...ui, screen: { ...screen, top } } };
    }
    default:
      return assertNever(screen);
  }
}

function within(value: number, last: number): number {
  return Math.max(0, Math.min(last, value));
}

function move(ui: UiState, movement: Movement, at: KeyContext): Pressed {
  const last = at.rows.length - 1;
  if (last < 0) return refuse(ui, 'There is no run to go to.');
  const index = Math.min(last, Math.max(0, at.index + distance(movement, Math.max(1, at.page - 1))));
  if (index === at.index) return refuse(ui, index === 0 ? 'This is the first row.' : 'This is the last row.');
  return select(ui, index, at);
}

/** Selects a row and scrolls as little as needed to show it. */
export function select(ui: UiState, index: number, { rows, page }: KeyContext): Pressed {
  const top = scrollTo(index, ui.top, page, rows.length);
  return { ui: { ...ui, selected: rows[index]?.key ?? null, index, top } };
}

function jump(ui: UiState, at: KeyContext, key: string): Pressed {
  const number = key === '0' ? 10 : Number(key);
  const group = at.groups[number - 1];
  if (group === undefined) return refuse(ui, `There is no group ${number}; there are ${at.groups.length}.`);
  const row = rowOf(at, group.key);
  return row < 0 ? refuse(ui, noGroups) : select(ui, row, at);
}

const noGroups = 'The list has no groups.';

function fold(ui: UiState, at: KeyContext): Pressed {
  const node = at.rows[at.index];
  if (node === undefined) return refuse(ui, 'There is nothing to fold.');
  if (node.kind === 'run' || at.isFolded(node)) {
    if (node.parent === null) return refuse(ui, 'This group is folded already; → unfolds it.');
    const row = rowOf(at, node.parent);
    return row < 0 ? refuse(ui, noGroups) : select(ui, row, at);
  }
  return { ui: withFold(ui, node.key, true) };
}

function rowOf({ rows }: KeyContext, key: string): number {
  return rows.findIndex((row) => row.key === key);
}

function unfold(ui: UiState, at: KeyContext): Pressed {
  const node = at.rows[at.index];
  if (node === undefined) return refuse(ui, 'There is nothing to unfold.');
  if (node.kind === 'run') return refuse(ui, 'A run has nothing to unfold; Enter opens it.');
  if (!at.isFolded(node)) return select(ui, at.index + 1, at);
  return { ui: withFold(ui, node.key, false) };
}

function withFold(ui: UiState, key: string, isFolded: boolean): UiState {
  return { ...ui, folds: new Map(ui.folds).set(key, isFolded) };
}

function open(ui: UiState, at: KeyContext): Pressed {
  if (isOnWall(ui)) return zoomChart(ui, at);
  if (ui.screen.kind === 'open') return refuse(ui, 'It is open; Esc goes back.');
  const node = at.rows[at.index];
  if (node === undefined) return refuse(ui, 'There is no run to open.');
  if (node.kind !== 'run' && node.isFailure) return openExample(ui, node, at);
  return { ui: { ...ui, log: anotherLog(ui.log), screen: { kind: 'open', pane: 'log', offset: 0 } } };
}

/** The log of a run that failed so, at its error; the others are beside it. */
function openExample(ui: UiState, failure: Branch, { index }: KeyContext): Pressed {
  const selected = failure.runs[0]!.id;
  const shown = { ...withFold(ui, failure.key, false), selected, index: index + 1 };
  return { ui: { ...shown, log: anotherLog(ui.log), screen: { kind: 'open', pane: 'log', offset: 0 } } };
}

function back(ui: UiState): Pressed {
  const stopped = stopSearch(ui);
  if (stopped !== null) return stopped;
  const onWall = leaveWall(ui);
  if (onWall !== null) return onWall;
  if (ui.screen.kind !== 'jobs') return { ui: { ...ui, screen: { kind: 'jobs' } } };
  const left = leaveFailures(ui);
  if (left !== null) return left;
  if (ui.filter !== '') return { ui: { ...ui, filter: '', note: { text: 'Showing all runs.', tone: 'dim' } } };
  return refuse(ui, `There is nothing to go back to; ${keyOf('leave', ui.keys)} detaches.`);
}

/** ← and → on the open screen: the cursor of the charts, or another run. */
function sideways(ui: UiState, open: OpenScreen, direction: -1 | 1, at: KeyContext): Pressed {
  if (open.pane === 'charts') return moveCursor(ui, direction < 0 ? 'left' : 'right', at);
  return step(ui, open, direction, at);
}

/** To the run before or after, of all the list; the pane stays. */
function step(ui: UiState, open: OpenScreen, direction: -1 | 1, at: KeyContext): Pressed {
  for (let index = at.index + direction; index >= 0 && index < at.rows.length; index += direction) {
    if (at.rows[index]!.kind !== 'run') continue;
    const { ui: moved } = select(ui, index, at);
    return { ui: { ...moved, log: anotherLog(ui.log), screen: { ...open, offset: 0 } } };
  }
  return refuse(ui, direction < 0 ? 'There is no run before this one.' : 'There is no run after this one.');
}

/** Through the log of a run, or the lines of another pane. */
function scrollOpen(ui: UiState, open: OpenScreen, movement: Movement, at: KeyContext): Pressed {
  if (isReadingLog(ui, at)) return scrollLog(ui, movement, at);
  if (open.pane === 'charts') return moveOnWall(ui, movement, at);
  const { focus } = at;
  if (focus === null) return refuse(ui, 'This run is no longer in the list; Esc goes back.');
  const page = Math.max(1, focus.height - 1);
  const most = Math.max(0, focus.length - page);
  const offset = within(Math.min(open.offset, most) + distance(movement, page), most);
  if (offset !== open.offset) return { ui: { ...ui, screen: { ...open, offset } } };
  return refuse(ui, most === 0 ? 'All of it is shown.' : offset === 0 ? 'This is the first line.' : 'This is the end.');
}

function nextPane(ui: UiState, at: KeyContext): Pressed {
  if (ui.screen.kind !== 'open') return refuse(ui, 'Open a run first: Enter.');
  const panes = panesOf(at.rows[at.index]?.kind ?? 'run');
  const pane = panes[(panes.indexOf(ui.screen.pane) + 1) % panes.length]!;
  return { ui: { ...ui, screen: { kind: 'open', pane, offset: 0 } } };
}
