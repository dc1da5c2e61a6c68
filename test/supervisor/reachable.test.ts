import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ensureSupervisor } from '../../src/client/ensure-supervisor.js';
import { identityOf, isAlive } from '../../src/processes/process-identity.js';
import { readLock } from '../../src/supervisor/core/lock.js';
import { Testbed, untilState, waitFor } from './testbed.js';
import { removeFolder } from '../remove-folder.js';

const environment = { PATH: process.env['PATH']! };

let bed: Testbed;
let runtime: string;
const begin = async () => {
  runtime = realpathSync(mkdtempSync(join(tmpdir(), 'runtime-')));
  bed = new Testbed({ XDG_RUNTIME_DIR: runtime });
  const fleet = await bed.fleet();
  const runs = [{ name: 'long', argv: ['sleep', '600'] }, { name: 'next' }];
  await fleet.submit(bed.plan('s', runs), environment, { slots: 1 });
  await untilState(fleet, 's/long', 'running');
  return fleet;
};
afterEach(async () => {
  await bed.close();
  removeFolder(runtime);
});

const socket = () => readLock(bed.path('.supervisor', 'lock.json'))?.socket ?? '';
const inode = () => statSync(socket(), { throwIfNoEntry: false })?.ino;
/** Removes a folder in one instant: the supervisor would put its socket back into one that is only half removed. */
function vanish(folder: string): void {
  renameSync(folder, `${folder}.gone`);
  removeFolder(`${folder}.gone`);
}

/** Whether an empty file could be made at a path, where there was nothing. */
function isMade(path: string): boolean {
  try {
    writeFileSync(path, '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

const isListeningAgain = () => existsSync(socket());

describe('the socket of a supervisor', () => {
  it('is gone with its supervisor', async () => {
    await begin();
    const was = socket();
    const pid = bed.supervisorPid()!;
    const identity = identityOf(pid)!;
    process.kill(pid, 'SIGTERM');
    await waitFor('the end of the supervisor', () => !isAlive(identity));
    expect(readdirSync(dirname(was))).toEqual([]);
    expect(readFileSync(bed.path('.supervisor', 'log'), 'utf8')).not.toContain('was gone');
  });

  it.each<{ what: string; lose: () => void }>([
    {
      what: 'the folder of its user went at logout and came again at login',
      lose: () => {
        vanish(runtime);
        mkdirSync(runtime, { recursive: true, mode: 0o700 });
      },
    },
    { what: 'somebody deleted it', lose: () => unlinkSync(socket()) },
    { what: 'somebody deleted its folder', lose: () => vanish(join(runtime, 'memrl')) },
  ])('is made anew after $what, and whoever was connected stays', async ({ lose }) => {
    const fleet = await begin();
    const pid = bed.supervisorPid();
    lose();
    await waitFor('the socket', isListeningAgain);
    const other = await bed.fleet();
    expect(bed.supervisorPid()).toBe(pid);
    expect(fleet.connection).toBe('connected');
    await other.act('kill', [...other.runs.keys()]);
    await untilState(fleet, 's/long', 'killed');
  });

  it('moves to where logout does not reach when the folder stays away', { tags: ['long'] }, async () => {
    const fleet = await begin();
    const pid = bed.supervisorPid();
    const before = socket();
    // Nothing can be made below a file. The supervisor may be the first to make something there.
    do vanish(runtime);
    while (!isMade(runtime));
    await waitFor('another place', () => socket() !== before && isListeningAgain());
    await untilState(await bed.fleet(), 's/long', 'running');
    expect([bed.supervisorPid(), fleet.connection]).toEqual([pid, 'connected']);
    unlinkSync(socket());
    await waitFor('the socket', isListeningAgain);
  });

  it('is left alone when it has become that of another supervisor', { tags: ['long'] }, async () => {
    await begin();
    const fleet = await bed.fleet();
    const pid = bed.supervisorPid()!;
    const first = inode();
    // As if it had been suspended for long: another one has the lock when it wakes.
    process.kill(pid, 'SIGSTOP');
    unlinkSync(bed.path('.supervisor', 'lock.json'));
    const heir = await bed.spawnSupervisor();
    await waitFor('the heir', () => bed.supervisorPid() === heir.pid && inode() !== first);
    const second = inode();
    process.kill(pid, 'SIGCONT');
    await waitFor('the first to leave', () => !existsSync(`/proc/${pid}`));
    expect(bed.supervisorPid()).toBe(heir.pid);
    expect(inode()).toBe(second);
    expect(readdirSync(join(runtime, 'memrl'))).toHaveLength(1);
    await waitFor('the client to find the heir', () => fleet.connection === 'connected');
    await untilState(fleet, 's/long', 'running');
  });
});

describe('a supervisor whose runs directory is gone', () => {
  it.each<{ what: string; lose: () => void }>([
    { what: 'it was moved away', lose: () => renameSync(bed.runs, `${bed.runs}.moved`) },
    {
      what: 'another one took its place',
      lose: () => {
        renameSync(bed.runs, `${bed.runs}.moved`);
        mkdirSync(bed.runs);
      },
    },
  ])('ends itself and says so, and its runs live on: $what', async ({ lose }) => {
    const fleet = await begin();
    const started = await waitFor('a process', () => [...fleet.runs.values()].find(({ pid }) => pid !== null));
    const run = identityOf(started.pid!)!;
    const pid = bed.supervisorPid()!;
    // It would start another supervisor when it loses this one.
    fleet.close();
    lose();
    try {
      await waitFor('the supervisor to leave', () => !existsSync(`/proc/${pid}`));
      const said = readFileSync(`${bed.runs}.moved/.supervisor/log`, 'utf8').trimEnd();
      expect(said.split('\n').at(-1)).toContain(`exits: its runs directory ${bed.runs} is gone`);
      expect(existsSync(join(bed.runs, '.supervisor'))).toBe(false);
      expect(isAlive(run)).toBe(true);
    } finally {
      rmSync(bed.runs, { recursive: true, force: true });
      renameSync(`${bed.runs}.moved`, bed.runs);
    }
  });
});

it('a supervisor whose runs have ended leaves when its files are deleted, so that the next launch runs them again', async () => {
  const fleet = await begin();
  await fleet.act('kill', [...fleet.runs.keys()]);
  await untilState(fleet, 's/next', 'killed');
  await untilState(fleet, 's/long', 'killed');
  const pid = bed.supervisorPid();
  fleet.close();
  rmSync(bed.runs, { recursive: true });
  await waitFor('the supervisor to leave', () => !existsSync(`/proc/${pid}`));
  expect(existsSync(bed.runs)).toBe(false);
  const next = await bed.fleet();
  await next.submit(bed.plan('s', [{ name: 'next' }]), environment, { slots: 1 });
  expect((await untilState(next, 's/next', 'done')).attempt).toBe(1);
});

it('a supervisor that comes up slowly is waited for as long as its process lives', async () => {
  runtime = realpathSync(mkdtempSync(join(tmpdir(), 'runtime-')));
  bed = new Testbed({ XDG_RUNTIME_DIR: runtime });
  const programs = await bed.programs();
  const slow = bed.path('.slow.mjs');
  writeFileSync(slow, `setTimeout(() => import(${JSON.stringify(programs.supervisor)}), 1000);`);
  const fleet = await ensureSupervisor(bed.runs, { ...programs, supervisor: slow }, { patienceMs: 300 });
  await fleet.ready();
  expect(bed.supervisorPid()).not.toBeNull();
  fleet.close();
});

describe('a supervisor that was stopped', () => {
  it('is told by its process, with what to do, to who wants something of it', { tags: ['long'] }, async () => {
    await begin();
    const pid = bed.supervisorPid()!;
    process.kill(pid, 'SIGSTOP');
    try {
      const wanted = ensureSupervisor(bed.runs, await bed.programs(), { patienceMs: 1500 });
      const refusal = await wanted.catch((error: Error & { fix?: string }) => `${error.message} ${error.fix}`);
      expect(refusal).toMatch(new RegExp(`process ${pid} supervises .* but does not answer`, 'i'));
      expect(refusal).toContain(`kill -CONT ${pid}`);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });
});
