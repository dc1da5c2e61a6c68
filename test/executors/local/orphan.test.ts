import { spawn } from 'node:child_process';
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attemptDirectory, readClaim } from '../../../src/executors/attempt/attempt-files.js';
import { identityOf } from '../../../src/processes/process-identity.js';
import { readProcesses } from '../../../src/processes/process-table.js';
import { hasProgram } from '../../has-program.js';
import { waitFor } from '../../supervisor/testbed.js';
import { id, isStopped, log, marked, newExecutor, orderFor, runFolder, untilLogged, waysOfHolding } from './folder.js';

const words = 'its parent process was killed from outside; its exit code will not be known';
const unknown = {
  kind: 'unknown',
  reason: 'its parent process was killed from outside, so its exit code is not known',
};
/** Says its pid, and ends well when its gate opens. */
const gated = ['sh', '-c', 'echo pid $$; while [ ! -e gate ]; do sleep 0.02; done; exit 5'];
const openGate = (directory: string) => writeFileSync(join(directory, 'gate'), '');

function shimOf(directory: string, attempt = 1): number {
  const claim = readClaim(attemptDirectory(directory, attempt));
  if (claim.kind !== 'begun') throw new Error('the run has not begun');
  return claim.identity.pid;
}

const loggedPid = (directory: string) => waitFor('its pid', () => Number(/pid (\d+)\n/.exec(log(directory))?.[1]));

describe('the process of a run', () => {
  it('is the command, and a signal to it ends the run with that signal', async () => {
    const directory = runFolder();
    const { executor, untilEnded } = newExecutor();
    executor.start(id, orderFor(directory, gated));
    const pid = await waitFor('its pid', () => executor.pidOf(id));
    expect(pid).toBe(await loggedPid(directory));
    process.kill(pid, 'SIGKILL');
    expect(await untilEnded()).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
    expect(executor.pidOf(id)).toBeNull();
  });

  it('is known to the next supervisor, too', async () => {
    const directory = runFolder();
    const first = newExecutor();
    first.executor.start(id, orderFor(directory, gated));
    const pid = await loggedPid(directory);
    first.executor.close();
    const { executor } = newExecutor();
    executor.adopt(id, directory, 1);
    expect(await waitFor('its pid', () => executor.pidOf(id))).toBe(pid);
  });
});

describe.each(waysOfHolding)('a run whose shim was killed from outside, $how', ({ home }) => {
  async function orphaned(argv = gated) {
    const directory = runFolder();
    const told = newExecutor(home(directory));
    told.executor.start(id, orderFor(directory, argv));
    const pid = await loggedPid(directory);
    process.kill(shimOf(directory), 'SIGKILL');
    await waitFor('the warning', () => told.troubles.length > 0);
    return { directory, pid, ...told };
  }

  it('goes on, with a warning, and ends in a way that nobody knows', async () => {
    const { directory, pid, executor, endings, troubles, untilEnded } = await orphaned();
    expect([endings, troubles, executor.pidOf(id)]).toEqual([[], [words], pid]);
    openGate(directory);
    expect(await untilEnded()).toEqual(unknown);
    expect(troubles.at(-1)).toBeNull();
  });

  it('can be killed', async () => {
    const { directory, executor, untilEnded } = await orphaned();
    executor.kill(id);
    expect(await untilEnded()).toEqual(unknown);
    expect(marked(directory)).toEqual([]);
  });

  it('can be asked to end', async () => {
    const { directory, executor, untilEnded } = await orphaned();
    executor.terminate(id);
    await untilEnded();
    expect(marked(directory)).toEqual([]);
  });

  it('is adopted by the next supervisor, and not started beside itself', async () => {
    const { directory, executor, pid } = await orphaned();
    executor.close();
    const next = newExecutor();
    expect(next.executor.orphanedAttemptOf(directory, 3)).toBe(1);
    expect(next.executor.adopt(id, directory, 1)).toMatchObject({ kind: 'alive' });
    await waitFor('the warning', () => next.troubles.includes(words));
    expect(next.executor.pidOf(id)).toBe(pid);
    openGate(directory);
    expect(await next.untilEnded()).toEqual(unknown);
    expect(next.executor.orphanedAttemptOf(directory, 3)).toBeNull();
  });

  it('is found again when its directory is deleted, too', async () => {
    const { directory, executor, pid } = await orphaned(['sh', '-c', 'echo pid $$; exec sleep 600']);
    executor.close();
    rmSync(directory, { recursive: true });
    const next = newExecutor();
    expect(next.executor.orphanedAttemptOf(directory, 2)).toBe(1);
    expect(next.executor.adopt(id, directory, 1)).toMatchObject({ kind: 'alive' });
    await waitFor('its pid', () => next.executor.pidOf(id) === pid);
    // And by the one after that.
    next.executor.close();
    const last = newExecutor();
    expect(last.executor.adopt(id, directory, 1)).toMatchObject({ kind: 'alive' });
    last.executor.kill(id);
    await last.untilEnded();
    expect(identityOf(pid)).toBeNull();
  });
});

describe('an attempt that nothing on the disk identifies', () => {
  it.each([
    { what: 'whose directory is deleted', spoil: (directory: string) => rmSync(directory, { recursive: true }) },
    {
      what: 'whose claim is emptied',
      spoil: (directory: string) => truncateSync(join(attemptDirectory(directory, 1), 'pid')),
    },
  ])('$what, goes on with its shim', async ({ spoil }) => {
    const directory = runFolder();
    const first = newExecutor();
    first.executor.start(id, orderFor(directory, ['sh', '-c', 'echo pid $$; exec sleep 600']));
    const pid = await loggedPid(directory);
    const shim = shimOf(directory);
    first.executor.close();
    spoil(directory);
    const { executor, untilEnded } = newExecutor();
    expect(executor.adopt(id, directory, 1)).toEqual({ kind: 'alive', pid: shim });
    process.kill(pid, 'SIGTERM');
    // Its shim has a place to tell its end again.
    expect(await untilEnded()).toEqual({ kind: 'signalled', signal: 'SIGTERM' });
  });
});

describe.runIf(hasProgram('setsid', 'what attempts leave behind'))('what an attempt left behind', () => {
  it('does not keep the next one alive', async () => {
    const directory = runFolder();
    const { executor, endings, untilEnded } = newExecutor();
    const daemon =
      "(setsid sh -c 'echo $$ > daemon; exec sleep 600' > /dev/null 2>&1 &); while [ ! -s daemon ]; do :; done";
    executor.start(id, orderFor(directory, ['sh', '-c', daemon]));
    await untilEnded();
    // Start times are counted in hundredths of a second.
    const born = Number(identityOf(Number(readFileSync(join(directory, 'daemon'), 'utf8')))!.startTime);
    await waitFor('the clock', () => Number(identityOf(spawn('sleep', ['1']).pid!)?.startTime) > born);
    expect(executor.orphanedAttemptOf(directory, 2)).toBeNull();
    executor.start(id, orderFor(directory, gated, 2));
    await loggedPid(directory);
    process.kill(-shimOf(directory, 2), 'SIGKILL');
    await waitFor('the end', () => endings.length === 2);
    expect(endings[1]).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
  });

  it('does not bring an earlier one back to life, whose end nobody saw', async () => {
    const directory = runFolder();
    const { executor, endings, untilEnded } = newExecutor();
    executor.start(id, orderFor(directory, gated));
    await loggedPid(directory);
    process.kill(-shimOf(directory, 1), 'SIGKILL');
    await untilEnded();
    const helper = "(setsid sh -c 'echo $$ > helper; exec sleep 600' &); while [ ! -s helper ]; do :; done; exit 3";
    executor.start(id, orderFor(directory, ['sh', '-c', helper], 2));
    await waitFor('the end', () => endings.length === 2);
    expect(executor.orphanedAttemptOf(directory, 3)).toBeNull();
  });

  it('is not taken for an attempt that nobody has begun', async () => {
    const directory = runFolder();
    const { executor, untilEnded } = newExecutor();
    const helper = "(setsid sh -c 'echo $$ > helper; exec sleep 600' &); while [ ! -s helper ]; do :; done; exit 3";
    executor.start(id, orderFor(directory, ['sh', '-c', helper]));
    await untilEnded();
    expect(newExecutor().executor.adopt(id, directory, 2)).toEqual({ kind: 'withdrawn', neverRan: false });
  });
});

describe.runIf(hasProgram('setsid', 'helpers of a paused run')).each(waysOfHolding)(
  'of a paused run, $how,',
  ({ home }) => {
    const helped = `setsid sh -c 'echo helper $$; while [ ! -e gate ]; do sleep 0.02; done; echo helped' & echo pid $$; wait`;

    async function paused() {
      const directory = runFolder();
      const told = newExecutor(home(directory));
      told.executor.start(id, orderFor(directory, ['sh', '-c', helped]));
      const pid = await loggedPid(directory);
      await untilLogged(directory, 'helper');
      const helper = Number(/helper (\d+)/.exec(log(directory))![1]);
      await waitFor('its pid', () => told.executor.pidOf(id));
      told.executor.pause(id);
      const { cgroup } = readClaim(attemptDirectory(directory, 1)) as { cgroup: string | null };
      await waitFor('it to stand still', () =>
        cgroup === null
          ? readProcesses().some((each, _, all) => each.pid === helper && isStopped(each, all))
          : readFileSync(join(cgroup, 'cgroup.events'), 'utf8').includes('frozen 1'),
      );
      return { directory, pid, helper, ...told };
    }

    it('helpers that are left when its group is killed are told of, and can be killed', async () => {
      const { directory, helper, executor, troubles, untilEnded } = await paused();
      process.kill(-shimOf(directory), 'SIGKILL');
      await waitFor('the warning', () => troubles.at(-1)?.includes(`(pid ${helper})`));
      expect(troubles.at(-1)).toMatch(/^its parent process was killed .*; still paused: .*; continue or kill it$/);
      executor.kill(id);
      await untilEnded();
      expect(identityOf(helper)).toBeNull();
    });

    it('helpers go on when it is continued', async () => {
      const { directory, executor, troubles, untilEnded } = await paused();
      process.kill(-shimOf(directory), 'SIGKILL');
      await waitFor('the warning', () => troubles.length > 0);
      executor.continue(id);
      await waitFor('the rest of the warning', () => troubles.at(-1) === words);
      openGate(directory);
      expect(await untilEnded()).toEqual(unknown);
      expect(log(directory)).toContain('helped');
    });

    it('the death of its command ends it, and helpers go on', async () => {
      const { directory, pid, untilEnded } = await paused();
      process.kill(pid, 'SIGKILL');
      expect(await untilEnded()).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
      openGate(directory);
      await untilLogged(directory, 'helped');
    });
  },
);
