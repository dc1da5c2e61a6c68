import type { Command } from '../command.js';
import { keyOf } from '../key-map.js';
import { selectedNode, type WindowModel } from './window-model.js';

type Hint = readonly [key: string, does: string];

const leave: readonly Hint[] = [
  ['Esc', 'back'],
  ['?', 'help'],
  ['q', 'detach'],
];
const scroll: Hint = ['↑↓', 'scroll'];
const pane: Hint = ['Tab', 'pane'];

/** The keys of the open screen that its pane in use makes useful. */
export function openKeys(model: WindowModel): readonly Hint[] {
  const { ui } = model;
  if (ui.screen.kind !== 'open') return leave;
  const bound = (...commands: readonly (readonly [Command, string])[]): Hint[] =>
    commands.map(([command, does]) => [keyOf(command, ui.keys), does]);
  const isRun = selectedNode(model)?.kind === 'run';
  if (ui.log.seek !== null) return [['Esc', 'stop searching'], ...leave.slice(1)];
  if (ui.screen.pane === 'charts') {
    const draw = bound(['zoom-in', 'zoom'], ['metric', 'metric'], ['x-axis', 'x axis'], ['smooth', 'smooth']);
    return [['←→', 'cursor'], pane, ...draw, ...leave];
  }
  if (!isRun) {
    const act = bound(['metric', 'metric'], ['kill-group', 'kill'], ['resume-group', 'resume']);
    return [scroll, pane, ...act, ...leave];
  }
  const act: readonly Hint[] = [['←→', 'other run'], ...bound(['kill', 'kill'], ['resume', 'resume'])];
  if (ui.screen.pane !== 'log') return [scroll, pane, ...act, ...leave];
  const next = [keyOf('search-next', ui.keys), keyOf('search-previous', ui.keys)].join(' ');
  const search: readonly Hint[] = ui.log.search === '' ? [] : [[next, 'next, previous']];
  const log = bound(['first-error', 'first error'], ['wrap', 'wrap']);
  return [scroll, pane, ...bound(['filter', 'search']), ...search, ...log, ...act, ...leave];
}
