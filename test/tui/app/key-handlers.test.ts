import { describe, expect, it } from 'vitest';
import { press } from '../../../src/tui/dialogs/key-stack.js';
import { keyOf } from '../../../src/tui/screens/key-map.js';
import type { Pressed, KeyContext } from '../../../src/tui/keys/key-context.js';
import { initialUi, type UiState } from '../../../src/tui/state/ui-state.js';
import { initialSort } from '../../../src/tui/state/list-choice.js';
import { buildTree, flatten } from '../../../src/tui/model/tree/tree-grower.js';
import { aRun, aSweep } from '../simulated-fleet.js';

const NOW = 1_000_000;

/** Two groups; A has a subgroup of two. Rows: 0 A, 1 x, 2 A_x_s0 running, 3 A_x_s1 done, 4 A_y failed, 5 B, 6 B_a queued, 7 B_b stopping. */
const runs = [
  aRun('A_x_s0', { subgroup: 'x', state: 'running' }),
  aRun('A_x_s1', { subgroup: 'x', state: 'done' }),
  aRun('A_y', { state: 'failed' }),
  aRun('B_a'),
  aRun('B_b', { state: 'stopping', killAt: NOW + 7000 }),
];
const groups = ['A', 'B'].map((name) => ({ name, title: null, needs: [] }));

function situation(ui: UiState, over: Partial<KeyContext> = {}): KeyContext {
  const tree = buildTree(runs, [aSweep({ groups })], { matches: () => true, sort: ui.sort, metric: null, now: NOW });
  const isFolded = ({ key }: { key: string }) => ui.folds.get(key) ?? false;
  const rows = flatten(tree, isFolded);
  const found = rows.findIndex(({ key }) => key === ui.selected);
  return {
    rows,
    runs,
    sweeps: [aSweep({ groups })],
    status: { settled: false, recalled: true, cpu: { slots: 2, busy: 2 }, gpus: [], problem: null },
    index: found < 0 ? Math.min(ui.index, rows.length - 1) : found,
    groups: tree.groups,
    branches: tree.branches,
    page: 5,
    metrics: ['loss', 'reward'],
    metric: 'loss',
    isFolded,
    width: 80,
    own: { focus: null, log: null },
    keyOf: (command) => keyOf(command, 'default'),
    now: NOW,
    ...over,
  };
}

/** Presses keys one after the other, from row `from`. */
function play(from: number, ...keys: string[]): Pressed & { row: number } {
  let pressed: Pressed = { ui: { ...initialUi, selected: situation(initialUi).rows[from]!.key, index: from } };
  for (const key of keys) pressed = press(pressed.ui, key, situation(pressed.ui));
  return { ...pressed, row: situation(pressed.ui).index };
}

describe('moving', () => {
  it.each<{ when: string; from: number; keys: string[]; row: number }>([
    { when: 'down and up', from: 0, keys: ['down', 'down', 'up'], row: 1 },
    { when: 'a page down, one row of the old page kept', from: 0, keys: ['pagedown'], row: 4 },
    { when: 'not beyond the end', from: 0, keys: ['pagedown', 'pagedown'], row: 7 },
    { when: 'to the ends', from: 3, keys: ['end'], row: 7 },
    { when: 'back to the start', from: 3, keys: ['end', 'home'], row: 0 },
    { when: 'to the second group by its digit', from: 0, keys: ['2'], row: 5 },
    { when: 'left from a run to its subgroup', from: 3, keys: ['left'], row: 1 },
    {
      when: 'left twice folds the subgroup, a third time goes to the group',
      from: 3,
      keys: ['left', 'left', 'left'],
      row: 0,
    },
    { when: 'right on an open group goes into it', from: 0, keys: ['right'], row: 1 },
    { when: 'right unfolds what left folded', from: 1, keys: ['left', 'right', 'down'], row: 2 },
  ])('$when', ({ from, keys, row }) => {
    expect(play(from, ...keys).row).toBe(row);
  });

  it('keeps the selection on the page, scrolling as little as possible', () => {
    expect(play(0, 'down', 'down', 'down', 'down', 'down').ui.top).toBe(1);
    expect(play(0, 'end', 'up').ui.top).toBe(3);
  });
});

describe('killing and resuming', () => {
  it.each<{ when: string; from: number; keys: string[]; order: string | undefined }>([
    { when: 'k alone only asks', from: 2, keys: ['k'], order: undefined },
    { when: 'k y kills the run', from: 2, keys: ['k', 'y'], order: 'kill abcd/A_x_s0' },
    { when: 'k K does not', from: 2, keys: ['k', 'K'], order: undefined },
    { when: 'k and Esc does not', from: 2, keys: ['k', 'escape', 'k'], order: undefined },
    { when: 'a waiting run can be killed', from: 6, keys: ['k', 'enter'], order: 'kill abcd/B_a' },
    { when: 'K y on a run kills what lives in its subgroup', from: 3, keys: ['K', 'y'], order: 'kill abcd/A_x_s0' },
    { when: 'K Enter on a group leaves out what is stopping', from: 5, keys: ['K', 'enter'], order: 'kill abcd/B_a' },
    { when: 'r resumes a failed run', from: 4, keys: ['r'], order: 'resume abcd/A_y' },
    { when: 'R resumes the failed runs of a group', from: 0, keys: ['R'], order: 'resume abcd/A_y' },
    { when: 'h holds a waiting run', from: 6, keys: ['h'], order: 'hold abcd/B_a' },
    { when: 'p pauses a running run', from: 2, keys: ['p'], order: 'pause abcd/A_x_s0' },
    { when: 'H holds what of a group waits', from: 5, keys: ['H'], order: 'hold abcd/B_a' },
    { when: 'P pauses what of a group runs', from: 0, keys: ['P'], order: 'pause abcd/A_x_s0' },
    { when: 'q detaches', from: 0, keys: ['q'], order: 'leave' },
    { when: 'Ctrl-C leaves even out of a question', from: 2, keys: ['k', 'ctrl-c'], order: 'leave' },
    { when: 'Ctrl-Z suspends', from: 0, keys: ['ctrl-z'], order: 'suspend' },
    { when: 'Ctrl-L repaints', from: 0, keys: ['ctrl-l'], order: 'repaint' },
  ])('$when', ({ from, keys, order }) => {
    const given = play(from, ...keys).order;
    expect(given && ['ids' in given ? `${given.type} ${given.ids.join(' ')}` : given.type].join()).toBe(order);
  });

  it.each([
    ['h', 'held', 'release'],
    ['p', 'paused', 'continue'],
  ] as const)('%s undoes itself on a run that is %s', (key, state, order) => {
    const run = aRun('A_z', { state });
    const tree = buildTree([run], [aSweep({ groups })], {
      ...{ matches: () => true, sort: initialSort, metric: null, now: NOW },
    });
    const rows = flatten(tree, () => false);
    const at = situation(initialUi, { rows, index: rows.length - 1, branches: tree.branches });
    expect(press(initialUi, key, at).order).toMatchObject({ type: order, ids: [run.id], what: 'A_z' });
    expect(press(initialUi, key.toUpperCase(), at).order).toMatchObject({
      type: order,
      ids: [run.id],
      what: '1 run of A',
    });
  });

  it('starts a run that waits for its next try at once, but not one that is held', () => {
    const waiting = aRun('A_z', { state: 'queued', retryAt: NOW + 5000 });
    const held = aRun('A_w', { state: 'held' });
    const tree = buildTree([waiting, held], [aSweep({ groups })], {
      ...{ matches: () => true, sort: initialSort, metric: null, now: NOW },
    });
    const rows = flatten(tree, () => false);
    const pressed = (index: number) => press(initialUi, 'r', situation(initialUi, { rows, index }));
    expect(pressed(1).order).toEqual({ type: 'resume', ids: [waiting.id], what: 'A_z' });
    expect(pressed(2).ui.note?.text).toBe('A_w is held; h releases it.');
  });

  it('names the run in the question, and counts the runs of a group', () => {
    expect(play(2, 'k').ui.dialog).toMatchObject({ question: 'Kill A_x_s0?' });
    expect(play(0, 'K').ui.dialog).toMatchObject({ question: 'Kill 1 run of A?' });
  });
});

describe('a key that does nothing says why', () => {
  it.each<{ from: number; keys: string[]; note: string }>([
    { from: 0, keys: ['up'], note: 'This is the first row.' },
    { from: 7, keys: ['down'], note: 'This is the last row.' },
    { from: 0, keys: ['9'], note: 'There is no group 9; there are 2.' },
    { from: 0, keys: ['0'], note: 'There is no group 10; there are 2.' },
    { from: 2, keys: ['right'], note: 'A run has nothing to unfold; Enter opens it.' },
    { from: 0, keys: ['left', 'left'], note: 'This group is folded already; → unfolds it.' },
    { from: 0, keys: ['k'], note: 'k is for one run or for marked ones; K is for the group.' },
    { from: 3, keys: ['k'], note: 'A_x_s1 has ended already (done).' },
    { from: 7, keys: ['k'], note: 'B_b is stopping already, SIGKILL in 7s.' },
    { from: 2, keys: ['r'], note: 'A_x_s0 is running.' },
    { from: 3, keys: ['r'], note: 'A_x_s1 is done; there is nothing to resume.' },
    { from: 6, keys: ['r'], note: 'B_a is queued already.' },
    { from: 5, keys: ['R'], note: 'No run of B has failed, been killed or lost.' },
    { from: 2, keys: ['h'], note: 'A_x_s0 is running; p pauses it.' },
    { from: 3, keys: ['h'], note: 'A_x_s1 is done; only what waits can be held.' },
    { from: 6, keys: ['p'], note: 'B_a is not running; h holds it.' },
    { from: 4, keys: ['p'], note: 'A_y is failed; only what runs can be paused.' },
    { from: 0, keys: ['h'], note: 'h is for one run or for marked ones; H is for the group.' },
    { from: 5, keys: ['P'], note: 'No run of B is running or paused.' },
    { from: 0, keys: ['escape'], note: 'There is nothing to go back to; q detaches.' },
    { from: 0, keys: ['X'], note: 'X does nothing here; ? shows the keys.' },
    { from: 2, keys: ['enter', 'enter'], note: 'It is open; Esc goes back.' },
    { from: 2, keys: ['k', 'x'], note: 'Nothing was killed.' },
    { from: 0, keys: ['O'], note: 'There is only one sweep in this runs directory.' },
  ])('$keys on row $from', ({ from, keys, note }) => {
    expect(play(from, ...keys).ui.note?.text ?? '').toBe(note);
  });

  it('says what is missing when there is no metric', () => {
    const none = situation(initialUi, { metrics: [] });
    expect(press(initialUi, 'm', none).ui.note?.text).toBe('No run has written a metric yet.');
  });
});

describe('the filter', () => {
  it('follows what is typed, and Esc brings back what was there', () => {
    expect(play(0, '/', 'd', 'o', 'n').ui.filter).toBe('don');
    expect(play(0, '/', 'd', 'backspace', 'x', 'enter').ui.filter).toBe('x');
    expect(play(0, '/', 'x', 'enter', '/', 'y', 'escape').ui.filter).toBe('x');
    expect(play(0, '/', 'a', 'space', 'b', 'ctrl-u', 'c', 'enter').ui.filter).toBe('c');
  });

  it('takes the letters of commands as text', () => {
    expect(play(2, '/', 'k', 'k', 'q').ui).toMatchObject({ filter: 'kkq', dialog: { kind: 'filter' } });
  });

  it.each<[string, string]>([
    ['A N>=', 'A'],
    ['A N>=6', 'A N>=6'],
    ['stat', ''],
    ['status:', ''],
    ['status:fa', 'status:fa'],
    ['A !status:x', 'A'],
    ['"two w', ''],
  ])('while %j is being typed, filters by %j', (typed, filter) => {
    const keys = [...typed].map((letter) => (letter === ' ' ? 'space' : letter));
    expect(play(0, '/', ...keys).ui.filter).toBe(filter);
  });

  it('is cleared by Esc', () => {
    expect(play(0, '/', 'x', 'enter', 'escape').ui.filter).toBe('');
  });
});

describe('dialogs and screens', () => {
  it('chooses a metric with the arrows and Enter', () => {
    expect(play(0, 'm', 'down', 'enter').ui).toMatchObject({ metric: 'reward', dialog: { kind: 'none' } });
    expect(play(0, 'm', 'down', 'escape').ui.metric).toBeNull();
  });

  it('scrolls the help no further than its end', () => {
    const { dialog } = play(0, '?', 'end').ui;
    expect(dialog).toMatchObject({ kind: 'help' });
    expect(play(0, '?', 'end', 'down').ui.dialog).toEqual(dialog);
    expect(play(0, '?', 'end', 'up', '?').ui.dialog).toEqual({ kind: 'none' });
  });

  it('goes through the orders and comes back to the first', () => {
    expect(play(0, 's').ui.sort).toEqual({ by: 'state', isReversed: false });
    expect(play(0, 's', 's').ui.note?.text).toBe('Sorted by loss, highest first.');
    expect(play(0, 's', 's', 's', 's', 's').ui.sort.by).toBe('file order');
  });

  it('opens a run, goes to the next run, and back', () => {
    expect(play(2, 'enter', 'right', 'right')).toMatchObject({ row: 4, ui: { screen: { kind: 'run', offset: 0 } } });
    expect(play(4, 'enter', 'right').row).toBe(6);
    expect(play(2, 'enter', 'escape').ui.screen).toEqual({ kind: 'jobs' });
  });

  it('goes through the panes of a run and stays in one while it goes to another run', () => {
    const pane = (...keys: string[]) => play(2, 'enter', ...keys).ui.screen;
    expect(pane('tab')).toMatchObject({ pane: 'charts' });
    expect(pane('tab', 'tab')).toMatchObject({ pane: 'config' });
    expect(pane('tab', 'tab', 'tab', 'right')).toMatchObject({ pane: 'attempts' });
    expect(pane('tab', 'tab', 'tab', 'tab')).toMatchObject({ pane: 'samples' });
    expect(pane('tab', 'tab', 'tab', 'tab', 'tab')).toMatchObject({ pane: 'log' });
  });

  it('scrolls a pane by what it shows, no further than its end', () => {
    const over = { own: { focus: { width: 80, height: 6 }, log: null }, extent: { length: 12, page: 5 } };
    let ui: UiState = { ...initialUi, screen: { kind: 'run', pane: 'log', offset: 0 } };
    const go = (...keys: string[]) => {
      for (const key of keys) ui = press(ui, key, situation(ui, over)).ui;
      return ui.screen.kind === 'run' ? ui.screen.offset : null;
    };
    expect([go('down'), go('pagedown'), go('end'), go('up'), go('home')]).toEqual([1, 6, 7, 6, 0]);
    go('up');
    expect(ui.note?.text).toBe('This is the first line.');
  });
});
