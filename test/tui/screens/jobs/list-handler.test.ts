import { describe, expect, it } from 'vitest';
import { groupChoices } from '../../../../src/tui/model/tree/grouping-level.js';
import { press } from '../../../../src/tui/dialogs/key-stack.js';
import { livingMarks } from '../../../../src/tui/screens/jobs/list-handler.js';
import { rowOfSelection } from '../../../../src/tui/model/selection.js';
import { keyOf } from '../../../../src/tui/screens/key-map.js';
import type { KeyContext } from '../../../../src/tui/keys/key-context.js';
import { initialUi, type UiState } from '../../../../src/tui/state/ui-state.js';
import { buildTree, flatten } from '../../../../src/tui/model/tree/tree-grower.js';
import { varyingParametersOf } from '../../../../src/tui/model/varying-parameters.js';
import { RunId } from '../../../../src/base/ids.js';
import { aRun, aSweep, SimulatedFleet } from '../../simulated-fleet.js';

const NOW = 1_000_000;
const runs = [
  aRun('A_1', { state: 'done', parameters: { N: 64, seed: 0 } }),
  aRun('A_2', { state: 'failed', parameters: { N: 16, seed: 1 } }),
  aRun('B_1', { parameters: { N: 16, seed: 0 } }),
];
const sweeps = [aSweep({ groups: ['A', 'B'].map((name) => ({ name, title: null, needs: [] })) })];

function situation(ui: UiState): KeyContext {
  const shown = { matches: ({ name }: { name: string }) => name.includes(ui.filter), metric: 'loss', now: NOW };
  const tree = buildTree(runs, sweeps, { ...shown, sort: ui.sort, grouping: ui.grouping });
  const isFolded = ({ key }: { key: string }) => ui.folds.get(key) ?? false;
  const rows = flatten(tree, isFolded);
  return {
    ...{ rows, runs, sweeps, groups: tree.groups, branches: tree.branches, isFolded },
    ...{ page: 5, metrics: ['loss', 'reward'], metric: 'loss', width: 80 },
    ...{ own: { focus: null, log: null }, now: NOW },
    keyOf: (command) => keyOf(command, 'default'),
    status: new SimulatedFleet([], []).status,
    index: rowOfSelection({ rows, tree }, ui),
    varyingParameters: () => varyingParametersOf(runs),
    groupChoices: () => groupChoices(runs, sweeps, varyingParametersOf(runs)),
  };
}

type Played = { ui: UiState; labels: string[]; at: string | undefined; note: string };

/** What the list is after some keys, from the row of a key. */
function play(from: string | null, ...keys: string[]): Played {
  let ui: UiState = { ...initialUi, selected: from };
  for (const key of keys) ui = press(ui, key, situation(ui)).ui;
  const { rows, index } = situation(ui);
  return { ui, labels: rows.map(({ label }) => label), at: rows[index]?.label, note: ui.note?.text ?? '' };
}

describe('grouping', () => {
  it('offers what there is, with the number of groups each gives', () => {
    const choices = situation(initialUi).groupChoices!();
    const words = choices.map(({ by, groups }) => `${by.kind === 'parameter' ? by.key : by.kind} ${groups}`);
    expect(words).toEqual(['group 2', 'state 3', 'gpu 1', 'N 2', 'seed 2', 'error 1', 'none 1']);
  });

  it.each<{ by: string; keys: string[]; labels: string[] }>([
    { by: 'the file', keys: [], labels: ['A', 'A_1', 'A_2', 'B', 'B_1'] },
    {
      by: 'state, the most urgent first',
      keys: ['down', 'enter'],
      labels: ['failed', 'A_2', 'queued', 'B_1', 'done', 'A_1'],
    },
    { by: 'slot', keys: ['down', 'down', 'enter'], labels: ['no slot', 'A_1', 'A_2', 'B_1'] },
    {
      by: 'a parameter, by its value',
      keys: ['down', 'down', 'down', 'enter'],
      labels: ['N=16', 'A_2', 'B_1', 'N=64', 'A_1'],
    },
    {
      by: 'block, then seed',
      keys: ['end', 'up', 'up', 'space', 'escape'],
      labels: ['A', 'seed=0', 'A_1', 'seed=1', 'A_2', 'B', 'seed=0', 'B_1'],
    },
    {
      by: 'two levels and back to one',
      keys: ['end', 'up', 'up', 'space', 'space', 'escape'],
      labels: ['A', 'A_1', 'A_2', 'B', 'B_1'],
    },
  ])('by $by', ({ keys, labels }) => {
    expect(play(null, ...(keys.length === 0 ? [] : ['g', ...keys])).labels).toEqual(labels);
  });

  it('keeps the selection on its run, and hands that of a group to its first run', () => {
    expect(play('abcd/B_1', 'g', 'down', 'enter').at).toBe('B_1');
    expect(play('abcd/A', 'g', 'down', 'enter').at).toBe('A_1');
  });

  it('selects the folded group a run is in, and the run again when it is unfolded', () => {
    const folded = play('abcd/B_1', 'left', 'left', 'g', 'down', 'enter');
    expect(folded.at).toBe('B_1');
    const ui: UiState = { ...initialUi, selected: 'abcd/B_1', folds: new Map([['abcd/B', true]]) };
    expect(situation(ui).rows[situation(ui).index]?.label).toBe('B');
  });

  it('remembers folds for each grouping by itself', () => {
    const { labels } = play('abcd/A', 'left', 'g', 'down', 'enter', 'g', 'home', 'enter');
    expect(labels).toEqual(['A', 'B', 'B_1']);
  });

  it('says what cannot be', () => {
    expect(play(null, 'g', 'space').note).toBe('group is the first level already; choose another.');
    expect(play(null, 'g', 'left').note).toContain('Enter groups by this, Space adds it as the second level');
  });
});

describe('marks', () => {
  it('are on a run, or on all runs of a group', () => {
    expect([...play('abcd/A_2', 'space').ui.marks]).toEqual(['abcd/A_2']);
    expect(play('abcd/A', 'space').ui.marks.size).toBe(2);
    expect(play('abcd/A', 'space', 'space').ui.marks.size).toBe(0);
    expect(play('abcd/A', 'down', 'space', 'up', 'space').ui.marks.size).toBe(2);
  });

  it('* marks what the filter shows, beside what is marked; and takes all away when all of that is marked', () => {
    expect(play('abcd/B_1', 'space', '/', 'A', 'enter', '*')).toMatchObject({ note: '3 runs marked.' });
    expect(play(null, '*', '*')).toMatchObject({ note: 'No run is marked.', ui: { marks: new Set() } });
  });

  it('go with the runs that go', () => {
    const [a, b] = [RunId.parse('abcd/A_1'), RunId.parse('abcd/gone')];
    const alive = new Map([[a, {}]]);
    expect([...livingMarks(new Set([a, b]), alive)]).toEqual([a]);
    const marks = new Set([a]);
    expect(livingMarks(marks, alive)).toBe(marks);
  });
});

describe('orders', () => {
  it('go on to the columns that were added, and can be reversed', () => {
    const columns = ['metric', 'parameter N'] as const;
    let ui: UiState = { ...initialUi, columns };
    const seen: string[] = [];
    for (let step = 0; step < 6; step++) {
      ui = press(ui, 's', situation(ui)).ui;
      seen.push(ui.sort.by);
    }
    expect(seen).toEqual(['state', 'metric', 'time', 'name', 'parameter N', 'file order']);
    expect(play(null, 's', 's', 'I').note).toBe('Sorted by loss, lowest first.');
  });
});

describe('columns', () => {
  it.each<{ does: string; keys: string[]; columns: string[] | null }>([
    { does: 'hides one', keys: ['space'], columns: ['left', 'trend', 'metric', 'slot', 'time'] },
    { does: 'shows the usual ones again', keys: ['space', 'space'], columns: null },
    { does: 'moves one', keys: ['right'], columns: ['left', 'progress', 'trend', 'metric', 'slot', 'time'] },
    { does: 'moves it on and back', keys: ['right', 'right', 'left', 'left'], columns: null },
    {
      does: 'adds a parameter',
      keys: [...Array<string>(15).fill('down'), 'space'],
      columns: ['progress', 'left', 'trend', 'metric', 'slot', 'time', 'parameter N'],
    },
    {
      does: 'adds a metric',
      keys: ['end', 'space'],
      columns: ['progress', 'left', 'trend', 'metric', 'slot', 'time', 'metric reward'],
    },
  ])('$does', ({ keys, columns }) => {
    expect(play(null, 'C', ...keys, 'enter').ui).toMatchObject({ columns, dialog: { kind: 'none' } });
  });

  it('orders by the one under the cursor, and the other way round', () => {
    expect(play(null, 'C', 'ctrl-s').ui.sort).toEqual({ by: 'progress', isReversed: false });
    expect(play(null, 'C', 'ctrl-s', 'ctrl-s').note).toBe('Sorted by progress, lowest first.');
    expect(play(null, 'C', 'down', 'down', 'ctrl-s').note).toBe('Runs cannot be sorted by their trend.');
  });

  it('does not move beyond its ends', () => {
    expect(play(null, 'C', 'left').note).toBe('It is the first column.');
    expect(play(null, 'C', 'end', 'right').note).toBe('It is the last column.');
  });
});

describe('views', () => {
  const saved = ['g', 'down', 'enter', 's', 'v', 'ctrl-s', ...'mine', 'enter'];

  it('are saved under a name and recalled', () => {
    const { ui } = play(null, ...saved);
    expect(ui.views).toMatchObject([{ name: 'mine', grouping: [{ kind: 'state' }], sort: { by: 'state' } }]);
    expect(play(null, ...saved, 'home', 'enter').ui).toMatchObject({
      grouping: [{ kind: 'group' }],
      sort: { by: 'file order' },
    });
    expect(play(null, ...saved, 'home', 'enter', 'v', 'end', 'enter')).toMatchObject({
      note: 'View: mine.',
      ui: { grouping: [{ kind: 'state' }] },
    });
  });

  it('are replaced under the same name, and deleted', () => {
    const again = play(null, ...saved, 'escape', 'I', 'v', 'ctrl-s', ...'mine', 'enter');
    expect(again).toMatchObject({ note: 'Replaced mine.', ui: { views: [{ sort: { isReversed: true } }] } });
    expect(play(null, ...saved, 'ctrl-x')).toMatchObject({ note: 'Deleted mine.', ui: { views: [] } });
  });

  it.each<[string, string[]]>([
    ['This view cannot be deleted.', ['v', 'ctrl-x']],
    ['Type a name first; Esc saves nothing.', ['v', 'ctrl-s', 'enter']],
    [
      'That name is taken; choose another.',
      ['v', 'ctrl-s', ...[...'as in the sweep file'].map((letter) => (letter === ' ' ? 'space' : letter)), 'enter'],
    ],
    ['A name has at most 40 letters.', ['v', 'ctrl-s', ...'x'.repeat(41)]],
  ])('says: %s', (note, keys) => {
    expect(play(null, ...keys).note).toBe(note);
  });
});
