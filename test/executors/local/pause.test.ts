import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attemptDirectory, readClaim } from '../../../src/executors/attempt/attempt-files.js';
import { readProcesses } from '../../../src/processes/process-table.js';
import { type Tree, treeMembers } from '../../../src/processes/process-tree.js';
import { hasProgram } from '../../has-program.js';
import { waitFor } from '../../supervisor/testbed.js';
import { id, isStopped, newExecutor, orderFor, runFolder, untilLogged, waysOfHolding } from './folder.js';

/** Counts, and so does a child in another session. */
const counting = `setsid sh -c 'while :; do echo child; sleep 0.02; done' & while :; do echo parent; sleep 0.02; done`;

describe.runIf(hasProgram('setsid', 'pausing a run')).each(waysOfHolding)('a paused run, $how', ({ home }) => {
  async function counted() {
    const directory = runFolder();
    const told = newExecutor(home(directory));
    told.executor.start(id, orderFor(directory, ['sh', '-c', counting]));
    await untilLogged(directory, 'child');
    await untilLogged(directory, 'parent');
    return { directory, ...told };
  }

  /** All of it stands still: frozen, or every process stopped. */
  function untilStill(directory: string) {
    const tree = treeAt(directory);
    return waitFor('the run to stand still', () => {
      if (tree.cgroup) return readFileSync(join(tree.cgroup, 'cgroup.events'), 'utf8').includes('frozen 1');
      const members = treeMembers(readProcesses(), tree);
      // The shim and the two that count; what they were just waiting for may have ended.
      return members.length >= 3 && members.every((each) => isStopped(each, members));
    });
  }

  const size = (directory: string) => readFileSync(join(directory, 'output.log')).length;

  it('stands still, children in other sessions too, and goes on', async () => {
    const { executor, directory } = await counted();
    executor.pause(id);
    await untilStill(directory);
    const still = size(directory);
    executor.continue(id);
    await waitFor('more', () => /parent[^]*child|child[^]*parent/.test(added(directory, still)));
  });

  const added = (directory: string, from: number) =>
    readFileSync(join(directory, 'output.log')).subarray(from).toString();

  it('hears a polite request, and goes on for it', async () => {
    const { executor, directory, untilEnded } = await counted();
    executor.pause(id);
    await untilStill(directory);
    executor.terminate(id);
    expect(await untilEnded()).toEqual({ kind: 'signalled', signal: 'SIGTERM' });
  });

  it('can be killed', async () => {
    const { executor, directory, untilEnded } = await counted();
    executor.pause(id);
    await untilStill(directory);
    const members = treeMembers(readProcesses(), treeAt(directory));
    executor.kill(id);
    expect(await untilEnded()).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
    const left = readProcesses().filter(({ pid, startTime }) =>
      members.some((member) => member.pid === pid && member.startTime === startTime),
    );
    expect(left).toEqual([]);
  });

  it('is let go on by the next supervisor', async () => {
    const { executor, directory } = await counted();
    executor.pause(id);
    await untilStill(directory);
    executor.close();
    const next = newExecutor();
    next.executor.adopt(id, directory, 1);
    const still = size(directory);
    next.executor.continue(id);
    await waitFor('more', () => added(directory, still).includes('child'));
    next.executor.pause(id);
    await untilStill(directory);
  });

  it('takes its orders in the order in which they are given', async () => {
    const { executor, directory } = await counted();
    executor.pause(id);
    executor.continue(id);
    executor.pause(id);
    await untilStill(directory);
  });

  it('may be paused at the very moment of its start', async () => {
    const directory = runFolder();
    const { executor, untilEnded } = newExecutor(home(directory));
    executor.start(id, orderFor(directory, ['sh', '-c', 'echo up']));
    executor.pause(id);
    await new Promise((resolve) => setImmediate(resolve));
    executor.continue(id);
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 0 });
    expect(existsSync(join(attemptDirectory(directory, 1), 'exit'))).toBe(true);
  });
});

function treeAt(directory: string): Tree {
  const claim = readClaim(attemptDirectory(directory, 1));
  if (claim.kind !== 'begun') throw new Error('the run has not begun');
  return { pid: claim.identity.pid, startTime: claim.identity.startTime, directory, cgroup: claim.cgroup };
}
