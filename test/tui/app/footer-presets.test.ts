import { afterEach, describe, expect, it } from 'vitest';
import { WindowStore } from '../../../src/tui/app/window-store.js';
import { press } from '../../../src/tui/dialogs/key-stack.js';
import { commandFor } from '../../../src/tui/screens/key-map.js';
import { type KeyPreset, keyPresets } from '../../../src/tui/state/preferences-port.js';
import { passingPreferences } from '../../../src/tui/app/preferences.js';
import { screenText } from '../frames.js';
import { memorySweep } from '../simulated-fleet.js';

let open: WindowStore[] = [];
afterEach(() => {
  open.forEach((store) => store.close());
  open = [];
});

/** The hints of the last line after these keys: what their keys ask for in this preset, or the keys, and their words. */
async function hints(preset: KeyPreset, keys: readonly string[]): Promise<string[]> {
  const { fleet, files, now } = memorySweep();
  const preferences = passingPreferences();
  await preferences.keep({ keys: preset });
  const store = new WindowStore({ fleet, files, preferences, now: () => now, perform: () => undefined }, 'abcd');
  store.listen(press);
  open.push(store);
  store.resize(300, 60);
  for (const key of keys) store.press(key);
  const line = screenText(store).at(-1)!.trim();
  return line.split(/ {2,}/).map((hint) => {
    const [key = '', ...words] = hint.split(' ');
    return `${commandFor(key, preset) ?? key} ${words.join(' ')}`;
  });
}

describe('the hints of the footer', () => {
  it.each<{ where: string; keys: string[] }>([
    { where: 'the list', keys: [] },
    { where: 'an open group', keys: ['enter'] },
    { where: 'an open run', keys: ['down', 'down', 'enter'] },
    { where: 'its charts', keys: ['down', 'down', 'enter', 'tab'] },
    { where: 'its configuration', keys: ['down', 'down', 'enter', 'tab', 'tab'] },
    { where: 'a comparison', keys: ['c'] },
    { where: 'curves compared', keys: ['c', 'tab'] },
    { where: 'a heatmap', keys: ['c', 'tab', 'tab'] },
    { where: 'the GPUs', keys: ['d'] },
    { where: 'the sweep', keys: ['S'] },
  ])('offer the same in both presets: $where', async ({ keys }) => {
    const [usual, vim] = await Promise.all(keyPresets.map((preset) => hints(preset, keys)));
    expect(usual!.length).toBeGreaterThan(4);
    expect(vim).toEqual(usual);
  });
});
