import { type Command } from './command.js';
import { commandFor } from './key-map.js';
import { pressInDialog } from './press-dialog.js';
import { askKill, askKillGroup, resume, resumeGroup } from './press-order.js';
import { toggleGroupHold, toggleGroupPause, toggleHold, togglePause } from './press-toggle.js';
import { scrollTo } from './scroll.js';
import { distance, type Movement, type Pressed, refuse, type Situation } from './situation.js';
import { type UiState } from './ui-state.js';
import { sorts } from './view/sort.js';

/** One key: the state after it, and what has to be done outside. A key that does nothing leaves a note that says why. */
export function press(ui: UiState, key: string, situation: Situation): Pressed {
  const quiet = { ...ui, note: null };
  if (key === 'ctrl-c') return { ui: quiet, order: { type: 'leave' } };
  if (key === 'ctrl-l') return { ui: quiet, order: { type: 'repaint' } };
  if (key === 'ctrl-z') return { ui: quiet, order: { type: 'suspend' } };
  if (ui.dialog.kind !== 'none') return pressInDialog(quiet, ui.dialog, key, situation);
  const command = commandFor(key);
  if (command === undefined) return refuse(quiet, `${key} does nothing here; ? shows the keys.`);
  return obey[command](quiet, situation, key);
}

type Obey = (ui: UiState, at: Situation, key: string) => Pressed;

const obey: Record<Command, Obey> = {
  up: (ui, at) => travel(ui, 'up', at),
  down: (ui, at) => travel(ui, 'down', at),
  'page-up': (ui, at) => travel(ui, 'page-up', at),
  'page-down': (ui, at) => travel(ui, 'page-down', at),
  first: (ui, at) => travel(ui, 'first', at),
  last: (ui, at) => travel(ui, 'last', at),
  jump,
  fold: (ui, at) => (ui.screen.kind === 'open' ? step(ui, -1, at) : fold(ui, at)),
  unfold: (ui, at) => (ui.screen.kind === 'open' ? step(ui, 1, at) : unfold(ui, at)),
  open,
  back,
  kill: askKill,
  'kill-group': askKillGroup,
  resume,
  'resume-group': resumeGroup,
  hold: toggleHold,
  'hold-group': toggleGroupHold,
  pause: togglePause,
  'pause-group': toggleGroupPause,
  filter: (ui) => ({
    ui: { ...ui, screen: { kind: 'jobs' }, dialog: { kind: 'filter', text: ui.filter, before: ui.filter } },
  }),
  sort: nextSort,
  metric: chooseMetric,
  table: showTable,
  help: (ui) => ({ ui: { ...ui, dialog: { kind: 'help', top: 0 } } }),
  repaint: (ui) => ({ ui, order: { type: 'repaint' } }),
  suspend: (ui) => ({ ui, order: { type: 'suspend' } }),
  leave: (ui) => ({ ui, order: { type: 'leave' } }),
};

/** Through the list, or through the log of an open run. */
function travel(ui: UiState, movement: Movement, at: Situation): Pressed {
  return ui.screen.kind === 'open' ? scrollOpen(ui, ui.screen.offset, movement, at) : move(ui, movement, at);
}

function move(ui: UiState, movement: Movement, at: Situation): Pressed {
  const last = at.rows.length - 1;
  if (last < 0) return refuse(ui, 'There is no run to go to.');
  const index = Math.min(last, Math.max(0, at.index + distance(movement, Math.max(1, at.page - 1))));
  if (index === at.index) return refuse(ui, index === 0 ? 'This is the first row.' : 'This is the last row.');
  return select(ui, index, at);
}

/** Selects a row and scrolls as little as needed to show it. */
export function select(ui: UiState, index: number, { rows, page }: Situation): Pressed {
  const top = scrollTo(index, ui.top, page, rows.length);
  return { ui: { ...ui, selected: rows[index]?.key ?? null, index, top } };
}

function jump(ui: UiState, at: Situation, key: string): Pressed {
  const number = key === '0' ? 10 : Number(key);
  const group = at.groups[number - 1];
  if (group === undefined) return refuse(ui, `There is no group ${number}; there are ${at.groups.length}.`);
  return select(ui, rowOf(at, group.key), at);
}

function fold(ui: UiState, at: Situation): Pressed {
  const node = at.rows[at.index];
  if (node === undefined) return refuse(ui, 'There is nothing to fold.');
  if (node.kind === 'run' || at.isFolded(node)) {
    if (node.parent === null) return refuse(ui, 'This group is folded already; → unfolds it.');
    return select(ui, rowOf(at, node.parent), at);
  }
  return { ui: withFold(ui, node.key, true) };
}

function rowOf({ rows }: Situation, key: string): number {
  return rows.findIndex((row) => row.key === key);
}

function unfold(ui: UiState, at: Situation): Pressed {
  const node = at.rows[at.index];
  if (node === undefined) return refuse(ui, 'There is nothing to unfold.');
  if (node.kind === 'run') return refuse(ui, 'A run has nothing to unfold; Enter opens it.');
  if (!at.isFolded(node)) return select(ui, at.index + 1, at);
  return { ui: withFold(ui, node.key, false) };
}

function withFold(ui: UiState, key: string, isFolded: boolean): UiState {
  return { ...ui, folds: new Map(ui.folds).set(key, isFolded) };
}

function open(ui: UiState, at: Situation): Pressed {
  if (ui.screen.kind === 'open') return refuse(ui, 'It is open; Esc goes back.');
  if (at.rows.length === 0) return refuse(ui, 'There is no run to open.');
  return { ui: { ...ui, screen: { kind: 'open', offset: 0 } } };
}

function back(ui: UiState): Pressed {
  if (ui.screen.kind === 'open') return { ui: { ...ui, screen: { kind: 'jobs' } } };
  if (ui.filter !== '') return { ui: { ...ui, filter: '', note: { text: 'Showing all runs.', tone: 'dim' } } };
  return refuse(ui, 'There is nothing to go back to; q leaves the window.');
}

/** On the open screen, ← and → go to the run before and after, of all the list. */
function step(ui: UiState, direction: -1 | 1, at: Situation): Pressed {
  for (let index = at.index + direction; index >= 0 && index < at.rows.length; index += direction) {
    if (at.rows[index]!.kind !== 'run') continue;
    const { ui: moved } = select(ui, index, at);
    return { ui: { ...moved, screen: { kind: 'open', offset: 0 } } };
  }
  return refuse(ui, direction < 0 ? 'There is no run before this one.' : 'There is no run after this one.');
}

/** The log of an open run begins at its end; the table of an open group's runs at its top. */
function scrollOpen(ui: UiState, offset: number, movement: Movement, at: Situation): Pressed {
  const isLog = at.rows[at.index]?.kind === 'run';
  const way = distance(movement, at.page);
  const most = Math.max(0, at.openLength - at.page);
  const next = Math.min(most, Math.max(0, offset + (isLog ? -way : way)));
  if (next === offset) return refuse(ui, way > 0 ? 'This is the end.' : 'Nothing more is kept here.');
  return { ui: { ...ui, screen: { kind: 'open', offset: next } } };
}

function nextSort(ui: UiState): Pressed {
  const sort = sorts[(sorts.indexOf(ui.sort) + 1) % sorts.length]!;
  return { ui: { ...ui, sort, note: { text: `Order: ${sort}.`, tone: 'dim' } } };
}

function chooseMetric(ui: UiState, at: Situation): Pressed {
  if (at.metrics.length === 0) return refuse(ui, 'No run has written a metric yet.');
  const index = Math.max(0, at.metrics.indexOf(at.metric ?? ''));
  return { ui: { ...ui, dialog: { kind: 'metrics', index } } };
}

function showTable(ui: UiState, at: Situation): Pressed {
  if (at.tableLength === null) return refuse(ui, 'There is no summary table for this sweep.');
  return { ui: { ...ui, dialog: { kind: 'table', top: 0 } } };
}
