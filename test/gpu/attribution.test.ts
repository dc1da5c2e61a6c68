import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RunId } from '../../src/base/ids.js';
import { ownership } from '../../src/gpu/gpu-monitor.js';
import { identityOf } from '../../src/processes/process-identity.js';
import type { Tree } from '../../src/processes/process-tree.js';
import { runFolder } from '../executors/local/folder.js';
import { waitFor } from '../supervisor/testbed.js';

const a = RunId.parse('s/a');
const b = RunId.parse('s/b');

/** Runs the script as a shim would, and gives the pids that it writes, a line each, to `pids`. */
async function start(script: string, count: number): Promise<{ tree: Tree; pids: number[] }> {
  const directory = runFolder();
  writeFileSync(join(directory, 'output.log'), '');
  const environment = { ...process.env, MEMRL_RUN_DIR: directory };
  const shim = spawn('sh', ['-c', script], { cwd: directory, env: environment, detached: true, stdio: 'ignore' });
  const read = () => (existsSync(join(directory, 'pids')) ? readFileSync(join(directory, 'pids'), 'utf8') : '');
  await waitFor('the processes', () => read().split('\n').length > count);
  const { pid, startTime } = identityOf(shim.pid!)!;
  return { tree: { pid, startTime, directory }, pids: read().trim().split('\n').map(Number) };
}

describe('the run that a process on a GPU belongs to', () => {
  it.each([
    { who: 'a child', script: 'sleep 60 & echo $! >>pids; wait' },
    { who: 'a child in a session of its own', script: 'setsid sleep 60 & echo $! >>pids; wait' },
    { who: 'a grandchild', script: 'sh -c "sleep 60 & echo \\$! >>pids; wait" & wait' },
    { who: 'an orphan with the mark', script: '(setsid sleep 60 & echo $! >>pids); sleep 60' },
    {
      who: 'an orphan that writes to the log',
      script: '(setsid env -i sleep 60 >>output.log & echo $! >>pids); sleep 60',
    },
    { who: 'a daemon that emptied its environment', script: '(setsid env -i sleep 60 & echo $! >>pids); sleep 60' },
  ])('is found for $who', async ({ script }) => {
    const { tree, pids } = await start(script, 1);
    const other = await start('sleep 60 & echo $! >>pids; wait', 1);
    await waitFor('its program', () => readFileSync(`/proc/${pids[0]}/cmdline`, 'utf8').startsWith('sleep'));
    const ownerOf = ownership(
      new Map([
        [a, tree],
        [b, other.tree],
      ]),
    );
    expect(ownerOf(pids[0]!)).toBe(a);
    expect(ownerOf(other.pids[0]!)).toBe(b);
    expect(ownerOf(tree.pid)).toBe(a);
  });

  it('is found by its cgroup, where runs have one', async () => {
    const { tree, pids } = await start('env -u MEMRL_RUN_DIR setsid sleep 60 & echo $! >>pids; wait', 1);
    await waitFor('its program', () => readFileSync(`/proc/${pids[0]}/cmdline`, 'utf8').startsWith('sleep'));
    const cgroup = runFolder();
    const moved = { ...tree, startTime: '1', directory: '/elsewhere', cgroup };
    expect(ownership(new Map([[a, moved]]))(pids[0]!)).toBeNull();
    // What the kernel would list there.
    writeFileSync(join(cgroup, 'cgroup.procs'), `${pids[0]}\n`);
    expect(ownership(new Map([[a, moved]]))(pids[0]!)).toBe(a);
  });

  it('is nobody for strangers, for the dead, and for who got the pid of a shim later', async () => {
    const { tree, pids } = await start('env -u MEMRL_RUN_DIR setsid sleep 60 & echo $! >>pids; wait', 1);
    const moved = { ...tree, startTime: '1', directory: '/elsewhere' };
    await waitFor('its program', () => readFileSync(`/proc/${pids[0]}/cmdline`, 'utf8').startsWith('sleep'));
    expect(ownership(new Map([[a, moved]]))(pids[0]!)).toBeNull();
    expect(ownership(new Map([[a, { ...moved, startTime: null }]]))(pids[0]!)).toBeNull();
    expect(ownership(new Map([[a, tree]]))(process.pid)).toBeNull();
    expect(ownership(new Map([[a, tree]]))(1)).toBeNull();
    expect(ownership(new Map([[a, tree]]))(2 ** 22 + 1)).toBeNull();
  });
});
