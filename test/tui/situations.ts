import { keyOf } from '../../src/tui/screens/key-map.js';
import type { Command } from '../../src/tui/state/command.js';
import type { RunSummary } from '../../src/tui/state/port.js';
import type { KeyContext } from '../../src/tui/keys/key-context.js';
import type { UiState } from '../../src/tui/state/ui-state.js';
import { buildTree, flatten } from '../../src/tui/model/tree/tree-grower.js';
import { aSweep } from './simulated-fleet.js';

const NOW = 1_000_000;

/** What is on the screen for these runs: groups A and B, nothing folded but by hand. */
export function aSituation(runs: readonly RunSummary[], ui: UiState): KeyContext {
  const groups = ['A', 'B'].map((name) => ({ name, title: null, needs: [] }));
  const sweeps = [aSweep({ groups })];
  const tree = buildTree(runs, sweeps, { matches: () => true, sort: ui.sort, metric: null, now: NOW });
  const isFolded = ({ key }: { key: string }): boolean => ui.folds.get(key) ?? false;
  const rows = flatten(tree, isFolded);
  const found = rows.findIndex(({ key }) => key === ui.selected);
  return {
    ...{ rows, runs, sweeps, groups: tree.groups, branches: tree.branches, isFolded },
    status: { settled: false, recalled: true, cpu: { slots: 2, busy: 2 }, gpus: [], problem: null },
    index: found < 0 ? Math.min(ui.index, rows.length - 1) : found,
    ...{ page: 5, metrics: ['loss', 'reward'], metric: 'loss', width: 80 },
    ...{ own: { focus: null, log: null }, now: NOW, keyOf: (command: Command) => keyOf(command, 'default') },
  };
}

/** The keys that type a text, for a text that begins with `"`; else the key itself. */
export function keysOf(key: string): string[] {
  if (!key.startsWith('"') || key.length === 1) return [key];
  return [...key.slice(1)].map((character) => (character === ' ' ? 'space' : character));
}
