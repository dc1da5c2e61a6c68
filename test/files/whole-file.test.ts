import { spawnSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openForAppending } from '../../src/files/regular-file.js';
import { linkNew, writeFresh, writeWhole } from '../../src/files/whole-file.js';
import { removeFolder } from '../remove-folder.js';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'whole-'))));
afterEach(() => removeFolder(folder));

const obstacles: { what: string; make: (path: string) => void }[] = [
  { what: 'a named pipe', make: (path) => void spawnSync('mkfifo', [path]) },
  { what: 'a link to another file', make: (path) => symlinkSync(join(folder, 'victim'), path) },
  { what: 'a link to itself', make: (path) => symlinkSync(path, path) },
  { what: 'an old draft', make: (path) => writeFileSync(path, 'a much longer text than the new one') },
];

describe('a file that is written as a whole', () => {
  it.each([...obstacles, { what: 'an empty directory', make: (path: string) => void mkdirSync(path) }])(
    'has its content where its draft was $what',
    ({ make }) => {
      writeFileSync(join(folder, 'victim'), 'precious');
      make(join(folder, 'a.tmp'));
      writeWhole(join(folder, 'a'), 'new');
      expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('new');
      expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('precious');
    },
  );

  it.each(obstacles)('has its content where it was $what', ({ make }) => {
    writeFileSync(join(folder, 'victim'), 'precious');
    make(join(folder, 'a'));
    writeWhole(join(folder, 'a'), 'new');
    writeFresh(join(folder, 'a'), 'newer', 0o600);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('newer');
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('precious');
  });

  it('leaves no draft where it could not be written', () => {
    mkdirSync(join(folder, 'a/b'), { recursive: true });
    expect(() => writeWhole(join(folder, 'a'), 'new')).toThrow();
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it('is refused where a directory with something in it stands, which stays', () => {
    mkdirSync(join(folder, 'a', 'mine'), { recursive: true });
    expect(() => writeWhole(join(folder, 'a'), 'new')).toThrow(/EISDIR|ENOTEMPTY/);
    mkdirSync(join(folder, 'b.tmp', 'mine'), { recursive: true });
    expect(() => writeWhole(join(folder, 'b'), 'new')).toThrow(/ENOTEMPTY/);
    expect(statSync(join(folder, 'b.tmp', 'mine')).isDirectory()).toBe(true);
  });
});

describe('a finished file that is given its name', () => {
  it('has its content under that name, and keeps its draft', () => {
    writeFileSync(join(folder, 'draft'), 'new');
    expect(linkNew(join(folder, 'draft'), join(folder, 'a'))).toBe(true);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('new');
    expect(readFileSync(join(folder, 'draft'), 'utf8')).toBe('new');
  });

  it.each(obstacles)('leaves $what of that name as it is, and says so', ({ make }) => {
    writeFileSync(join(folder, 'victim'), 'precious');
    writeFileSync(join(folder, 'draft'), 'new');
    make(join(folder, 'a'));
    const before = lstatSync(join(folder, 'a'));
    expect(linkNew(join(folder, 'draft'), join(folder, 'a'))).toBe(false);
    const after = lstatSync(join(folder, 'a'));
    expect([after.ino, after.size]).toEqual([before.ino, before.size]);
    expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('precious');
  });

  it('throws what else the system says', () => {
    expect(() => linkNew(join(folder, 'no draft'), join(folder, 'a'))).toThrow(/ENOENT/);
  });
});

describe('a file that is added to', () => {
  it.each([
    { what: 'a named pipe', make: (path: string) => void spawnSync('mkfifo', [path]), reason: /named pipe/ },
    { what: 'a link to a device', make: (path: string) => symlinkSync('/dev/full', path), reason: /device/ },
    { what: 'a link to a file', make: (path: string) => symlinkSync('/etc/hostname', path), reason: /symbolic link/ },
    { what: 'a directory', make: (path: string) => void mkdirSync(path), reason: /directory/ },
    { what: 'a link to itself', make: (path: string) => symlinkSync(path, path), reason: /symbolic link/ },
  ])('is refused where $what stands, at once', ({ make, reason }) => {
    make(join(folder, 'log'));
    const refused = { kind: 'unreadable', reason: expect.stringMatching(reason) as string };
    expect(openForAppending(join(folder, 'log'))).toEqual(refused);
  });
});
