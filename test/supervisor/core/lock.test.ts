import { spawn, spawnSync } from 'node:child_process';
import fs, { mkdirSync, mkdtempSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir, uptime } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hostIdentity, identityOf } from '../../../src/processes/process-identity.js';
import { Lease, readLock, takeLock } from '../../../src/supervisor/core/lock.js';
import { removeFolder } from '../../remove-folder.js';

let runs: string;
let path: string;
beforeEach(() => {
  runs = mkdtempSync(join(tmpdir(), 'lock-'));
  path = join(runs, '.supervisor', 'lock.json');
});
afterEach(() => removeFolder(runs));

const files = ['lease', 'lock.json'];
/** A process whose command line is that of a supervisor; it lives until its stdin is closed. */
const supervisor = spawn('sh', ['-c', 'read x', '/somewhere/supervisor.js'], { stdio: ['pipe', 'ignore', 'ignore'] });
afterAll(() => supervisor.stdin.end());
const lockOf = (pid: number) => ({ ...identityOf(pid)!, ...hostIdentity(), socket: '/s', version: 1 as const });
const own = lockOf(supervisor.pid!);
const dead = { ...own, pid: spawnSync('true').pid, startTime: '1' };

describe('the lock of a runs directory', () => {
  it('is taken, held against others, and released', () => {
    const first = takeLock(runs, own);
    expect(first.kind).toBe('taken');
    expect(takeLock(runs, own)).toEqual({ kind: 'held', by: own });
    if (first.kind === 'taken') first.release();
    expect(takeLock(runs, own).kind).toBe('taken');
    expect(readdirSync(join(runs, '.supervisor'))).toEqual(files);
  });

  it.each([
    { what: 'a dead process', text: JSON.stringify(dead) },
    { what: 'a process whose pid went to another', text: JSON.stringify({ ...own, startTime: '1' }) },
    { what: 'whoever wrote the pid of the first process into it', text: JSON.stringify(lockOf(1)) },
    { what: 'whoever wrote the pid of this process into it', text: JSON.stringify(lockOf(process.pid)) },
    { what: 'a power cut', text: '' },
    { what: 'nobody knows what', text: 'garbage' },
  ])('left by $what is taken over', ({ text }) => {
    takeLock(runs, own);
    writeFileSync(path, text);
    expect(takeLock(runs, own).kind).toBe('taken');
    expect(readLock(path)).toEqual(own);
    expect(readdirSync(join(runs, '.supervisor'))).toEqual(files);
  });

  it('left by a process before the last reboot is taken over', () => {
    takeLock(runs, own);
    writeFileSync(path, JSON.stringify({ ...own, bootId: 'x' }));
    const longAgo = Date.now() / 1000 - uptime() - 60;
    utimesSync(join(runs, '.supervisor', 'lease'), longAgo, longAgo);
    expect(takeLock(runs, own).kind).toBe('taken');
  });

  it('left by an older version, which did not say where it was, is taken over when its process is dead', () => {
    const { pid, startTime, bootId, socket, version } = dead;
    mkdirSync(join(runs, '.supervisor'));
    writeFileSync(path, JSON.stringify({ pid, startTime, bootId, socket, version }));
    expect(takeLock(runs, own).kind).toBe('taken');
  });

  it.each([
    { where: 'on another host', by: { host: 'beta', machineId: 'm2', bootId: 'x' } },
    { where: 'in another container of this host', by: { pidNamespace: 'pid:[1]' } },
    { where: 'on a living copy of this machine', by: { bootId: 'x' } },
  ])('of a process $where is left alone, whatever became of its pid', ({ by }) => {
    takeLock(runs, own);
    const other = { ...dead, ...by };
    writeFileSync(path, JSON.stringify(other));
    new Lease(runs).renew();
    const result = takeLock(runs, own);
    expect(result).toMatchObject({ kind: 'elsewhere', by: other });
    expect(readLock(path)).toEqual(other);
    expect(takeLock(runs, own, { ...other, startTime: '2' }).kind).toBe('elsewhere');
    expect(takeLock(runs, own, other).kind).toBe('taken');
    expect(readLock(path)).toEqual(own);
    expect(readdirSync(join(runs, '.supervisor'))).toEqual(files);
  });

  it('says how long ago the last sign of life was, by the clock of the file system', () => {
    const lease = new Lease(runs);
    takeLock(runs, own);
    expect(lease.silentFor()).toBeLessThan(5000);
    const mark = lease.mark();
    const then = Date.now() / 1000 - 100;
    utimesSync(join(runs, '.supervisor', 'lease'), then, then);
    expect(lease.silentFor()).toBeGreaterThan(90_000);
    lease.renew();
    expect(lease.mark()).not.toBe(mark);
    expect(lease.silentFor()).toBeLessThan(5000);
  });

  it.each([
    { what: 'a named pipe', make: (at: string) => spawnSync('mkfifo', [at]) },
    { what: 'a link to itself', make: (at: string) => symlinkSync(at, at) },
    { what: 'a directory', make: (at: string) => mkdirSync(at) },
  ])('is not waited for, nor removed, when it is $what', ({ make }) => {
    mkdirSync(join(runs, '.supervisor'));
    make(path);
    expect(() => takeLock(runs, own)).toThrow(/cannot be read/);
    expect(readLock(path)).toBeNull();
  });

  it('says where its owner listens now, as long as it is its own', () => {
    const lock = takeLock(runs, own);
    if (lock.kind !== 'taken') throw new Error('it is free');
    lock.moved('/elsewhere');
    expect(readLock(path)).toEqual({ ...own, socket: '/elsewhere' });
    expect(lock.look()).toBe('ours');
    writeFileSync(path, JSON.stringify(dead));
    lock.moved('/nowhere');
    expect(readLock(path)).toEqual(dead);
    expect(lock.look()).toBe('lost');
  });

  it('is taken over from one that died while it took over', () => {
    takeLock(runs, own);
    writeFileSync(path, JSON.stringify(dead));
    const claimant = { ...dead, startTime: '2' };
    const name = claimName(JSON.stringify(dead));
    writeFileSync(join(runs, '.supervisor', name), JSON.stringify(claimant));
    expect(takeLock(runs, own).kind).toBe('taken');
    expect(readdirSync(join(runs, '.supervisor'))).toEqual(files);
  });

  it('is left to one that took it over between the look at it and the claim', () => {
    takeLock(runs, own);
    writeFileSync(path, JSON.stringify(dead));
    const rival = { ...own, socket: '/rival' };
    const { linkSync } = fs;
    let links = 0;
    const link = vi.spyOn(fs, 'linkSync').mockImplementation((from, to) => {
      linkSync(from, to);
      // That of the lock itself fails, as there is one.
      if (++links === 1) writeFileSync(path, JSON.stringify(rival));
    });
    syncBuiltinESMExports();
    try {
      expect(takeLock(runs, own)).toEqual({ kind: 'held', by: rival });
    } finally {
      link.mockRestore();
      syncBuiltinESMExports();
    }
    expect(readLock(path)).toEqual(rival);
    expect(readdirSync(join(runs, '.supervisor'))).toEqual(files);
  });

  it('is left to one that is taking over right now', () => {
    takeLock(runs, own);
    writeFileSync(path, JSON.stringify(dead));
    writeFileSync(join(runs, '.supervisor', claimName(JSON.stringify(dead))), JSON.stringify(own));
    expect(takeLock(runs, own)).toEqual({ kind: 'held', by: own });
  });
});

function claimName(lockText: string): string {
  const { stdout } = spawnSync('sha256sum', { input: lockText, encoding: 'utf8' });
  return `lock.json.${stdout.slice(0, 16)}`;
}
