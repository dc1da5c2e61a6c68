import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdtempSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { timesAsMuch } from '../../times-as-much.js';
import { UserError } from '../../../src/base/user-error.js';
import { readSweepText } from '../../../src/cli/launch/read.js';
import { removeFolder } from '../../remove-folder.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memrl-sweep-text-'));
});
afterEach(() => removeFolder(folder));

function refusalOf(path: string): string {
  try {
    readSweepText(path);
  } catch (error) {
    if (error instanceof UserError) return `${error.message} → ${error.fix}`;
    throw error;
  }
  return '';
}

const made: Record<string, (path: string) => void> = {
  'a named pipe': (path) => void execFileSync('mkfifo', [path]),
  'a directory': (path) => void execFileSync('mkdir', [path]),
  'a device': (path) => symlinkSync('/dev/zero', path),
  'a loop of links': (path) => symlinkSync(path, path),
  'a sparse file of 40 GB': (path) => {
    const file = openSync(path, 'w');
    ftruncateSync(file, 40e9);
    closeSync(file);
  },
  'a program': (path) => writeFileSync(path, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1])),
  'another encoding': (path) => writeFileSync(path, Buffer.from('name: caf\xe9\n', 'latin1')),
};

describe('a sweep file that is none', () => {
  it.each<[string, string]>([
    ['a named pipe', 'it is a named pipe, not a regular file. → Write the sweep to a file and launch that'],
    ['a directory', 'it is a directory, not a regular file'],
    ['a device', 'it is a device, not a regular file. → Write the sweep to a file'],
    ['a loop of links', 'it is a symbolic link that leads nowhere'],
    ['a sparse file of 40 GB', 'it is larger than 1 MiB. → Check that it is a sweep file'],
    ['a program', 'it is not a text in UTF-8 (line 1)'],
    ['another encoding', 'it is not a text in UTF-8 (line 1)'],
  ])('is refused at once: %s', (what, said) => {
    const path = join(folder, 'sweep.yaml');
    made[what]!(path);
    expect(refusalOf(path)).toContain(said);
    // As much as a missing file, with at most a million bytes that are read.
    const cost = timesAsMuch(
      () => refusalOf(path),
      () => refusalOf(join(folder, 'x.yaml')),
    );
    expect(cost).toBeLessThan(20);
  });

  it('is refused where there is none', () => {
    expect(refusalOf(join(folder, 'x.yaml'))).toContain('there is no such file. → Give the path of a sweep file');
  });
});

describe('a sweep file', () => {
  it('may be large where it is a list of commands', () => {
    const path = join(folder, 'runs.txt');
    writeFileSync(path, 'true\n'.repeat(2 ** 20));
    expect(readSweepText(path)).toHaveLength(5 * 2 ** 20);
  });
});
