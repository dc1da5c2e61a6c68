import { describe, expect, it } from 'vitest';
import { bindingFor, commandFor, keyOf, keysOn, keyTableMarkdown } from '../../../src/tui/screens/key-map.js';
import { screens as table } from '../../../src/tui/screens/registry.js';
import type { ScreenKind } from '../../../src/tui/state/ui-state.js';
import { keyPresets } from '../../../src/tui/state/preferences-port.js';

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
