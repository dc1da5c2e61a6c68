import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { afterAll, expect, describe, it } from 'vitest';
import { makeFolder } from '../../src/files/make-folder.js';
import { removeFolder } from '../remove-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'make-folder-'));
afterAll(() => removeFolder(folder));

describe('a folder that is made', () => {
  it('is made with its parents, with one mode, and once', () => {
    const path = join(folder, 'a', 'b', 'c');
    expect([makeFolder(path, 0o700), makeFolder(path, 0o700)]).toEqual([true, false]);
    expect(['a', 'a/b', 'a/b/c'].map((each) => statSync(join(folder, each)).mode & 0o777)).toEqual(
      Array(3).fill(0o700),
    );
  });

  it('is refused where the folder that it belongs in was deleted, which stays deleted', () => {
    const root = join(folder, 'deleted');
    expect(() => makeFolder(join(root, 'x/y'), 0o700, root)).toThrow('ENOENT');
    expect(existsSync(root)).toBe(false);
    makeFolder(root);
    expect(makeFolder(join(root, 'x/y'), 0o700, root)).toBe(true);
  });

  it.each([
    { what: 'a file', make: (path: string) => writeFileSync(path, '') },
    { what: 'a link that leads nowhere', make: (path: string) => symlinkSync('/nowhere/at/all', path) },
  ])('is refused where $what stands in the way', ({ what, make }) => {
    const path = join(folder, what);
    make(path);
    expect(() => makeFolder(path)).toThrow('EEXIST');
    expect(() => makeFolder(join(path, 'x'))).toThrow(/EEXIST|ENOTDIR/);
  });

  it.runIf(process.platform === 'linux')('is refused below /proc', () => {
    expect(() => makeFolder('/proc/nope/x')).toThrow('ENOENT');
  });

  it('is refused in a working directory that was deleted', async () => {
    const outfile = join(folder, 'make-folder.mjs');
    const entryPoints = [resolve('src/files/make-folder.ts')];
    await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm' });
    const program = `import { mkdirSync, rmdirSync } from 'node:fs';
      import { makeFolder } from '${outfile}';
      mkdirSync('gone'); process.chdir('gone'); rmdirSync('../gone');
      try { makeFolder('a/b') } catch ({ code }) { console.log(code) }`;
    const words = ['--input-type=module', '-e', program];
    const said = execFileSync(process.execPath, words, { cwd: folder, timeout: 20_000, encoding: 'utf8' });
    expect(said).toBe('ENOENT\n');
  });
});
