import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PreferencesFile, preferencesPath } from '../../src/files/preferences.js';
import { bundledFile } from '../bundled.js';
import { removeFolder } from '../remove-folder.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memrl-preferences-'));
  path = join(folder, 'memrl-tui/preferences.json');
});
afterEach(() => removeFolder(folder));

const kept = (): unknown => JSON.parse(readFileSync(path, 'utf8'));
function write(text: string): void {
  mkdirSync(join(folder, 'memrl-tui'), { recursive: true });
  writeFileSync(path, text);
}

describe('where preferences are kept', () => {
  it.each<[string, Record<string, string>, string]>([
    ['below the home folder', { HOME: '/home/ada' }, '/home/ada/.config/memrl-tui/preferences.json'],
    ['where XDG says', { HOME: '/home/ada', XDG_CONFIG_HOME: '/cfg' }, '/cfg/memrl-tui/preferences.json'],
    [
      'below the home folder where XDG is empty',
      { HOME: '/h', XDG_CONFIG_HOME: '' },
      '/h/.config/memrl-tui/preferences.json',
    ],
    ['in a folder of its own', { XDG_CONFIG_HOME: '/cfg', MEMRL_CONFIG_DIR: '/mine' }, '/mine/preferences.json'],
  ])('%s', (_, environment, expected) => {
    expect(preferencesPath(environment)).toBe(expected);
  });
});

describe('a named pipe in the place of the preferences', () => {
  it('is told, waited for by nobody, and left as it is', async () => {
    mkdirSync(join(folder, 'memrl-tui'));
    execFileSync('mkfifo', [path]);
    const file = new PreferencesFile(path);
    const why = 'it is a named pipe, not a regular file';
    expect({ values: file.values, problem: file.problem }).toEqual({
      values: {},
      problem: `${path} cannot be read: ${why}`,
    });
    expect(await file.change((values) => ({ ...values, theme: 'light' }))).toBe(
      `Preferences could not be saved in ${path}: ${why}`,
    );
    expect(file.values).toEqual({ theme: 'light' });
    expect(lstatSync(path).isFIFO()).toBe(true);
  });
});

describe('the file of preferences', () => {
  it('writes nothing, not even a folder, until something is changed', () => {
    expect(new PreferencesFile(path).values).toEqual({});
    expect(readdirSync(folder)).toEqual([]);
  });

  it('holds a change at once, and has written it when the promise resolves', async () => {
    const file = new PreferencesFile(path);
    const written = file.change((values) => ({ ...values, theme: 'light' }));
    expect(file.values).toEqual({ theme: 'light' });
    expect(await written).toBeNull();
    expect(new PreferencesFile(path).values).toEqual({ theme: 'light' });
    expect(readdirSync(join(folder, 'memrl-tui'))).toEqual(['preferences.json']);
  });

  it('keeps keys it does not know, and names with dots in them', async () => {
    write('{"of a newer program": [1, 2], "a.b": 1}');
    await new PreferencesFile(path).change((values) => ({ ...values, 'c.d': 2 }));
    expect(kept()).toEqual({ 'of a newer program': [1, 2], 'a.b': 1, 'c.d': 2 });
  });

  it('makes changes in the order in which they were asked for', async () => {
    const file = new PreferencesFile(path);
    await Promise.all([1, 2, 3].map((size) => file.change((values) => ({ ...values, size }))));
    expect(kept()).toEqual({ size: 3 });
  });

  it('does not undo what another window has kept in the meantime', async () => {
    const [first, second] = [new PreferencesFile(path), new PreferencesFile(path)];
    await first.change((values) => ({ ...values, theme: 'light' }));
    await second.change((values) => ({ ...values, keys: 'vim' }));
    expect(kept()).toEqual({ theme: 'light', keys: 'vim' });
  });

  it('loses nothing when several processes write at the same time', async () => {
    const program = await bundledFile('test/files/preferences-writer.ts');
    const codes = await Promise.all(['a', 'b', 'c'].map((name) => ended(program, path, name, '20')));
    expect(codes).toEqual([0, 0, 0]);
    expect(Object.keys(kept() as object)).toHaveLength(60);
  });

  it.each([
    ['no JSON', '{"theme": "li', /JSON/],
    ['no object', '[1, 2]', /it is not a JSON object/],
    ['empty', '', /JSON/],
  ])('puts a damaged file aside and says so: %s', async (_, text, reason) => {
    write(text);
    const file = new PreferencesFile(path);
    expect(file.problem).toMatch(reason);
    expect(file.problem).toContain(`it is now ${path}.damaged`);
    expect(readFileSync(`${path}.damaged`, 'utf8')).toBe(text);
    expect(await file.change(() => ({ theme: 'dark' }))).toBeNull();
    expect(kept()).toEqual({ theme: 'dark' });
  });

  it('says why it cannot keep a change, and goes on with it', async () => {
    writeFileSync(join(folder, 'memrl-tui'), 'a file where the folder should be');
    const file = new PreferencesFile(path);
    expect(await file.change(() => ({ theme: 'dark' }))).toMatch(/^Preferences could not be saved in .*EEXIST/);
    expect(file.values).toEqual({ theme: 'dark' });
  });

  it.runIf(process.getuid?.() !== 0)('says that it may not read the file, and leaves it alone', () => {
    write('{}');
    chmodSync(path, 0o000);
    expect(new PreferencesFile(path).problem).toMatch(/cannot be read: EACCES/);
    expect(existsSync(path)).toBe(true);
  });

  it('takes a lock away that a dead process has left', async () => {
    write('{}');
    writeFileSync(`${path}.lock`, '');
    utimesSync(`${path}.lock`, 1, 1);
    expect(await new PreferencesFile(path).change(() => ({ theme: 'dark' }))).toBeNull();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

function ended(...args: string[]): Promise<number | null> {
  return new Promise((resolve) => spawn(process.execPath, args, { stdio: 'inherit' }).on('close', resolve));
}
