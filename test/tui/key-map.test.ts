import { describe, expect, it } from 'vitest';
import { type Key } from 'ink';
import { commandFor, keyMap, keyTableMarkdown } from '../../src/tui/key-map.js';
import { keyNames } from '../../src/tui/key-names.js';

describe('the table of keys', () => {
  it('gives each key one meaning', () => {
    const keys = keyMap.flatMap((binding) => binding.keys);
    expect(new Set(keys).size).toBe(keys.length);
    expect(new Set(keyMap.map(({ command }) => command)).size).toBe(keyMap.length);
  });

  it('holds every digit, and finds commands by key', () => {
    expect([...'0123456789'].map(commandFor)).toEqual(Array(10).fill('jump'));
    expect(['q', 'ctrl-c', 'K', 'X'].map(commandFor)).toEqual(['leave', 'leave', 'kill-group', undefined]);
  });

  it('writes itself as a table for the README', () => {
    const lines = keyTableMarkdown().split('\n');
    expect(lines.slice(0, 2)).toEqual(['| key | does |', '| --- | --- |']);
    expect(lines).toHaveLength(keyMap.length + 2);
    expect(lines).toContain('| `k` | kill the run (press twice) |');
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
