import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { Naming, newAttempt } from '../../../src/executors/local/attempt.js';
import { Orders } from '../../../src/executors/local/local-executor.js';
import { identityOf } from '../../../src/processes/process-identity.js';
import { ProcessTable } from '../../../src/processes/process-table.js';
import { waitFor } from '../../supervisor/testbed.js';
import { id, runFolder } from './folder.js';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** An attempt whose only process is a sleeping child of ours. */
function sleeper(elsewhere: string | null = null) {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  children.push(child);
  return newAttempt({ id, number: 1, directory: runFolder(), pid: child.pid!, cgroup: null, elsewhere }, child);
}

const hasEnded = ({ child }: ReturnType<typeof sleeper>) => child!.exitCode !== null || child!.signalCode !== null;
const stateOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]![0];

describe('orders', () => {
  it('are carried out in the order in which they were given', async () => {
    const orders = new Orders(() => true);
    const attempt = sleeper();
    orders.give('pause', attempt);
    orders.give('continue', attempt);
    orders.give('pause', attempt);
    await waitFor('it to stand still', () => stateOf(attempt.pid) === 'T');
    orders.give('terminate', attempt);
    await waitFor('its end', () => hasEnded(attempt));
    expect(attempt.child!.signalCode).toBe('SIGTERM');
  });

  it('leave alone what has ended meanwhile, and what runs where the same pids are others', async () => {
    const [gone, far, own] = [sleeper(), sleeper('another-host'), sleeper()];
    const orders = new Orders((attempt) => attempt !== gone);
    for (const attempt of [gone, far, own]) orders.give('kill', attempt);
    await waitFor('the end of the one', () => hasEnded(own));
    expect([gone, far].map(hasEnded)).toEqual([false, false]);
  });
});

describe('naming', () => {
  it('tells each run once whose own process is known, and none that has ended', async () => {
    const [up, ended, forgotten] = [sleeper(), sleeper(), sleeper()];
    for (const attempt of [up, ended, forgotten]) attempt.command = identityOf(attempt.pid);
    ended.ending = { kind: 'exited', code: 0 };
    const named: unknown[] = [];
    const naming = new Naming({
      isWatched: (attempt) => attempt !== forgotten,
      table: new ProcessTable(),
      named: (attempt) => void named.push(attempt),
    });
    for (const attempt of [ended, forgotten, up, up]) naming.add(attempt);
    await waitFor('the name', () => named.length > 0);
    naming.close();
    expect(named).toEqual([up]);
  });
});
