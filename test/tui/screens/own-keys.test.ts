import { afterEach, describe, expect, it } from 'vitest';
import { bindingFor, commandFor, keyOf, keysOn } from '../../../src/tui/screens/key-map.js';
import { chosenKeys } from '../../../src/tui/screens/own-keys.js';
import { keysLine } from '../../../src/tui/app/mount-app.js';
import { passingPreferences, strayPreference } from '../../../src/tui/app/preferences.js';
import { WindowStore } from '../../../src/tui/app/window-store.js';
import { press } from '../../../src/tui/dialogs/key-stack.js';
import { helpLines } from '../../../src/tui/dialogs/help.js';
import type { KeyPreset } from '../../../src/tui/state/preferences-port.js';
import { plainText } from '../../../src/tui/surface/span.js';
import { memorySweep } from '../simulated-fleet.js';

const chosen = (bindings: Record<string, string | string[]>, keys: KeyPreset = 'default') =>
  chosenKeys({ keys, bindings });
const mapping = (...from: Parameters<typeof chosen>) => {
  const { keys, problem } = chosen(...from);
  expect(problem).toBeNull();
  return keys;
};

describe('keys of the user’s own', () => {
  it('take the place of a command’s keys on every screen that has it, in any preset', () => {
    const keys = mapping({ pause: ['z', 'ctrl-p'], 'kill-group': 'ctrl-k' });
    expect(['z', 'ctrl-p', 'p', 'ctrl-k', 'K', 'k'].map((key) => commandFor(key, keys))).toEqual([
      ...['pause', 'pause', undefined, 'kill-group', undefined, 'kill'],
    ]);
    expect(bindingFor('run', 'z', keys)?.command).toBe('pause');
    expect([keyOf('pause', keys), keyOf('kill-group', keys)]).toEqual(['z', 'Ctrl-K']);
    const inVim = mapping({ kill: 'd', gpus: 'x' }, 'vim');
    expect(['d', 'x', 'j'].map((key) => commandFor(key, inVim))).toEqual(['kill', 'gpus', 'down']);
  });

  it('may swap, as long as no key has two meanings', () => {
    const keys = mapping({ hold: 'p', pause: 'h' });
    expect([commandFor('p', keys), commandFor('h', keys)]).toEqual(['hold', 'pause']);
  });

  it('leave Esc, Enter and Tab what they are, as messages name them', () => {
    const keys = mapping({ back: 'Q', open: 'V', 'next-pane': 'J' });
    expect(['Q', 'escape', 'V', 'enter'].map((key) => bindingFor('jobs', key, keys)?.command)).toEqual([
      ...['back', 'back', 'open', 'open'],
    ]);
    expect(keyOf('back', keys)).toBe('Q');
  });

  it('are one table for the vim preset, too', () => {
    for (const screen of ['jobs', 'run', 'compare', 'gpus', 'sweep', 'parameters'] as const) {
      const keys = keysOn(screen, 'vim').flatMap((row) => row.keys);
      expect(new Set(keys).size).toBe(keys.length);
    }
  });

  it.each<{ bindings: Record<string, string | string[]>; says: string }>([
    { bindings: { kil: 'x' }, says: 'There is no command `kil`. Did you mean `kill`?' },
    { bindings: { kill: 'crtl-k' }, says: '`crtl-k` for `kill` is not a key. Write a character,' },
    { bindings: { kill: 'ctrl-c' }, says: '`ctrl-c` works everywhere and cannot be `kill`. Choose another key.' },
    { bindings: { jump: 'j' }, says: '`jump` is what the digits do' },
    {
      bindings: { kill: 'x' },
      says: '`x` would be both `kill` and `x-axis` on the screen list. Give `x-axis` another key, too.',
    },
    { bindings: { kill: 'Z', pause: ['p', 'Z'] }, says: '`Z` would be both `kill` and `pause` on the screen list.' },
  ])('that cannot be are refused with the fix: $bindings', ({ bindings, says }) => {
    expect(chosen(bindings)).toEqual({
      keys: 'default',
      problem: expect.stringContaining(`are not used. ${says}`) as string,
    });
  });

  it('that are no map of keys are refused by the file', () => {
    expect(strayPreference({ path: '/p.json', values: { bindings: { kill: 7 } } })).toContain(
      'which is not a map from commands',
    );
  });
});

describe('a window with keys of the user’s own', () => {
  let store: WindowStore | null = null;
  afterEach(() => store?.close());

  it('shows them in the footer and the help, and obeys them', async () => {
    const preferences = passingPreferences();
    await preferences.keep({ bindings: { kill: 'ctrl-k', down: 'J', help: 'f' } });
    const { fleet, files, now } = memorySweep();
    store = new WindowStore({ fleet, files, preferences, now: () => now, perform: () => undefined }, 'abcd');
    store.listen(press);
    store.resize(160, 40);
    expect(plainText(keysLine(store.model(), 160))).toMatch(/^ *↑ move .*f help/);
    store.press('J');
    expect(store.model().index).toBe(1);
    store.press('f');
    expect(store.model().ui.dialog.kind).toBe('help');
    const help = helpLines(store.model().ui, '', 80).map((line) => plainText(line));
    expect(help).toContainEqual(expect.stringMatching(/^ Ctrl-K +kill the run/));
    await preferences.keep({ bindings: { kill: 'm' } });
    store.prefer();
    expect(store.model().ui.note?.text).toMatch(/are not used\. `m` would be both/);
  });
});
