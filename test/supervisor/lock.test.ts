import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identityOf } from '../../src/executors/local/process-identity.js';
import { readLock, takeLock } from '../../src/supervisor/lock.js';

let runs: string;
let path: string;
beforeEach(() => {
  runs = mkdtempSync(join(tmpdir(), 'lock-'));
  path = join(runs, '.supervisor', 'lock.json');
});
afterEach(() => rmSync(runs, { recursive: true, force: true }));

const own = { ...identityOf(process.pid)!, socket: '/s', version: 1 as const };
const dead = { ...own, pid: spawnSync('true').pid, startTime: '1' };

describe('the lock of a runs directory', () => {
  it('is taken, held against others, and released', () => {
    const first = takeLock(runs, own);
    expect(first.kind).toBe('taken');
    expect(takeLock(runs, own)).toEqual({ kind: 'held', by: own });
    if (first.kind === 'taken') first.release();
    expect(takeLock(runs, own).kind).toBe('taken');
    expect(readdirSync(join(runs, '.supervisor'))).toEqual(['lock.json']);
  });

  it.each([
    { what: 'a dead process', text: JSON.stringify(dead) },
    { what: 'a process whose pid went to another', text: JSON.stringify({ ...own, startTime: '1' }) },
    { what: 'a process before the last reboot', text: JSON.stringify({ ...own, bootId: 'x' }) },
    { what: 'a power cut', text: '' },
    { what: 'nobody knows what', text: 'garbage' },
  ])('left by $what is taken over', ({ text }) => {
    takeLock(runs, own);
    writeFileSync(path, text);
    expect(takeLock(runs, own).kind).toBe('taken');
    expect(readLock(path)).toEqual(own);
    expect(readdirSync(join(runs, '.supervisor'))).toEqual(['lock.json']);
  });

  it('is taken over from one that died while it took over', () => {
    takeLock(runs, own);
    writeFileSync(path, JSON.stringify(dead));
    const claimant = { ...dead, startTime: '2' };
    const name = claimName(JSON.stringify(dead));
    writeFileSync(join(runs, '.supervisor', name), JSON.stringify(claimant));
    expect(takeLock(runs, own).kind).toBe('taken');
    expect(readdirSync(join(runs, '.supervisor'))).toEqual(['lock.json']);
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
