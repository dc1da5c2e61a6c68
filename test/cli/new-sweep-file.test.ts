import { lstatSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserError } from '../../src/base/user-error.js';
import { isTaken, writeNewSweep } from '../../src/cli/new-sweep-file.js';
import { removeFolder } from '../remove-folder.js';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'sweep-file-'))));
afterEach(() => removeFolder(folder));

describe('a sweep file that is written', () => {
  it('is made, with its folder', () => {
    const path = join(folder, 'sweeps', 'a.yaml');
    expect(isTaken(path)).toBe(false);
    writeNewSweep(path, 'text');
    expect([isTaken(path), readFileSync(path, 'utf8')]).toEqual([true, 'text']);
  });

  it.each([
    { what: 'a file', make: (path: string) => writeFileSync(path, 'old') },
    { what: 'a directory', make: (path: string) => mkdirSync(path) },
    { what: 'a link to nothing', make: (path: string) => symlinkSync('nothing', path) },
    { what: 'a link to a device', make: (path: string) => symlinkSync('/dev/full', path) },
  ])('leaves $what that is there, and says so', ({ make }) => {
    const path = join(folder, 'a.yaml');
    make(path);
    const { ino } = lstatSync(path);
    expect(isTaken(path)).toBe(true);
    expect(() => writeNewSweep(path, 'text')).toThrow(UserError);
    expect(() => writeNewSweep(path, 'text')).toThrow(`Cannot write ${path}: something else stands in its place.`);
    expect(lstatSync(path).ino).toBe(ino);
    expect(isTaken(join(folder, 'nothing'))).toBe(false);
  });
});
