import { cloneRun, copyCommand, hasTerminal, openShell, openTerminal } from '../../keys/editor-handler.js';
import { type Handler, type KeyContext, opens, type Pressed, refuse } from '../../keys/key-context.js';
import { verbRows } from '../../keys/run-verb-handler.js';
import type { KeyRow } from '../../keys/key-row.js';
import { waitsForInput } from '../../model/run-reason.js';
import type { WindowModel } from '../../model/window-model.js';
import type { Branch } from '../../model/tree/branch-index.js';
import type { UiState } from '../../state/ui-state.js';
import { scrollTo } from '../../widgets/scroll.js';
import { compareSelection, pinSelection } from '../compare/compare-handler.js';
import { firstError } from '../run/log-handler.js';
import { toggleFailures } from './failures-handler.js';
import { mark, markAll } from './mark-handler.js';
import { star } from './star-handler.js';
import { nextSort, reverseSort } from './sort-handler.js';

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
    ...{ command: 'type', keys: ['i'], group: 'runs', act: opens('type') },
    help: 'type lines into the run or the marked ones, if they read what is typed',
    short: typeWord,
    worth: 6,
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
    ...{ command: 'terminal', keys: ['T'], group: 'runs', act: openTerminal },
    help: 'the terminal of the run, if it has one; Ctrl-\\ leaves it',
    short: ({ rows, index }) => (hasTerminal(rows[index]) ? 'terminal' : null),
    worth: 6,
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

/** The footer names the key where something waits for it. */
function typeWord({ rows, index }: WindowModel): string | null {
  const node = rows[index];
  return node?.kind === 'run' && waitsForInput(node.run) ? 'type' : null;
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
export function selectGroup(ui: UiState, key: string, at: KeyContext): Pressed {
  const row = at.rows.findIndex((each) => each.key === key);
  return row < 0 ? refuse(ui, 'The list has no groups.') : select(ui, row, at);
}
