import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PreferencesFile } from '../../../src/files/preferences.js';
import { passingPreferences, preferencesIn } from '../../../src/tui/app/preferences.js';
import type { PreferencesPort, SavedView } from '../../../src/tui/state/preferences-port.js';
import { initialGrouping, initialSort } from '../../../src/tui/state/list-choice.js';
import { removeFolder } from '../../remove-folder.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memrl-preferences-'));
  path = join(folder, 'preferences.json');
});
afterEach(() => removeFolder(folder));

const open = (): PreferencesPort => preferencesIn(new PreferencesFile(path));
const view: SavedView = {
  ...{ name: 'slow ones', filter: 'status:running', grouping: [{ kind: 'parameter', key: 'N' }, { kind: 'state' }] },
  ...{ sort: { by: 'parameter lr', isReversed: true }, metric: 'test/loss', columns: ['time', 'metric test/loss'] },
};
/** As views were saved when the groups of the sweep file were called blocks. */
const formerly = {
  filter: '',
  grouping: [{ kind: 'block' }, { kind: 'state' }],
  sort: initialSort,
  metric: null,
  columns: null,
};
const plain = { filter: '', grouping: initialGrouping, sort: initialSort, metric: null, columns: null };

it('are read as they were saved when groups were called blocks', () => {
  writeFileSync(path, JSON.stringify({ sweeps: { abcd: { views: [{ ...formerly, name: 'old' }], last: formerly } } }));
  const grouping = [{ kind: 'group' }, { kind: 'state' }];
  expect(open().ofSweep('abcd')).toMatchObject({ views: [{ name: 'old', grouping }], last: { grouping } });
});

describe.each<[string, () => PreferencesPort]>([
  ['kept in a file', () => open()],
  ['for one window', () => passingPreferences()],
])('preferences %s', (_, make) => {
  it('begin with what nobody has chosen', () => {
    const { theme, keys, mouse, problem } = make();
    expect({ theme, keys, mouse, problem }).toEqual({ theme: null, keys: 'default', mouse: true, problem: null });
    expect(make().ofSweep('abcd')).toEqual({ views: [], last: null });
  });

  it('hold what was chosen, each by itself', async () => {
    const preferences = make();
    expect(await preferences.keep({ theme: 'light' })).toBeNull();
    expect(await preferences.keep({ keys: 'vim', mouse: false })).toBeNull();
    expect([preferences.theme, preferences.keys, preferences.mouse]).toEqual(['light', 'vim', false]);
  });

  it('hold the views of each sweep by themselves', async () => {
    const preferences = make();
    await preferences.keepSweep('v1.2', { views: [view], last: plain });
    await preferences.keepSweep('other', { views: [], last: null });
    expect(preferences.ofSweep('v1.2')).toEqual({ views: [view], last: plain });
  });
});

describe('preferences in a file', () => {
  it('come back in the next window', async () => {
    const before = open();
    await Promise.all([before.keep({ theme: 'mono' }), before.keepSweep('abcd', { views: [view], last: plain })]);
    expect(open().theme).toBe('mono');
    expect(open().ofSweep('abcd')).toEqual({ views: [view], last: plain });
  });

  it.each<[string, object, RegExp]>([
    [
      'theme',
      { theme: 'blue' },
      /^theme in .* is "blue", which is not one of dark, light, colour-blind, mono; it is ignored\.$/,
    ],
    ['keys', { keys: 'emacs' }, /"emacs", which is not one of default, vim/],
    ['mouse', { mouse: 'no' }, /"no", which is not true or false/],
  ])('say which value cannot be, and go on without it: %s', (_, values, problem) => {
    writeFileSync(path, JSON.stringify(values));
    const preferences = open();
    expect(preferences.problem).toMatch(problem);
    const { theme, keys, mouse } = preferences;
    expect({ theme, keys, mouse }).toEqual({ theme: null, keys: 'default', mouse: true });
  });

  it('leave out a view that cannot be, and keep the others', () => {
    const stray = [{ ...view, name: 3 }, { ...view, sort: { by: 'trend', isReversed: false } }, 'view', null];
    const last = { ...plain, grouping: [] };
    writeFileSync(path, JSON.stringify({ sweeps: { abcd: { views: [...stray, view], last }, other: 7 } }));
    expect(open().ofSweep('abcd')).toEqual({ views: [view], last: null });
    expect(open().ofSweep('other')).toEqual({ views: [], last: null });
  });

  it('keep what a newer program has written beside theirs', async () => {
    writeFileSync(path, '{"sweeps": {"abcd": {"views": []}}, "sound": "off"}');
    await open().keepSweep('other', { views: [], last: null });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ sound: 'off', sweeps: { abcd: { views: [] } } });
  });
});
