import { cloneRun, copyCommand, openShell } from '../../keys/editor-handler.js';
import { type Handler, type KeyContext, opens, type Pressed, refuse } from '../../keys/key-context.js';
import { verbRows } from '../../keys/run-verb-handler.js';
import type { KeyRow } from '../../keys/key-row.js';
import { waitsForInput } from '../../model/run-reason.js';
import type { WindowModel } from '../../model/window-model.js';
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
    help: 'go to the group with that number (0 is the tenth)',
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
    ...{ command: 'type', keys: ['i'], vim: { keys: ['t'], shown: 't' }, group: 'runs', act: opens('type') },
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
    ...{ command: 'failures', keys: ['F'], vim: { keys: ['W'], shown: 'W' }, group: 'list', act: toggleFailures },
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

function jump(ui: UiState, at: KeyContext, key: string): ReturnType<Handler> {
  const number = key === '0' ? 10 : Number(key);
  const group = at.groups[number - 1];
  if (group === undefined) return refuse(ui, `There is no group ${number}; there are ${at.groups.length}.`);
  return selectGroup(ui, group.key, at);
}

/** Selects the row of a group, which exists only if the list is grouped by groups. */
export function selectGroup(ui: UiState, key: string, at: KeyContext): Pressed {
  const row = at.rows.findIndex((each) => each.key === key);
  return row < 0 ? refuse(ui, 'The list has no groups.') : select(ui, row, at);
}
