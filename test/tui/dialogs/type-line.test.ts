import { describe, expect, it } from 'vitest';
import { press } from '../../../src/tui/dialogs/key-stack.js';
import { initialUi, type UiState } from '../../../src/tui/state/ui-state.js';
import { aRun } from '../simulated-fleet.js';
import { aSituation, keysOf } from '../situations.js';

const asking = { state: 'running', input: 'lines', reason: 'waits for input' } as const;
/** Rows: 0 A, 1 A_asks, 2 A_asks_too, 3 A_deaf, 4 A_ended. */
const runs = [
  aRun('A_asks', asking),
  aRun('A_asks_too', asking),
  aRun('A_deaf', { state: 'running' }),
  aRun('A_ended', { ...asking, state: 'done', reason: null }),
];

function play(from: number, keys: readonly string[], status = aSituation(runs, initialUi).status) {
  const at = (ui: UiState) => ({ ...aSituation(runs, ui), status });
  const start: UiState = { ...initialUi, selected: at(initialUi).rows[from]!.key, index: from };
  const effects: unknown[] = [];
  const ui = keys.flatMap(keysOf).reduce<UiState>((before, key) => {
    const { ui: after, order } = press(before, key, at(before));
    if (order !== undefined) effects.push(order);
    return after;
  }, start);
  return { ui, effects };
}

const typed = (text: string, ids: string[], what: string) => ({ type: 'type', ids, what, text });

describe('typing into a run', () => {
  it('sends each line, an empty one too, and stays open until Esc', () => {
    const { ui, effects } = play(1, ['i', '"p x', 'enter', 'enter', '"c', 'enter', 'escape']);
    const line = (text: string) => typed(text, ['abcd/A_asks'], 'A_asks');
    expect(effects).toEqual([line('p x'), line(''), line('c')]);
    expect(ui.dialog.kind).toBe('none');
  });

  it('takes letters that are keys elsewhere for letters', () => {
    expect(play(1, ['i', '"quit?k', 'enter']).effects).toEqual([typed('quit?k', ['abcd/A_asks'], 'A_asks')]);
  });

  it('recalls earlier lines, and what was begun after them', () => {
    const dialogAfter = (...keys: string[]) =>
      play(1, ['i', '"one', 'enter', '"two', 'enter', '"th', ...keys]).ui.dialog;
    expect(dialogAfter('up')).toMatchObject({ line: { text: 'two' } });
    expect(dialogAfter('up', 'up')).toMatchObject({ line: { text: 'one' } });
    expect(dialogAfter('up', 'up', 'down', 'down')).toMatchObject({ line: { text: 'th' } });
    expect(play(1, ['i', 'up']).ui.note).toMatchObject({ text: 'No earlier line.' });
  });

  it('types into those of the marked runs that can be typed into', () => {
    const ids = ['abcd/A_asks', 'abcd/A_asks_too'];
    expect(play(0, ['*', 'i', '"c', 'enter']).effects).toEqual([typed('c', ids, '2 of the 4 marked runs')]);
  });

  it('is in the palette for the selected run, where the rest is the line', () => {
    const { effects } = play(1, [':', '"type p group:A', 'enter']);
    expect(effects).toMatchObject([{ type: 'type', ids: ['abcd/A_asks'], text: 'p group:A' }]);
  });

  it.each([
    { when: 'on a group', from: 0, keys: ['i'], says: 'Select a run, or mark some, to type into.' },
    {
      when: 'of a run that reads nothing',
      from: 3,
      keys: ['i'],
      says: /^A_deaf reads nothing that is typed\. Write `stdin: type`/,
    },
    { when: 'of a run that has ended', from: 4, keys: ['i'], says: 'A_ended has ended already (done).' },
  ])('is refused $when', ({ from, keys, says }) => {
    const { ui } = play(from, keys);
    expect(ui.dialog.kind).toBe('none');
    expect(ui.note?.text).toMatch(says);
  });

  it('is refused where nothing can be done to any run', () => {
    const status = { ...aSituation(runs, initialUi).status, readOnly: 'This window only looks.' };
    expect(play(1, ['i'], status).ui.note?.text).toBe('This window only looks.');
  });
});
