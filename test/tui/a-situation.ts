import { keyOf } from '../../src/tui/screens/key-map.js';
import type { KeyContext } from '../../src/tui/keys/key-context.js';
import { initialSort } from '../../src/tui/state/list-choice.js';
import { buildTree, flatten } from '../../src/tui/model/tree/tree-grower.js';
import { aRun, aSweep } from './simulated-fleet.js';

const sweep = aSweep({ groups: [{ name: 'A', title: null, needs: [] }] });
const runs = [aRun('A_1', { state: 'running' })];

/** One running run, which is selected. */
export function aSituation(over: Partial<KeyContext> = {}): KeyContext {
  const tree = buildTree(runs, [sweep], { matches: () => true, sort: initialSort, metric: null, now: 0 });
  return {
    rows: flatten(tree, () => false),
    runs,
    sweeps: [sweep],
    status: { settled: false, recalled: true, cpu: { slots: 2, busy: 1 }, gpus: [], problem: null },
    index: 1,
    groups: tree.groups,
    branches: tree.branches,
    page: 10,
    metrics: [],
    metric: null,
    isFolded: () => false,
    width: 80,
    own: { focus: null, log: null },
    keyOf: (command) => keyOf(command, 'default'),
    now: 0,
    ...over,
  };
}
