import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { getPriority, uptime } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { attemptDirectory, readClaim, withdraw } from '../../../src/executors/attempt/attempt-files.js';
import type { Ending } from '../../../src/executors/executor.js';
import { readProcesses } from '../../../src/processes/process-table.js';
import { SHIM } from '../../../src/executors/attempt/start-attempt.js';
import { treeMembers } from '../../../src/processes/process-tree.js';
import { waitFor } from '../../supervisor/testbed.js';
import { id, log, marked, newExecutor, orderFor, runFolder, untilLogged } from './folder.js';

afterEach(() => void vi.restoreAllMocks());

function emptyClaim(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'pid'), '');
}

/** A link to itself in the place of the exit code cannot be read, whoever asks. */
async function whileUnreadable(directory: string, act: () => Promise<unknown>): Promise<void> {
  const exit = join(attemptDirectory(directory, 1), 'exit');
  renameSync(exit, `${exit}.away`);
  symlinkSync('exit', exit);
  await act();
  renameSync(`${exit}.away`, exit);
}

describe('a run on this machine', () => {
  it.each<{ what: string; argv: string[]; ending: Ending }>([
    { what: 'ends well', argv: ['true'], ending: { kind: 'exited', code: 0 } },
    { what: 'ends with a code', argv: ['sh', '-c', 'exit 7'], ending: { kind: 'exited', code: 7 } },
    { what: 'ends with 75 itself', argv: ['sh', '-c', 'exit 75'], ending: { kind: 'exited', code: 75 } },
    { what: 'dies of a signal', argv: ['sh', '-c', 'kill -ABRT $$'], ending: { kind: 'signalled', signal: 'SIGABRT' } },
    {
      what: 'ends with a code above all signals',
      argv: ['sh', '-c', 'exit 255'],
      ending: { kind: 'exited', code: 255 },
    },
    {
      what: 'has its whole group killed',
      argv: ['sh', '-c', 'kill -9 0'],
      ending: { kind: 'signalled', signal: 'SIGKILL' },
    },
  ])('that $what', async ({ argv, ending }) => {
    const { executor, untilEnded } = newExecutor();
    executor.start(id, orderFor(runFolder(), argv));
    expect(await untilEnded()).toEqual(ending);
  });

  it('writes straight to its log, with a line between attempts', async () => {
    const directory = runFolder();
    for (const attempt of [1, 2]) {
      const { executor, untilEnded } = newExecutor();
      executor.start(id, orderFor(directory, ['sh', '-c', 'echo out; echo err >&2'], attempt));
      await untilEnded();
    }
    expect(log(directory)).toMatch(/^out\nerr\n\n──── attempt 2, \d{4}-.*Z ────\nout\nerr\n$/);
  });

  it('is as nice as it should be, with all it starts, and is called what it is', async () => {
    const directory = runFolder();
    const { executor, untilEnded } = newExecutor();
    const before = getPriority();
    const argv = ['sh', '-c', 'nice; setsid nice; cat /proc/$$/comm'];
    executor.start(id, { ...orderFor(directory, argv), nice: 7 });
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 0 });
    expect(log(directory)).toBe(`${before + 7}\n${before + 7}\nsh\n`);
  });

  it('that is nice says what is wrong with its command', async () => {
    const { executor, untilEnded } = newExecutor();
    executor.start(id, { ...orderFor(runFolder(), ['no-such-program']), nice: 7 });
    expect(await untilEnded()).toEqual({ kind: 'not-begun', reason: 'command not found: no-such-program' });
  });

  it('sees the environment of its slot and nothing of ours', async () => {
    const directory = runFolder();
    const { executor, untilEnded } = newExecutor();
    process.env['SECRET_OF_THE_TEST'] = 'x';
    executor.start(id, orderFor(directory, ['env']));
    await untilEnded();
    const lines = log(directory).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining(['CUDA_VISIBLE_DEVICES=', 'OMP_NUM_THREADS=2', `MEMRL_RUN_DIR=${directory}`]),
    );
    expect(log(directory)).not.toContain('SECRET_OF_THE_TEST');
  });

  it('sees what no shell could pass on', async () => {
    const order = orderFor(runFolder(), ['env']);
    const { executor, untilEnded } = newExecutor();
    executor.start(id, { ...order, environment: { ...order.environment, 'a.b': 'dotted', IFS: ':', d: 'mine' } });
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 0 });
    expect(log(order.directory).split('\n')).toEqual(expect.arrayContaining(['a.b=dotted', 'IFS=:', 'd=mine']));
  });

  it.each<{ what: string; argv: string[]; reason: RegExp }>([
    { what: 'the command is missing', argv: ['no-such-command'], reason: /^command not found: no-such-command$/ },
    { what: 'the command is one of the shell alone', argv: ['cd', '/'], reason: /^command not found: cd$/ },
    { what: 'the program is missing', argv: ['./train.py'], reason: /^command not found: .*train\.py$/ },
    { what: 'the program is a folder', argv: ['/usr'], reason: /^\/usr is not a program$/ },
    { what: 'the program is not executable', argv: ['./tool'], reason: /\/tool is not executable$/ },
  ])('says why when $what', async ({ argv, reason }) => {
    const directory = runFolder();
    writeFileSync(join(directory, 'tool'), '');
    chmodSync(join(directory, 'tool'), 0o644);
    const { executor, untilEnded } = newExecutor();
    executor.start(id, orderFor(directory, argv));
    expect(await untilEnded()).toEqual({ kind: 'not-begun', reason: expect.stringMatching(reason) as string });
    expect(log(directory)).toContain(argv[0]);
  });

  it.each<{ what: string; argv: string[]; cwd?: string; reason: RegExp }>([
    {
      what: 'the folder is missing',
      argv: ['true'],
      cwd: '/no/such',
      reason: /^working directory \/no\/such does not exist$/,
    },
    { what: 'the arguments are endless', argv: ['true', 'x'.repeat(200_000)], reason: /too long/ },
  ])('is refused with the reason, also in its log, when $what', ({ argv, cwd, reason }) => {
    const order = orderFor(runFolder(), argv);
    const start = newExecutor().executor.start(id, { ...order, cwd: cwd ?? order.cwd });
    expect(start).toMatchObject({ kind: 'refused', reason: expect.stringMatching(reason) as string });
    expect(log(order.directory)).toMatch(/^memrl-tui: /);
  });

  it('is refused when its directory cannot be made', () => {
    const directory = runFolder();
    writeFileSync(join(directory, 'file'), '');
    const start = newExecutor().executor.start(id, { ...orderFor(join(directory, 'file'), ['true']), cwd: '/' });
    expect(start).toMatchObject({ kind: 'refused', reason: expect.stringContaining('cannot write to') as string });
  });
});

describe('ending a run', () => {
  it('asks the whole group, and reports what the program made of it', async () => {
    const directory = runFolder();
    const { executor, untilEnded } = newExecutor();
    executor.start(
      id,
      orderFor(directory, ['sh', '-c', 'trap "echo saved; exit 9" TERM; echo up; while :; do sleep 0.02; done']),
    );
    await waitFor('the program to be up', () => log(directory).includes('up'));
    executor.terminate(id);
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 9 });
    expect(log(directory)).toContain('saved');
  });

  it('is heard even when asked for at the very moment of the start', async () => {
    const { executor, untilEnded } = newExecutor();
    executor.start(id, orderFor(runFolder(), ['sleep', '60']));
    executor.terminate(id);
    expect(await untilEnded()).toEqual({ kind: 'signalled', signal: 'SIGTERM' });
  });

  it('reaches a stopped program', async () => {
    const directory = runFolder();
    const { executor, untilEnded } = newExecutor();
    executor.start(id, orderFor(directory, ['sh', '-c', 'echo up; kill -STOP 0; sleep 60']));
    await waitFor('the program to be up', () => log(directory).includes('up'));
    executor.terminate(id);
    expect(await untilEnded()).toMatchObject({ kind: 'signalled' });
  });

  it('by force takes everything along: deaf children, other sessions, orphans, the unmarked', async () => {
    const directory = runFolder();
    const deaf = `trap "" TERM HUP; while :; do sleep 1; done`;
    const script = [
      `sh -c '${deaf}' &`,
      `setsid sh -c '${deaf}' &`,
      `(setsid sh -c '${deaf}' > /dev/null 2>&1 &)`,
      `setsid env -i /bin/sh -c '${deaf}' &`,
      `echo up; wait; ${deaf}`,
    ].join('\n');
    const { executor, endings, untilEnded } = newExecutor();
    executor.start(id, orderFor(directory, ['sh', '-c', `trap "" TERM; ${script}`]));
    const members = () => treeMembers(readProcesses(), { pid: 0, startTime: null, directory });
    await waitFor('the tree to be up', () => members().some((entry) => entry.mark() === null) && members().length >= 9);
    executor.terminate(id);
    executor.kill(id);
    await untilEnded();
    expect(endings).toHaveLength(1);
    expect(members()).toEqual([]);
  });

  it('is not over while a child that did not listen lives on', async () => {
    const directory = runFolder();
    const { executor, endings, untilEnded } = newExecutor();
    const child = `setsid sh -c 'trap "" TERM; echo deaf; while :; do sleep 0.1; done' & echo up; exec sleep 60`;
    executor.start(id, orderFor(directory, ['sh', '-c', child]));
    for (const word of ['up', 'deaf']) await untilLogged(directory, word);
    executor.terminate(id);
    // The shim makes the file before it writes into it.
    const exit = join(attemptDirectory(directory, 1), 'exit');
    await waitFor('the shim to be gone', () => existsSync(exit) && readFileSync(exit, 'utf8').endsWith('\n'));
    expect(endings).toEqual([]);
    expect(marked(directory).length).toBeGreaterThan(0);
    executor.kill(id);
    expect(await untilEnded()).toEqual({ kind: 'signalled', signal: 'SIGTERM' });
    expect(marked(directory)).toEqual([]);
  });

  it('leaves a process alone that got the pid of a dead shim', () => {
    const directory = runFolder();
    const other = spawn('sleep', ['60'], { detached: true });
    const stat = readFileSync(`/proc/${other.pid}/stat`, 'utf8').trim().split(' ');
    stat[21] = '1';
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    mkdirSync(attemptDirectory(directory, 1), { recursive: true });
    writeFileSync(join(attemptDirectory(directory, 1), 'pid'), `${stat.join(' ')} ${bootId}\n`);
    const { executor } = newExecutor();
    expect(executor.adopt(id, directory, 1)).toMatchObject({ kind: 'ended', ending: { kind: 'unknown' } });
    executor.kill(id);
    executor.terminate(id);
    expect(process.kill(other.pid!, 0)).toBe(true);
    other.kill('SIGKILL');
  });
});

describe('adopting an attempt of a supervisor that died', () => {
  it('follows the living to its end, with its code', async () => {
    const directory = runFolder();
    const first = newExecutor();
    const order = orderFor(directory, ['sh', '-c', 'echo up; read line < gate; exit 5']);
    spawn('mkfifo', [join(directory, 'gate')]);
    await waitFor('the gate', () => existsSync(join(directory, 'gate')));
    first.executor.start(id, order);
    await waitFor('the program to be up', () => log(directory).includes('up'));
    first.executor.close();
    const second = newExecutor();
    expect(second.executor.adopt(id, directory, 1)).toMatchObject({ kind: 'alive' });
    writeFileSync(join(directory, 'gate'), 'go\n');
    expect(await second.untilEnded()).toEqual({ kind: 'exited', code: 5 });
    expect(first.endings).toEqual([]);
  });

  it('can end it', async () => {
    const directory = runFolder();
    const first = newExecutor();
    // A shim that has not yet started its command would hear the request in its place.
    first.executor.start(id, orderFor(directory, ['sh', '-c', 'echo up; exec sleep 60']));
    await untilLogged(directory, 'up');
    first.executor.close();
    const second = newExecutor();
    second.executor.adopt(id, directory, 1);
    second.executor.terminate(id);
    expect(await second.untilEnded()).toEqual({ kind: 'signalled', signal: 'SIGTERM' });
  });

  it('reads the code of the dead', async () => {
    const directory = runFolder();
    const first = newExecutor();
    first.executor.start(id, orderFor(directory, ['sh', '-c', 'exit 3']));
    await first.untilEnded();
    expect(newExecutor().executor.adopt(id, directory, 1)).toMatchObject({
      kind: 'ended',
      ending: { kind: 'exited', code: 3 },
    });
  });

  it('reads the code of the dead where it was noted for want of room', async () => {
    const directory = runFolder();
    const first = newExecutor();
    const exit = join(attemptDirectory(directory, 1), 'exit');
    // The file cannot be written, as on a full disk.
    first.executor.start(id, orderFor(directory, ['sh', '-c', `mkdir ${exit}; exit 3`]));
    expect(await first.untilEnded()).toEqual({ kind: 'exited', code: 3 });
    const found = newExecutor().executor.adopt(id, directory, 1);
    expect(found).toMatchObject({ kind: 'ended', ending: { kind: 'exited', code: 3 } });
    expect(readFileSync(join(attemptDirectory(directory, 1), 'pid'), 'utf8')).toMatch(/\nexit 3\n$/);
  });

  it('makes sure that one that had not begun never will', async () => {
    const directory = runFolder();
    expect(newExecutor().executor.adopt(id, directory, 1)).toEqual({ kind: 'withdrawn', neverRan: false });
    // The shim of the dead supervisor comes late.
    const { executor, untilEnded } = newExecutor();
    executor.start(id, orderFor(directory, ['touch', 'it-ran']));
    expect(await untilEnded()).toEqual({ kind: 'not-claimed' });
    expect(existsSync(join(directory, 'it-ran'))).toBe(false);
    expect(newExecutor().executor.adopt(id, directory, 1)).toEqual({ kind: 'withdrawn', neverRan: false });
  });

  it.each([
    { clock: 'right', ahead: 0 },
    { clock: 'set forward by two days', ahead: 2 * 86_400_000 },
  ])('takes an empty claim of a shim that is gone for one that never ran, by a clock that is $clock', ({ ahead }) => {
    const directory = runFolder();
    mkdirSync(attemptDirectory(directory, 1), { recursive: true });
    writeFileSync(join(attemptDirectory(directory, 1), 'pid'), '');
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ahead);
    expect(newExecutor().executor.adopt(id, directory, 1)).toEqual({ kind: 'withdrawn', neverRan: true });
  });

  it('knows that an attempt never ran whose shim did not come to claim it, and so does the next supervisor', () => {
    const directory = runFolder();
    mkdirSync(attemptDirectory(directory, 1), { recursive: true });
    expect(newExecutor().executor.adopt(id, directory, 1)).toEqual({ kind: 'withdrawn', neverRan: true });
    expect(newExecutor().executor.adopt(id, directory, 1)).toEqual({ kind: 'withdrawn', neverRan: true });
  });

  it.each([
    { what: 'without a claim', spoil: (folder: string) => mkdirSync(folder, { recursive: true }) },
    { what: 'with an empty claim', spoil: emptyClaim },
  ])('does not know whether one ran $what that was made before the machine was started', ({ spoil }) => {
    const directory = runFolder();
    const folder = attemptDirectory(directory, 1);
    spoil(folder);
    const longAgo = Date.now() / 1000 - uptime() - 100;
    for (const name of ['', ...readdirSync(folder)]) utimesSync(join(folder, name), longAgo, longAgo);
    const found = newExecutor().executor.adopt(id, directory, 1);
    expect(found).not.toMatchObject({ neverRan: true });
  });

  it('reads the code of one whose claim was deleted', async () => {
    const directory = runFolder();
    const first = newExecutor();
    first.executor.start(id, orderFor(directory, ['sh', '-c', 'exit 3']));
    await first.untilEnded();
    rmSync(join(attemptDirectory(directory, 1), 'pid'));
    for (const executor of [newExecutor().executor, newExecutor().executor]) {
      expect(executor.adopt(id, directory, 1)).toMatchObject({ kind: 'ended', ending: { kind: 'exited', code: 3 } });
    }
  });

  it('looks again for a code that cannot be read at first', async () => {
    const directory = runFolder();
    const first = newExecutor();
    first.executor.start(id, orderFor(directory, ['sh', '-c', 'exit 3']));
    await first.untilEnded();
    const { executor, troubles, untilEnded } = newExecutor();
    await whileUnreadable(directory, () => {
      expect(executor.adopt(id, directory, 1)).toMatchObject({ kind: 'alive' });
      return waitFor('it to be looked for', () => troubles.some((words) => words?.includes('will be read again')));
    });
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 3 });
    expect(troubles.at(-1)).toBeNull();
  });

  it('looks again for the code of one that ended under its eyes', async () => {
    const directory = runFolder();
    const first = newExecutor();
    first.executor.start(id, orderFor(directory, ['sh', '-c', 'echo up; exec sleep 600']));
    await untilLogged(directory, 'up');
    first.executor.close();
    const { executor, troubles, untilEnded } = newExecutor();
    expect(executor.adopt(id, directory, 1)).toMatchObject({ kind: 'alive' });
    const claim = readClaim(attemptDirectory(directory, 1));
    writeFileSync(join(attemptDirectory(directory, 1), 'exit'), '3\n');
    await whileUnreadable(directory, () => {
      process.kill(claim.kind === 'begun' ? -claim.identity.pid : 0, 'SIGKILL');
      return waitFor('it to be looked for', () => troubles.some((words) => words?.includes('will be read again')));
    });
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 3 });
  });

  it('gives a code up that cannot be read for long, and says why', async () => {
    const directory = runFolder();
    const first = newExecutor();
    first.executor.start(id, orderFor(directory, ['sh', '-c', 'exit 3']));
    await first.untilEnded();
    const { executor, untilEnded } = newExecutor();
    await whileUnreadable(directory, async () => {
      executor.adopt(id, directory, 1);
      const reason = 'attempts/1 cannot be read: it is a symbolic link that leads nowhere or may not be followed';
      expect(await untilEnded()).toEqual({ kind: 'unknown', reason });
    });
    // Nor does it keep another attempt from being made.
    expect(executor.orphanedAttemptOf(directory, 2)).toBeNull();
  });

  it('lets exactly one of a shim and a supervisor have an attempt', async () => {
    for (let round = 0; round < 20; round++) {
      const directory = runFolder();
      const folder = attemptDirectory(directory, 1);
      mkdirSync(folder, { recursive: true });
      const script = `i=0; while [ $i -lt ${round * 40} ]; do i=$((i+1)); done; exec sh -c "$0" shim "$@"`;
      const shim = spawn('sh', ['-c', script, SHIM, folder, '', 'here', '', 'touch', join(directory, 'it-ran')]);
      const withdrawn = withdraw(folder);
      await new Promise((resolve) => shim.once('exit', resolve));
      expect(existsSync(join(directory, 'it-ran'))).toBe(withdrawn === null);
    }
  });
});
