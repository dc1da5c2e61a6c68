import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attemptDirectory, withdraw } from '../../../src/executors/attempt/attempt-files.js';
import { succeed } from '../../../src/executors/attempt/attempt-files.js';
import { writeAnnotation, writeWrittenFiles } from '../../../src/files/run-directory/supervisor-notes.js';
import {
  claimDirectory,
  directoryObstacle,
  ensureOwnDirectory,
} from '../../../src/files/run-directory/own-directory.js';
import { writeRunRecord } from '../../../src/files/run-directory/run-record-file.js';
import { removeFolder } from '../../remove-folder.js';

let place = '';
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'memrl-own-'));
  for (const path of ['runs/.supervisor', 'runs/s', 'home']) mkdirSync(join(place, path), { recursive: true });
  writeFileSync(join(place, 'home/thesis'), 'precious');
});
afterEach(() => removeFolder(place));

const at = (path: string) => join(place, path);
const run = () => at('runs/s/r');
const strange = /behind a symbolic link that was not there when it was first started/;

/** Somebody moves a directory away, and puts a link to another in its place. */
function replace(path: string, target = at('home')): void {
  renameSync(path, `${path}.away`);
  symlinkSync(target, path);
}

const record = { version: 1, ...{ sweep: 's', group: 'g', subgroup: null, name: 'r', identity: 'r' } } as const;
const writes = [
  () => writeRunRecord(run(), { ...record, parameters: {}, argv: [], cwd: '/', host: 'h', git: null, attempts: [] }),
  () => writeAnnotation(run(), { starred: true, tags: [], note: null }),
  () => writeAnnotation(run(), null),
  () => writeWrittenFiles(run(), {} as never),
  () => withdraw(attemptDirectory(run(), 2)),
  () => succeed(run(), { orphan: 1, attempt: 2 }),
  () => ensureOwnDirectory(run()),
];

describe('the directory of a run', () => {
  it('is its own where no link leads to it, whoever has made it', () => {
    expect(directoryObstacle(run())).toBeNull();
    expect(claimDirectory(run(), 1)).toBeNull();
    expect(existsSync(at('runs/s/r/attempts/1'))).toBe(true);
    rmSync(run(), { recursive: true });
    mkdirSync(run());
    expect([directoryObstacle(run()), claimDirectory(run(), 2)]).toEqual([null, null]);
  });

  it.each(['runs/s/r', 'runs/s'])('is no more its own once a run has put a link in the place of %s', (path) => {
    mkdirSync(at('home/r'));
    writeFileSync(at('home/r/thesis'), 'precious');
    claimDirectory(run(), 1);
    replace(at(path));
    expect(directoryObstacle(run())).toMatch(strange);
    expect(claimDirectory(run(), 2)).toMatch(strange);
    expect([readdirSync(at('home')).sort(), readdirSync(at('home/r'))]).toEqual([['r', 'thesis'], ['thesis']]);
  });

  it.each(['runs/s/r', 'runs/s'])('may be behind a link that a person has made before: %s', (path) => {
    mkdirSync(run(), { recursive: true });
    mkdirSync(at('disk/r'), { recursive: true });
    replace(at(path), path === 'runs/s' ? at('disk') : at('disk/r'));
    expect(claimDirectory(run(), 1)).toBeNull();
    expect(existsSync(at('disk/r/attempts/1'))).toBe(true);
    expect([directoryObstacle(run()), claimDirectory(run(), 2)]).toEqual([null, null]);
    // Other names of the same place are the same place; another place is not.
    rmSync(at(path));
    symlinkSync(path === 'runs/s' ? at('disk/../disk') : at('disk/../disk/r'), at(path));
    expect(directoryObstacle(run())).toBeNull();
    rmSync(at(path));
    mkdirSync(at('home/r'));
    symlinkSync(at('home'), at(path));
    expect(directoryObstacle(run())).toMatch(strange);
  });

  it('is started anew behind a link to an empty directory, and in no other', () => {
    mkdirSync(at('empty'));
    symlinkSync(at('empty'), run());
    expect([claimDirectory(run(), 3), claimDirectory(run(), 4)]).toEqual([null, null]);
    symlinkSync(at('home'), at('runs/s/other'));
    expect(claimDirectory(at('runs/s/other'), 3)).toMatch(strange);
    expect(readdirSync(at('home'))).toEqual(['thesis']);
  });

  it.each(['attempts', 'attempts/2'])('has no attempt started behind a link in the place of %s', (path) => {
    claimDirectory(run(), 1);
    rmSync(join(run(), path), { recursive: true, force: true });
    symlinkSync(at('home'), join(run(), path));
    expect(claimDirectory(run(), 2)).toBe(`${join(run(), path)} is a symbolic link`);
    expect(readdirSync(at('home'))).toEqual(['thesis']);
  });

  it('has an attempt begun under the number of another that was taken over', () => {
    claimDirectory(run(), 1);
    symlinkSync('1', join(run(), 'attempts/2'));
    expect(claimDirectory(run(), 2)).toBeNull();
  });

  it('has nothing written behind a link that it has become', () => {
    claimDirectory(run(), 1);
    replace(run());
    mkdirSync(at('home/attempts/2'), { recursive: true });
    for (const write of writes) expect(write).toThrow(strange);
    expect([readdirSync(at('home')).sort(), readdirSync(at('home/attempts'))]).toEqual([['attempts', 'thesis'], ['2']]);
  });

  it('is not created again with the runs directory that someone has deleted', () => {
    claimDirectory(run(), 1);
    rmSync(dirname(dirname(run())), { recursive: true });
    for (const write of [...writes, () => claimDirectory(run(), 2)]) expect(write).toThrow('ENOENT');
    expect(existsSync(dirname(dirname(run())))).toBe(false);
  });
});
