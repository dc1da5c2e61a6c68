import { chartRows, unzoomed } from '../../keys/chart-handler.js';
import { cloneRun, copyCommand, hasTerminal, openShell, openTerminal } from '../../keys/editor-handler.js';
import {
  distance,
  type Handler,
  type KeyContext,
  type Movement,
  opens,
  type Pressed,
  refuse,
} from '../../keys/key-context.js';
import {
  enterKey,
  escapeKey,
  type KeyRow,
  type KeyTable,
  leftKey,
  movementRows,
  paneRows,
  rightKey,
  within,
} from '../../keys/key-row.js';
import { verbRows } from '../../keys/run-verb-handler.js';
import { wantedFor } from '../../model/detail.js';
import { scrollTo } from '../../model/selection.js';
import { isUnstarted, waitsForInput } from '../../model/state-look.js';
import type { Branch, TreeNode } from '../../model/tree/branch.js';
import type { Command } from '../../state/command.js';
import type { RunSummary } from '../../state/port.js';
import { anotherLog } from '../../state/run-choice.js';
import type { UiState } from '../../state/ui-state.js';
import { compareSelection, pinSelection } from '../compare/compare-subjects.js';
import { firstError } from '../run/log-handler.js';
import type { ScreenData, ScreenEntry } from '../screen.js';
import { leaveFailures, mark, markAll, nextSort, reverseSort, star, toggleFailures } from './list-handler.js';
import { listBoundary, listPage } from './jobs-lines.js';

declare module '../../state/command.js' {
  interface Commands {
    readonly jobs:
      | ('previous-branch' | 'next-branch' | 'terminal')
      | ('fold' | 'unfold' | 'jump' | 'mark' | 'mark-all' | 'star' | 'clone' | 'copy' | 'shell' | 'first-error')
      | ('failures' | 'group' | 'sort' | 'reverse-sort' | 'columns' | 'views');
  }
}

const digits = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '0'];

/** Keys for the selected run or group, or its list: on the list itself, and on the screen of the opened selection. */
export const selectionRows: readonly KeyRow[] = [
  {
    ...{ command: 'jump', keys: digits, shown: '0–9', group: 'move', act: jump },
    help: 'go to the group with that number (0 is the tenth); again: to its next subgroup',
  },
  {
    ...{ command: 'previous-branch', keys: ['['], group: 'move', act: toBranch(-1) },
    help: 'the group or subgroup above',
  },
  {
    ...{ command: 'next-branch', keys: [']'], group: 'move', act: toBranch(1) },
    help: 'the group or subgroup below',
  },
  {
    ...{ command: 'mark', keys: ['space'], shown: 'Space', group: 'runs', act: mark },
    help: 'mark the run or group; actions apply to what is marked',
  },
  {
    ...{ command: 'mark-all', keys: ['*'], group: 'runs', act: markAll },
    help: 'mark all runs shown; again: unmark all',
  },
  ...verbRows,
  {
    ...{ command: 'type', keys: ['i'], group: 'runs', act: opens('type'), worth: 6 },
    help: 'type lines into the run or the marked ones, if they read what is typed',
    // The footer names the key where something waits for it.
    short: ({ rows, index }) => (isRunThat(waitsForInput, rows[index]) ? 'type' : null),
  },
  {
    ...{ command: 'star', keys: ['B'], group: 'runs', act: star },
    help: 'star the run, or the marked ones; again: take the star away',
  },
  {
    ...{ command: 'clone', keys: ['E'], group: 'runs', act: cloneRun },
    help: 'clone the run with other parameters, edited in $EDITOR',
  },
  { command: 'copy', keys: ['y'], group: 'runs', help: 'copy the command of the run', act: copyCommand },
  { command: 'shell', keys: ['o'], group: 'runs', help: 'open the directory of the run in a shell', act: openShell },
  {
    ...{ command: 'terminal', keys: ['T'], group: 'runs', act: openTerminal, worth: 6 },
    help: 'the terminal of the run, if it has one; Ctrl-\\ leaves it',
    short: ({ rows, index }) => (isRunThat(hasTerminal, rows[index]) ? 'terminal' : null),
  },
  {
    ...{ command: 'first-error', keys: ['!'], group: 'log', act: firstError },
    help: 'jump to the first error in the log',
  },
  {
    ...{ command: 'compare', keys: ['c'], group: 'charts', act: compareSelection },
    help: 'compare the marked runs or groups',
  },
  {
    ...{ command: 'baseline', keys: ['b'], group: 'charts', act: pinSelection },
    help: 'pin the selection as the baseline',
  },
  {
    ...{ command: 'failures', keys: ['F'], group: 'list', act: toggleFailures },
    help: 'failures and unhealthy runs by kind, with the parameters that go with each; again: back',
  },
  {
    ...{ command: 'group', keys: ['g'], group: 'list', act: opens('grouping') },
    help: 'group the list by sweep group, state, GPU or a parameter; two levels',
  },
  {
    ...{ command: 'sort', keys: ['s'], group: 'list', act: nextSort },
    help: 'sort by file order, state, metric, time, name or an added column: the next one',
  },
  { command: 'reverse-sort', keys: ['I'], group: 'list', help: 'reverse the order', act: reverseSort },
  { command: 'columns', keys: ['C'], group: 'list', help: 'choose the columns of the list', act: opens('columns') },
  {
    ...{ command: 'views', keys: ['v'], group: 'list', act: opens('views') },
    help: 'save and recall views: filter, grouping, order, columns',
  },
];

function isRunThat(holds: (run: RunSummary) => boolean, node: TreeNode | undefined): boolean {
  return node?.kind === 'run' && holds(node.run);
}

/** Words of the footer, and their worths. */
const shorts: Partial<Record<Command, Pick<KeyRow, 'short' | 'worth'>>> = {
  jump: { short: 'group', worth: 2 },
  group: { short: 'group by' },
  sort: { short: 'sort', worth: 3 },
  compare: { short: ({ ui }) => (ui.marks.size > 1 ? 'compare' : null), worth: 5 },
  failures: {
    short: ({ attention, ui }) =>
      !attention().hasTrouble ? null : ui.beforeFailures === null ? 'failures' : 'all runs',
    worth: 5,
  },
};

/** The keys of the list. */
const jobsKeys: KeyTable = {
  rows: [
    ...movementRows(move, 'move'),
    {
      ...{ command: 'fold', ...leftKey, group: 'move', short: 'fold', hint: '←→', worth: 2, act: fold },
      help: 'fold the group; on a run: go to its group',
    },
    { command: 'unfold', ...rightKey, group: 'move', help: 'unfold the group', act: unfold },
    {
      ...{ command: 'open', ...enterKey, group: 'move', short: 'open', worth: 6, act: open },
      help: 'open the run or group full-screen',
    },
    ...selectionRows.map((row) => ({ ...row, ...shorts[row.command] })),
    ...chartRows({ metric: { short: ({ metric }) => (metric === null ? null : 'metric'), worth: 4 } }),
    ...paneRows('list', 'the list'),
    {
      command: 'back',
      ...escapeKey,
      group: 'window',
      help: 'zoom out; leave the failures; clear the filter; cancel a question',
      act: back,
    },
  ],
  refusal: ({ command, shown }, _ui, at) => {
    if (command === 'next-pane') return `Open a run first: ${at.keyOf('open')}.`;
    if (command === 'drain' && at.status.gpus.length === 0) return 'There are no GPUs here to drain.';
    if (command === 'drain') return `Choose a GPU on the GPU screen first: ${at.keyOf('gpus')}.`;
    if (command === 'wrap' || command === 'search-next' || command === 'search-previous')
      return `Open a run and search its log first: ${at.keyOf('open')}, then ${at.keyOf('filter')}.`;
    return `${shown} does nothing on the list; ${at.keyOf('help')} shows the keys.`;
  },
};

/** The list of runs with the details of the selection. */
export const jobs: ScreenEntry<'jobs', null> = {
  ...{ name: 'list', keys: jobsKeys, data: jobsData },
  component: () => import('./jobs-screen.js').then(({ JobsScreen }) => JobsScreen),
};

/** Number of log lines beside the list. */
export const logLines = 200;

/** The list has no data of its own beyond the window's. */
function jobsData(): ScreenData<'jobs', null> {
  return {
    wanted: ({ node, listModel }) => wantedFor(node, listModel, logLines),
    read: () => null,
    context: ({ body, isSmall, listModel, ui }) => {
      const content = { isSmall, rows: listModel.rows.length, wanted: ui.panes.list };
      return { page: listPage(body, content), boundary: listBoundary(body, content) };
    },
  };
}

function move(ui: UiState, movement: Movement, at: KeyContext): Pressed {
  const last = at.rows.length - 1;
  if (last < 0) return refuse(ui, 'There is no run to go to.');
  const index = within(at.index + distance(movement, Math.max(1, at.page - 1)), last);
  if (index === at.index) return refuse(ui, index === 0 ? 'This is the first row.' : 'This is the last row.');
  return select(ui, index, at);
}

function fold(ui: UiState, at: KeyContext): Pressed {
  const node = at.rows[at.index];
  if (node === undefined) return refuse(ui, 'There is nothing to fold.');
  if (node.kind !== 'run' && !at.isFolded(node)) return { ui: withFold(ui, node.key, true) };
  const { parent } = node;
  if (parent === null) return refuse(ui, 'This group is folded already; → unfolds it.');
  return selectGroup(ui, parent, at);
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
  const node = at.rows[at.index];
  if (node === undefined) return refuse(ui, 'There is no run to open.');
  if (node.kind !== 'run' && node.isFailure) return openExample(ui, node, at);
  // A run that has not begun has no log.
  const pane = node.kind === 'run' && isUnstarted(node.run) ? 'config' : 'log';
  return { ui: { ...ui, log: anotherLog(ui.log), screen: { kind: 'run', pane, offset: 0 } } };
}

/** Opens the log of a run with this failure at its error. The other runs stay listed beside it. */
function openExample(ui: UiState, failure: Branch, { index }: KeyContext): Pressed {
  const selected = failure.runs[0]!.id;
  const shown = { ...withFold(ui, failure.key, false), selected, index: index + 1 };
  return { ui: { ...shown, log: anotherLog(ui.log), screen: { kind: 'run', pane: 'log', offset: 0 } } };
}

function back(ui: UiState, at: KeyContext): Pressed {
  const whole = unzoomed(ui);
  if (whole !== null) return whole;
  const left = leaveFailures(ui);
  if (left !== null) return left;
  if (ui.filter !== '') return { ui: { ...ui, filter: '', note: { text: 'Showing all runs.', tone: 'dim' } } };
  return refuse(ui, `There is nothing to go back to; ${at.keyOf('leave')} detaches.`);
}

/** Selects a row and scrolls as little as needed to show it. */
export function select(ui: UiState, index: number, { rows, page }: Pick<KeyContext, 'rows' | 'page'>): Pressed {
  const top = scrollTo(index, ui.top, page, rows.length);
  return { ui: { ...ui, selected: rows[index]?.key ?? null, index, top } };
}

/**
 * Goes to a group by its number; from within that group, to its next subgroup, and after the last one back to the group. Subgroups
 * of a list without groups have the numbers themselves.
 */
function jump(ui: UiState, at: KeyContext, key: string): ReturnType<Handler> {
  const number = key === '0' ? 10 : Number(key);
  const [only] = at.groups;
  if (only !== undefined && !at.rows.some((row) => row.key === only.key)) return jumpInto(ui, only, number, at);
  const group = at.groups[number - 1];
  if (group === undefined) return refuse(ui, `There is no group ${number}; there are ${at.groups.length}.`);
  const path = pathTo(at);
  if (path[0] !== group.key) return selectGroup(ui, group.key, at);
  const within = subgroupsOf(group);
  const next = within[within.findIndex(({ key: each }) => each === path[1]) + 1];
  if (next === undefined) return selectGroup(ui, group.key, at);
  // The row of a subgroup exists only in an open group.
  const opened = { ...ui, folds: new Map(ui.folds).set(group.key, false) };
  return { ui: { ...opened, selected: next.key, index: at.index + 1 } };
}

function jumpInto(ui: UiState, group: Branch, number: number, at: KeyContext): Pressed {
  const within = subgroupsOf(group);
  const subgroup = within[number - 1];
  if (subgroup !== undefined) return selectGroup(ui, subgroup.key, at);
  return refuse(
    ui,
    within.length === 0 ? 'The list has no groups.' : `There is no subgroup ${number}; there are ${within.length}.`,
  );
}

function subgroupsOf({ children }: Branch): Branch[] {
  return children.filter((node): node is Branch => node.kind === 'subgroup');
}

/** Keys of the branches that the selected row is in or is, the group first. */
function pathTo({ rows, index, branches }: KeyContext): string[] {
  const path: string[] = [];
  let node = rows[index];
  while (node !== undefined) {
    if (node.kind !== 'run') path.unshift(node.key);
    node = node.parent === null ? undefined : branches.get(node.parent);
  }
  return path;
}

/** Goes to the nearest group or subgroup above or below the selection. */
function toBranch(step: -1 | 1): Handler {
  return (ui, at) => {
    for (let index = at.index + step; index >= 0 && index < at.rows.length; index += step) {
      const { kind } = at.rows[index]!;
      if (kind === 'group' || kind === 'subgroup') return select(ui, index, at);
    }
    return refuse(ui, step < 0 ? 'There is no group above this row.' : 'There is no group below this row.');
  };
}

/** Selects the row of a group, which exists only if the list is grouped by groups. */
function selectGroup(ui: UiState, key: string, at: KeyContext): Pressed {
  const row = at.rows.findIndex((each) => each.key === key);
  return row < 0 ? refuse(ui, 'The list has no groups.') : select(ui, row, at);
}
