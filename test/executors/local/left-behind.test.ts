import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attemptDirectory, readClaim } from '../../../src/executors/attempt/attempt-files.js';
import { isOver } from '../../../src/executors/local/attempt.js';
import { identityOf, isAlive } from '../../../src/processes/process-identity.js';
import { readProcesses } from '../../../src/processes/process-table.js';
import { treeMembers } from '../../../src/processes/process-tree.js';
import { hasProgram } from '../../has-program.js';
import { waitFor } from '../../supervisor/testbed.js';
import { id, log, newExecutor, orderFor, runFolder, untilLogged, waysOfHolding } from './folder.js';

const needed = 'processes that a run leaves behind';

describe.runIf(hasProgram('setsid', needed)).each(waysOfHolding)('what a run leaves behind, $how', ({ home }) => {
  /** The age of an adopted run is not known, so it counts as long. */
  async function adopted(directory: string, script: string) {
    const order = orderFor(directory, ['sh', '-c', `${script}\necho up; while [ ! -e gate ]; do sleep 0.02; done`]);
    const first = newExecutor(home(directory));
    first.executor.start(id, order);
    await untilLogged(directory, 'up');
    first.executor.close();
    const second = newExecutor();
    second.executor.adopt(id, directory, 1);
    writeFileSync(join(directory, 'gate'), '');
    return second;
  }

  it('is told with its end, and left alone', async () => {
    const directory = runFolder();
    const script = "setsid sh -c 'echo $$ > daemon; exec sleep 600' > /dev/null 2>&1 &";
    const { untilEnded, survivors } = await adopted(directory, `(${script}); while [ ! -s daemon ]; do :; done`);
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 0 });
    const pid = Number(readFileSync(join(directory, 'daemon'), 'utf8'));
    expect(survivors).toEqual([{ pid, name: 'sleep' }]);
    expect(identityOf(pid)).not.toBeNull();
  });

  it('is nothing when a helper of it only takes a moment to go', async () => {
    const directory = runFolder();
    // It hears of the end of the run by the end of a pipe, without a program of its own for each look.
    const helper = "setsid sh -c 'read x; exec sleep 0.05' < held > /dev/null 2>&1 &";
    const { untilEnded, survivors } = await adopted(directory, `mkfifo held; ${helper} exec 3> held`);
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 0 });
    expect(survivors).toEqual([]);
  });

  it('does not hold up the end of a short run', async () => {
    const directory = runFolder();
    const { executor, untilEnded } = newExecutor(home(directory));
    executor.start(id, orderFor(directory, ['sh', '-c', '(setsid sleep 600 > /dev/null 2>&1 &) ; exit 4']));
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 4 });
  });
});

describe('the tree of a run', () => {
  it('takes in a daemon with nothing but the directory, and nobody who merely stands there', async () => {
    const directory = runFolder();
    const options = { cwd: directory, detached: true, stdio: 'ignore' } as const;
    const before = spawn('sleep', ['600'], { ...options, env: {} });
    const { executor } = newExecutor();
    // Start times are counted in hundredths of a second.
    const started = Number(identityOf(before.pid!)!.startTime);
    await waitFor('the clock', () => Number(identityOf(spawn('sleep', ['1']).pid!)?.startTime) > started);
    executor.start(id, orderFor(directory, ['sh', '-c', 'echo up; sleep 600']));
    await untilLogged(directory, 'up');
    const person = spawn('sleep', ['600'], { ...options, env: { HOME: '/home/someone' } });
    const daemon = spawn('sleep', ['600'], { ...options, env: {} });
    const elsewhere = spawn('sleep', ['600'], { ...options, cwd: '/', env: {} });
    const claim = readClaim(attemptDirectory(directory, 1));
    if (claim.kind !== 'begun') throw new Error('the run has not begun');
    const tree = { pid: claim.identity.pid, startTime: claim.identity.startTime, directory };
    const pids = treeMembers(readProcesses(), tree).map(({ pid }) => pid);
    const others = [before, person, elsewhere].map(({ pid }) => pid);
    for (const { pid } of [before, person, daemon, elsewhere]) process.kill(pid!, 'SIGKILL');
    expect(pids).toContain(daemon.pid);
    expect(pids.filter((pid) => others.includes(pid))).toEqual([]);
  });
});

/** The freezer of cgroup version 1 makes what the kernel otherwise makes of a dead disk: a process deaf to SIGKILL. */
const freezer = '/sys/fs/cgroup/freezer';

function canFreeze(): boolean {
  try {
    mkdirSync(join(freezer, `memrl-try-${process.pid}`));
    rmdirSync(join(freezer, `memrl-try-${process.pid}`));
    return existsSync(join(freezer, 'tasks'));
  } catch {
    console.warn('SKIPPED, because the freezer of cgroup version 1 is not here: a process that SIGKILL cannot end');
    return false;
  }
}

describe.runIf(canFreeze())('what SIGKILL cannot end', () => {
  const ice = join(freezer, `memrl-${process.pid}`);

  function frozen(pid: number): void {
    mkdirSync(ice);
    writeFileSync(join(ice, 'cgroup.procs'), String(pid));
    writeFileSync(join(ice, 'freezer.state'), 'FROZEN');
  }

  async function thawed(pid: number): Promise<void> {
    const identity = identityOf(pid);
    writeFileSync(join(ice, 'freezer.state'), 'THAWED');
    await waitFor('its end', () => identity === null || !isAlive(identity));
    await waitFor('the cgroup to be empty', () => readFileSync(join(ice, 'cgroup.procs'), 'utf8') === '');
    rmdirSync(ice);
  }

  // It takes the five seconds of patience, so once is enough.
  it.each(waysOfHolding.slice(-1))('does not hold the slot for ever, and is told by name, $how', async ({ home }) => {
    const directory = runFolder();
    const { executor, survivors, untilEnded } = newExecutor(home(directory));
    executor.start(id, orderFor(directory, ['sh', '-c', 'echo $$; exec sleep 600']));
    const pid = await waitFor('the program', () => Number.parseInt(log(directory)));
    await waitFor('sleep', () => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n');
    frozen(pid);
    executor.kill(id);
    expect(await untilEnded()).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
    expect(survivors).toEqual([{ pid, name: 'sleep' }]);
    await thawed(pid);
  });
});

describe('the end of an attempt', () => {
  const attempt = { ending: { kind: 'exited', code: 0 } as const, endedAt: 1000, stopped: false, killedAt: null };
  it.each([
    { when: 'nothing is left', of: attempt, left: 0, now: 1000, isTold: true },
    { when: 'its shim lives', of: { ...attempt, ending: null }, left: 2, now: 9999, isTold: false },
    {
      when: 'its shim is about to be known to be dead',
      of: { ...attempt, ending: null },
      left: 0,
      now: 9,
      isTold: false,
    },
    { when: 'helpers may still go', of: attempt, left: 1, now: 1500, isTold: false },
    { when: 'helpers stay', of: attempt, left: 1, now: 1501, isTold: true },
    {
      when: 'it was asked to end, and some do not',
      of: { ...attempt, stopped: true },
      left: 1,
      now: 99_999,
      isTold: false,
    },
    {
      ...{ when: 'it was killed a moment ago', of: { ...attempt, stopped: true, killedAt: 1000 }, left: 1, now: 6000 },
      isTold: false,
    },
    {
      ...{ when: 'SIGKILL was in vain', of: { ...attempt, stopped: true, killedAt: 1000 }, left: 1, now: 6001 },
      isTold: true,
    },
    {
      when: 'SIGKILL was in vain even for its shim',
      ...{ of: { ...attempt, ending: null, stopped: true, killedAt: 1000 }, left: 3, now: 6001, isTold: true },
    },
  ])('when $when, is told: $isTold', ({ of, left, now, isTold }) => {
    expect(isOver(of, left, now)).toBe(isTold);
  });
});
