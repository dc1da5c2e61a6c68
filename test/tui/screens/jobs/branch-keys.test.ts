import { describe, expect, it } from 'vitest';
import { press } from '../../../../src/tui/dialogs/key-stack.js';
import { initialUi, type UiState } from '../../../../src/tui/state/ui-state.js';
import { aRun } from '../../simulated-fleet.js';
import { aSituation } from '../../situations.js';

const run = (name: string, subgroup: string | null) => aRun(name, { subgroup, state: 'running' });
/** Rows: 0 A, 1 x, 2–3 runs, 4 y, 5–6 runs, 7 B, 8–9 runs. */
const runs = [run('A_0', 'x'), run('A_1', 'x'), run('A_2', 'y'), run('A_3', 'y'), run('B_0', null), run('B_1', null)];

/** The keys of the rows selected after each key, from row `from`. */
function selectedBy(keys: readonly string[], from = 0, folds: UiState['folds'] = new Map()): (string | null)[] {
  const rows = aSituation(runs, { ...initialUi, folds }).rows;
  let ui: UiState = { ...initialUi, folds, selected: rows[from]!.key, index: from };
  return keys.map((key) => {
    ui = press(ui, key, aSituation(runs, ui)).ui;
    return ui.note?.text ?? ui.selected;
  });
}

describe('a digit', () => {
  it('goes to the group, and from within it to one subgroup after the other, and back to the group', () => {
    expect(selectedBy(['1', '1', '1', '1'], 7)).toEqual(['abcd/A', 'abcd/A/x', 'abcd/A/y', 'abcd/A']);
    expect(selectedBy(['1'], 3)).toEqual(['abcd/A/y']);
  });

  it('opens a folded group for that', () => {
    expect(selectedBy(['1', '1'], 0, new Map([['abcd/A', true]]))).toEqual(['abcd/A/x', 'abcd/A/y']);
  });

  it('stays at a group without subgroups, and says where there is none', () => {
    expect(selectedBy(['2', '2'])).toEqual(['abcd/B', 'abcd/B']);
    expect(selectedBy(['3'])).toEqual(['There is no group 3; there are 2.']);
  });
});

describe('[ and ]', () => {
  it('go to the next group or subgroup above and below, from a run too', () => {
    expect(selectedBy([']', ']', ']', ']'])).toEqual([
      'abcd/A/x',
      'abcd/A/y',
      'abcd/B',
      'There is no group below this row.',
    ]);
    expect(selectedBy(['[', '[', '['], 3)).toEqual(['abcd/A/x', 'abcd/A', 'There is no group above this row.']);
  });
});
