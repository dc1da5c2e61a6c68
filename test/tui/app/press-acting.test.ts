import { describe, expect, it } from 'vitest';
import type { GpuStatus } from '../../../src/protocol/run-summary.js';
import type { KeyContext, Pressed } from '../../../src/tui/keys/key-context.js';
import { press } from '../../../src/tui/dialogs/key-stack.js';
import { keyMapOf } from '../../../src/tui/screens/key-map.js';
import { matching, paletteEntries } from '../../../src/tui/dialogs/palette/palette-view.js';
import { initialUi, type UiState } from '../../../src/tui/state/ui-state.js';
import { aRun } from '../simulated-fleet.js';
import { aSituation, keysOf } from '../situations.js';

/** Rows: 0 A, 1 A_s0 running, 2 A_s1 done, 3 A_s2 failed, 4 B, 5 B_s0 queued, 6 B_s1 queued, 7 B_s2 held. */
const runs = [
  aRun('A_s0', { state: 'running', parameters: { seed: 0, N: 16 } }),
  aRun('A_s1', { state: 'done', parameters: { seed: 1, N: 16 } }),
  aRun('A_s2', { state: 'failed', parameters: { seed: 2, N: 64 } }),
  aRun('B_s0', { parameters: { seed: 0, N: 64 } }),
  aRun('B_s1', { parameters: { seed: 1, N: 64 } }),
  aRun('B_s2', { state: 'held', parameters: { seed: 2, N: 64 } }),
];

const gpu: GpuStatus = {
  ...{ index: 1, name: null, uuid: null, runs: ['abcd/A_s0'], drained: false, memoryTotal: null, memoryUsed: null },
  ...{ utilization: null, temperature: null, power: null, foreign: [], leasedBy: null, mps: false },
};

/** Presses keys one after the other, from row `from`; `"text` stands for its letters. */
function play(from: number, keys: readonly string[], over: Partial<KeyContext> = {}): Pressed {
  const at = (ui: UiState): KeyContext => ({ ...aSituation(runs, ui), ...over });
  const start: UiState = { ...initialUi, selected: at(initialUi).rows[from]!.key, index: from };
  return keys.flatMap(keysOf).reduce<Pressed>((pressed, key) => press(pressed.ui, key, at(pressed.ui)), { ui: start });
}

function orderOf({ order }: Pressed): string {
  if (order === undefined) return '';
  return 'ids' in order ? `${order.type} ${order.ids.map((id) => id.slice('abcd/'.length)).join(' ')}` : order.type;
}

describe('marks', () => {
  it.each<{ when: string; keys: string[]; order: string }>([
    { when: 'h holds what of the marks waits', keys: ['*', 'h'], order: 'hold B_s0 B_s1' },
    { when: 'r resumes what of the marks failed', keys: ['*', 'r'], order: 'resume A_s2' },
    { when: 'p pauses what of the marks runs', keys: ['*', 'p'], order: 'pause A_s0' },
    { when: 'k y kills what of the marks lives', keys: ['*', 'k', 'y'], order: 'kill A_s0 B_s0 B_s1 B_s2' },
    { when: 'K Enter is for the group, whatever is marked', keys: ['*', 'K', 'enter'], order: 'kill A_s0' },
  ])('$when', ({ keys, order }) => {
    expect(orderOf(play(0, keys))).toBe(order);
  });

  it('are counted in the question, with those the filter hides', () => {
    const hidden = { groups: aSituation(runs.slice(0, 3), initialUi).groups };
    const { dialog } = play(0, ['*']).ui;
    expect(dialog.kind).toBe('none');
    const marked = play(0, ['*']).ui;
    const asked = press(marked, 'k', { ...aSituation(runs, marked), ...hidden }).ui;
    expect(asked.dialog).toMatchObject({
      question: 'Kill 4 of the 6 marked runs, 3 of them hidden by the filter?',
    });
  });

  it('that suit none are refused, with what they would have to be', () => {
    expect(play(2, ['space', 'k']).ui.note?.text).toBe(
      'None of the 1 marked run is queued or running; * unmarks them.',
    );
  });

  it('tell what undoes it', () => {
    expect(play(5, ['h']).order).toMatchObject({ undo: 'h releases it' });
    expect(play(4, ['H']).order).toMatchObject({ undo: 'H releases them' });
  });
});

describe('slots and GPUs', () => {
  const gpus = { status: { settled: false, recalled: true, cpu: { slots: 0, busy: 0 }, gpus: [gpu], problem: null } };
  const none = { status: { settled: false, recalled: true, cpu: { slots: 0, busy: 0 }, gpus: [], problem: null } };

  it.each<{ key: string; over?: Partial<KeyContext>; order?: object; note?: RegExp }>([
    { key: '+', order: { type: 'more-slots', by: 1 } },
    { key: '-', order: { type: 'more-slots', by: -1 } },
    { key: '-', over: none, note: /no slots left/ },
    { key: '+', over: gpus, order: { type: 'more-slots', by: 1 } },
    { key: '-', over: gpus, note: /no slots left/ },
    { key: 'D', note: /no GPUs here/ },
    { key: 'D', over: gpus, note: /GPU screen/ },
  ])('$key', ({ key, over = {}, order, note }) => {
    const pressed = play(0, [key], over);
    expect(pressed.order).toEqual(order);
    expect(pressed.ui.note?.text ?? '').toMatch(note ?? /^$/);
  });

  it('drains the GPU of the GPU screen, and fills it again', () => {
    const ui: UiState = { ...initialUi, screen: { kind: 'gpus', index: 0 } };
    const at = { ...aSituation(runs, ui), ...gpus };
    expect(press(ui, 'D', at).order).toEqual({ type: 'drain', gpus: [1], drained: true });
    const drained = { ...at, status: { ...gpus.status, gpus: [{ ...gpu, drained: true }] } };
    expect(press(ui, 'D', drained).order).toEqual({ type: 'drain', gpus: [1], drained: false });
  });
});

describe('the palette', () => {
  it.each<{ typed: string; order: string }>([
    { typed: 'hold', order: 'hold B_s0' },
    { typed: 'hold seed:', order: '' },
    { typed: 'hold group:B', order: 'hold B_s0 B_s1' },
    { typed: 'hold group:B seed=1', order: 'hold B_s1' },
    { typed: 'hol', order: 'hold B_s0' },
    { typed: 'retry status:failed', order: 'resume A_s2' },
    { typed: 'priority 5 seed=0', order: 'priority A_s0 B_s0' },
    { typed: 'slots 4', order: 'set-slots' },
    { typed: 'theme li', order: 'prefer' },
  ])(':$typed and Enter: $order', ({ typed, order }) => {
    expect(orderOf(play(5, [':', `"${typed}`, 'enter']))).toBe(order);
  });

  it.each<{ typed: string; question: string; order: string }>([
    { typed: 'kill N=64', question: 'Kill 3 runs (N=64)?', order: 'kill B_s0 B_s1 B_s2' },
    { typed: 'kill abcd', question: 'Kill the sweep abcd: 4 runs of it?', order: 'stop-sweep' },
    { typed: 'stop abcd', question: 'Kill the sweep abcd: 4 runs of it?', order: 'stop-sweep' },
  ])(':$typed asks once more, with the number', ({ typed, question, order }) => {
    const asked = play(5, [':', `"${typed}`, 'enter']);
    expect(asked.ui.dialog).toMatchObject({ question });
    expect(asked.order).toBeUndefined();
    expect(orderOf(play(5, [':', `"${typed}`, 'enter', 'y']))).toBe(order);
    expect(orderOf(play(5, [':', `"${typed}`, 'enter', 'enter']))).toBe('');
  });

  it.each<{ typed: string; keys: string[]; text: string }>([
    { typed: 'prio', keys: ['tab'], text: 'priority ' },
    { typed: 'prio', keys: ['enter'], text: 'priority ' },
    { typed: 'hold gro', keys: ['tab'], text: 'hold group:' },
    { typed: 'hold gro', keys: ['tab', 'tab', 'tab'], text: 'hold group:A' },
    { typed: 'sort st', keys: ['tab'], text: 'sort state' },
  ])('$typed $keys completes to $text', ({ typed, keys, text }) => {
    expect(play(5, [':', `"${typed}`, ...keys]).ui.dialog).toMatchObject({ kind: 'palette', line: { text } });
  });

  it('does what a key does, by its name', () => {
    expect(play(5, [':', '"log-y', 'enter']).ui.chart.isLogY).toBe(true);
    expect(play(5, [':', '"sort name', 'enter']).ui.sort.by).toBe('name');
    expect(play(5, [':', '"help', 'enter']).ui.dialog).toMatchObject({ kind: 'help' });
  });

  it('stays open, and says so, where Enter can do nothing', () => {
    expect(play(5, [':', '"kill status:lost', 'enter']).ui.dialog).toMatchObject({ kind: 'palette', isRefused: true });
  });

  it('names every command once, and finds commands by what they do', () => {
    const names = paletteEntries.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    const moves = [
      'up',
      'down',
      'page-up',
      'page-down',
      'first',
      'last',
      'jump',
      'previous-branch',
      'next-branch',
      'open',
      'back',
      'next-pane',
      'left',
      'right',
      'palette',
    ];
    const offered = new Set(paletteEntries.map(({ command }) => command));
    const commands = keyMapOf('default').map(({ command }) => command);
    expect(commands.filter((command) => !moves.includes(command) && !offered.has(command))).toEqual([]);
    expect(matching('outliers').map(({ name }) => name)).toEqual(['ranks', 'clip', 'chart']);
  });
});

describe('the filter prompt', () => {
  it.each<{ keys: string[]; text: string; filter: string }>([
    { keys: ['"gro', 'tab', 'tab'], text: 'group:A', filter: 'group:A' },
    { keys: ['"gro', 'tab', 'tab', 'tab'], text: 'group:B', filter: 'group:B' },
    { keys: ['"N=64', 'left', 'backspace'], text: 'N=4', filter: 'N=4' },
    { keys: ['"A', 'enter', '/', 'ctrl-u', '"B', 'enter', '/', 'ctrl-u', 'up', 'up'], text: 'A', filter: 'A' },
    { keys: ['"A', 'enter', '/', 'ctrl-u', '"x', 'up', 'down'], text: 'x', filter: 'x' },
  ])('$keys', ({ keys, text, filter }) => {
    const { ui } = play(0, ['/', ...keys]);
    expect(ui.dialog).toMatchObject({ kind: 'filter', line: { text } });
    expect(ui.filter).toBe(filter);
  });

  it.each<{ typed: string; problem: string; at: number }>([
    { typed: 'A N>', problem: 'N> needs a value.', at: 4 },
    { typed: 'A M>3', problem: 'No run has a parameter or a metric `M`.', at: 2 },
  ])('points at what is wrong in $typed', ({ typed, problem, at }) => {
    const { dialog } = play(0, ['/', `"${typed}`, 'enter']).ui;
    expect(dialog).toMatchObject({ kind: 'filter', problem: { at } });
    expect(JSON.stringify(dialog)).toContain(problem);
  });

  it('gives the old filter back on Esc', () => {
    expect(play(0, ['/', '"A', 'enter', '/', '"B', 'escape']).ui.filter).toBe('A');
  });
});
