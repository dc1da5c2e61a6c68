import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserError } from '../../src/base/user-error.js';
import { writeOutput } from '../../src/files/output-file.js';
import { removeFolder } from '../remove-folder.js';

const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;
if (!isRoot) console.warn('SKIPPED: only root can try the outputs of others, and devices of its own');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'output-'));
  chmodSync(folder, 0o777);
});
afterEach(() => removeFolder(folder));

const at = (name: string) => join(folder, name);
const textAt = (name: string) => readFileSync(at(name), 'utf8');
const write = (path: string, text = 'new') => writeOutput(path, (file) => writeFileSync(file, text));

/** What `act` gives, done by a user without privileges. */
function asNobody<T>(act: () => T): T {
  process.setegid!(NOBODY);
  process.seteuid!(NOBODY);
  try {
    return act();
  } finally {
    process.seteuid!(0);
    process.setegid!(0);
  }
}

const users: { who: string; as: <T>(act: () => T) => T }[] = [
  { who: 'whoever tests', as: (act) => act() },
  ...(isRoot ? [{ who: 'a user without privileges', as: asNobody }] : []),
];

describe.each(users)('an output of $who', ({ as }) => {
  it('is made where there was nothing, and leaves nothing else', () => {
    expect(as(() => writeOutput(at('a'), (file) => (writeFileSync(file, 'new'), 7)))).toBe(7);
    expect(textAt('a')).toBe('new');
    expect(statSync(at('a')).mode & 0o777).toBe(0o666 & ~process.umask());
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it.each([0o600, 0o640, 0o755, 0o666])('replaces a file in one step, with its mode %o', (mode) => {
    as(() => writeFileSync(at('a'), 'a much longer old text'));
    as(() => chmodSync(at('a'), mode));
    const { ino, uid } = statSync(at('a'));
    as(() => {
      writeOutput(at('a'), (file) => {
        writeFileSync(file, 'ne');
        expect(textAt('a')).toBe('a much longer old text');
        writeFileSync(file, 'w');
      });
    });
    expect(textAt('a')).toBe('new');
    expect(statSync(at('a'))).toMatchObject({ mode: 0o100000 | mode, uid });
    expect(statSync(at('a')).ino).not.toBe(ino);
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it('leaves the old text where the new one cannot be written to its end', () => {
    as(() => writeFileSync(at('a'), 'old'));
    const fail = () => {
      throw new Error('no more');
    };
    expect(() => as(() => writeOutput(at('a'), fail))).toThrow('no more');
    expect([textAt('a'), readdirSync(folder)]).toEqual(['old', ['a']]);
  });

  it.each(['/', '.'])('goes where links lead, which stay: beginning with %s', (root) => {
    mkdirSync(at('far'));
    chmodSync(at('far'), 0o777);
    as(() => writeFileSync(at('far/target'), 'old'));
    const far = root === '/' ? at('far') : './far';
    symlinkSync(`${far}/target`, at('one'));
    symlinkSync('one', at('two'));
    as(() => write(at('two')));
    expect(textAt('far/target')).toBe('new');
    expect([readlinkSync(at('one')), readlinkSync(at('two'))]).toEqual([`${far}/target`, 'one']);
  });

  it('is made where links lead that lead to nothing yet', () => {
    mkdirSync(at('far'));
    chmodSync(at('far'), 0o777);
    symlinkSync('far/target', at('one'));
    symlinkSync(at('one'), at('two'));
    as(() => write(at('two')));
    expect(textAt('far/target')).toBe('new');
    expect(lstatSync(at('two')).isSymbolicLink()).toBe(true);
    expect([readdirSync(folder).sort(), readdirSync(at('far'))]).toEqual([['far', 'one', 'two'], ['target']]);
  });

  it('is read from a pipe, which stays one', async () => {
    execFileSync('mkfifo', ['-m', '666', at('pipe')]);
    const reader = spawn('cat', [at('pipe')], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    reader.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    as(() => write(at('pipe')));
    await once(reader, 'close');
    expect([text, lstatSync(at('pipe')).isFIFO()]).toEqual(['new', true]);
  });

  it('is swallowed by a device, or refused by it, which stays one', () => {
    expect(() => as(() => write('/dev/full'))).toThrow('Cannot write /dev/full: the disk is full.');
    symlinkSync('/dev/null', at('null'));
    as(() => write(at('null')));
    for (const device of ['/dev/full', '/dev/null']) expect(lstatSync(device).isCharacterDevice()).toBe(true);
    expect(lstatSync(at('null')).isSymbolicLink()).toBe(true);
  });

  it.each([
    { what: 'a directory', make: () => mkdirSync(at('x')), why: 'it is a directory' },
    { what: 'a circle of links', make: () => symlinkSync('x', at('x')), why: 'symbolic link' },
    {
      what: 'a link into a missing folder',
      make: () => symlinkSync('none/y', at('x')),
      why: 'its folder is not there',
    },
  ])('is refused where $what stands, which stays', ({ make, why }) => {
    make();
    const before = lstatSync(at('x')).ino;
    const refused = () => as(() => write(at('x')));
    expect(refused).toThrow(UserError);
    expect(refused).toThrow(why);
    expect([lstatSync(at('x')).ino, readdirSync(folder)]).toEqual([before, ['x']]);
  });

  it('is added to what a shell has opened already', () => {
    as(() => writeFileSync(at('a'), 'old, '));
    const file = openSync(at('a'), 'a');
    write(`/dev/fd/${file}`);
    closeSync(file);
    expect(textAt('a')).toBe('old, new');
  });

  it('has all the names that the file had', () => {
    as(() => writeFileSync(at('a'), 'a longer old text'));
    as(() => linkSync(at('a'), at('b')));
    as(() => write(at('a')));
    expect([textAt('a'), textAt('b'), statSync(at('a')).nlink]).toEqual(['new', 'new', 2]);
  });

  it('has a name that is as long as names can be', () => {
    const name = 'n'.repeat(255);
    as(() => write(at(name)));
    as(() => write(at(name), 'newer'));
    expect([textAt(name), readdirSync(folder)]).toEqual(['newer', [name]]);
  });
});

describe.skipIf(!isRoot)('a file that is write-protected', () => {
  it('is not replaced by its owner, as a shell would not', () => {
    asNobody(() => writeFileSync(at('a'), 'old', { mode: 0o444 }));
    expect(() => asNobody(() => write(at('a')))).toThrow(/Cannot write .*: permission denied/);
    expect([textAt('a'), readdirSync(folder)]).toEqual(['old', ['a']]);
  });
});

describe.skipIf(!isRoot)('an output in the place of a file of another user', () => {
  const theirs = (mode: number) => {
    writeFileSync(at('a'), 'a longer old text', { mode });
    chmodSync(at('a'), mode);
  };

  it('stays that user’s, written by root', () => {
    theirs(0o4750);
    chownSync(at('a'), NOBODY, NOBODY);
    chmodSync(at('a'), 0o4750);
    write(at('a'));
    expect(textAt('a')).toBe('new');
    expect(statSync(at('a'))).toMatchObject({ uid: NOBODY, gid: NOBODY, mode: 0o104750 });
  });

  it.each([
    { where: 'a folder of everybody’s', mode: 0o777 },
    { where: 'a sticky folder', mode: 0o1777 },
    { where: 'a folder in which nothing can be made', mode: 0o755 },
  ])('stays root’s in $where, written by who may write to it', ({ mode }) => {
    theirs(0o666);
    chmodSync(folder, mode);
    const { ino } = statSync(at('a'));
    asNobody(() => write(at('a')));
    expect(textAt('a')).toBe('new');
    expect(statSync(at('a'))).toMatchObject({ uid: 0, gid: 0, mode: 0o100666, ino });
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it.each([0o777, 0o1777, 0o755])('is refused to who may not write to it, in a folder of mode %o', (mode) => {
    theirs(0o644);
    chmodSync(folder, mode);
    expect(() => asNobody(() => write(at('a')))).toThrow(/Cannot write .*: permission denied/);
    expect([textAt('a'), readdirSync(folder)]).toEqual(['a longer old text', ['a']]);
  });

  it('goes to a device of its own, which stays one', () => {
    execFileSync('mknod', ['-m', '666', at('null'), 'c', '1', '3']);
    write(at('null'));
    expect([lstatSync(at('null')).isCharacterDevice(), readdirSync(folder)]).toEqual([true, ['null']]);
  });
});
