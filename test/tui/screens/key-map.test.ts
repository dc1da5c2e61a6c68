import { afterEach, describe, expect, it } from 'vitest';
import { keysLine } from '../../../src/tui/app/mount-app.js';
import { passingPreferences, strayPreference } from '../../../src/tui/app/preferences.js';
import { WindowStore } from '../../../src/tui/app/window-store.js';
import { helpLines } from '../../../src/tui/dialogs/help.js';
import { press } from '../../../src/tui/dialogs/key-stack.js';
import {
  bindingFor,
  chosenKeys,
  commandFor,
  keyOf,
  keysOn,
  keyTableMarkdown,
} from '../../../src/tui/screens/key-map.js';
import { screens as table } from '../../../src/tui/screens/registry.js';
import { type KeyPreset, keyPresets } from '../../../src/tui/state/preferences-port.js';
import type { ScreenKind } from '../../../src/tui/state/ui-state.js';
import { plainText } from '../../../src/tui/surface/span.js';
import { memorySweep } from '../simulated-fleet.js';

const screens = Object.keys(table) as ScreenKind[];

describe('the table of keys', () => {
  it.each(keyPresets.flatMap((preset) => screens.map((screen) => [preset, screen] as const)))(
    'gives each key of a screen one meaning, and each command one key: %s, %s',
    (preset, screen) => {
      const rows = keysOn(screen, preset);
      const keys = rows.flatMap((row) => row.keys);
      expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
      for (const row of rows) {
        expect(row.keys.length).toBeGreaterThan(0);
        expect(row.keys.map((key) => bindingFor(screen, key, preset)?.command)).toEqual(
          row.keys.map(() => row.command),
        );
      }
    },
  );

  it.each(keyPresets)('calls the key of a command the same on every screen: %s', (preset) => {
    for (const row of screens.flatMap((screen) => keysOn(screen, preset)))
      expect(row.shown).toBe(keyOf(row.command, preset));
  });

  it('shows a key that is bound: the row says what to press', () => {
    for (const preset of keyPresets) {
      for (const screen of screens) {
        const letters = keysOn(screen, preset).filter(({ shown }) => shown.length === 1 && !/[↑↓←→]/.test(shown));
        for (const { shown, command } of letters) expect(bindingFor(screen, shown, preset)?.command).toBe(command);
      }
    }
  });

  it('holds every digit, and finds commands by key', () => {
    expect([...'0123456789'].map((key) => commandFor(key))).toEqual(Array(10).fill('jump'));
    expect(['q', 'ctrl-c', 'K', 'X'].map((key) => commandFor(key))).toEqual([
      'leave',
      'leave',
      'kill-group',
      undefined,
    ]);
  });

  it('moves with h j k l in the vim preset, and kills with x', () => {
    const vim = ['h', 'j', 'k', 'l', 'x', 'X', 'up'].map((key) => commandFor(key, 'vim'));
    expect(vim).toEqual(['fold', 'down', 'up', 'unfold', 'kill', 'kill-group', 'up']);
  });

  it('writes itself as a table for the documentation: every meaning once, with the screens that have it', () => {
    const lines = keyTableMarkdown().split('\n');
    expect(lines.slice(0, 2)).toEqual(['| key | in the vim preset | on | does |', '| --- | --- | --- | --- |']);
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines).toContain('| `k` | `x` | list, run | kill the run (asks first) |');
    expect(lines).toContain('| `D` |  | GPUs | drain the GPU: no new runs start on it; again: undrain it |');
    expect(lines).toContain('| `q` |  | everywhere | detach (also Ctrl-C); runs keep running |');
  });
});

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
