import { describe, expect, it } from 'vitest';
import type { Key } from 'ink';
import { commandFor, keyMap, keyMapOf, keyOf, keyTableMarkdown } from '../../../src/tui/app/key-map.js';
import { keyNames } from '../../../src/tui/terminal/key-names.js';
import { keyPresets } from '../../../src/tui/state/preferences-port.js';

describe('the table of keys', () => {
  it.each(keyPresets)('gives each key one meaning, and each command a key: %s', (preset) => {
    const map = keyMapOf(preset);
    const keys = map.flatMap((binding) => binding.keys);
    expect(new Set(keys).size).toBe(keys.length);
    expect(map.map(({ command }) => command)).toEqual(keyMap.map(({ command }) => command));
    expect(new Set(map.map(({ command }) => command)).size).toBe(map.length);
    for (const { command, keys: bound, shown } of map) {
      expect(bound.map((key) => commandFor(key, preset))).toEqual(bound.map(() => command));
      expect(bound.length).toBeGreaterThan(0);
      expect(keyOf(command, preset)).toBe(shown);
    }
  });

  it('shows a key that is bound: the row says what to press', () => {
    for (const preset of keyPresets) {
      for (const { shown, command } of keyMapOf(preset).filter(
        (row) => row.shown.length === 1 && !/[↑↓←→]/.test(row.shown),
      ))
        expect(commandFor(shown, preset)).toBe(command);
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

  it('writes itself as a table for the documentation, with what is other in the vim preset', () => {
    const lines = keyTableMarkdown().split('\n');
    expect(lines.slice(0, 2)).toEqual(['| key | in the vim preset | does |', '| --- | --- | --- |']);
    expect(lines).toHaveLength(keyMap.length + 2);
    expect(lines).toContain('| `k` | `x` | kill the run (asks first) |');
    expect(lines).toContain('| `q` |  | detach (also Ctrl-C); runs keep running |');
  });
});

describe('the names of keys', () => {
  const none = {} as Key;
  it.each<[string, string, Partial<Key>, string[]]>([
    ['a letter', 'k', {}, ['k']],
    ['an arrow', '', { upArrow: true }, ['up']],
    ['return', '\r', { return: true }, ['enter']],
    ['what Ink calls delete', '', { delete: true }, ['backspace']],
    ['control and a letter', 'l', { ctrl: true }, ['ctrl-l']],
    ['several letters in one read', 'kk', {}, ['k', 'k']],
    ['letters and control bytes in one read', 'a\u0003 \r', {}, ['a', 'ctrl-c', 'space', 'enter']],
    ['a pasted backspace', 'x\u007f', {}, ['x', 'backspace']],
    ['letters of any script', 'é你', {}, ['é', '你']],
    ['nothing', '', {}, []],
  ])('%s', (_, input, flags, names) => {
    expect(keyNames(input, { ...none, ...flags })).toEqual(names);
  });
});
