import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OomWatch } from '../../../src/executors/local/cgroup-home.js';
import { waitFor } from '../../supervisor/testbed.js';
import { id, marked, newExecutor, orderFor, runFolder, untilLogged, waysOfHolding } from './folder.js';

/** A place where a process may have 20 MB, under either version of cgroups; null where none can be made. */
function tightPlace(): string | null {
  const name = `memrl-tight-${process.pid}`;
  const places = [
    { folder: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', swap: 'memory.memsw.limit_in_bytes' },
    { folder: '/sys/fs/cgroup', limit: 'memory.max', swap: 'memory.swap.max' },
  ];
  for (const { folder, limit, swap } of places) {
    const path = join(folder, name);
    try {
      mkdirSync(path);
      writeFileSync(join(path, limit), '20000000');
      if (existsSync(join(path, swap))) writeFileSync(join(path, swap), swap === 'memory.swap.max' ? '0' : '20000000');
      return path;
    } catch {
      if (existsSync(path)) rmdirSync(path);
    }
  }
  console.warn('SKIPPED, because memory may not be limited here: runs that the kernel kills for want of memory');
  return null;
}

/** Keeps all it reads until it has seen the end of a line that never ends. */
const greedy = (place: string) => `echo $$ > ${place}/cgroup.procs; tail < /dev/zero > /dev/null`;

const tight = tightPlace();
if (tight !== null) rmdirSync(tight);

describe.runIf(tight !== null).each(waysOfHolding)('a run that takes too much memory, $how', ({ home }) => {
  it.each([
    { what: 'is killed by the kernel', end: '' },
    { what: 'whose wrapper passes on that its program was killed', end: '; exit $?' },
  ])('that $what, is known by that', async ({ end }) => {
    const place = tightPlace()!;
    const { executor, untilEnded } = newExecutor(home(runFolder()), new OomWatch());
    executor.start(id, orderFor(runFolder(), ['sh', '-c', `${greedy(place)}${end}`]));
    const ending = await untilEnded();
    await waitFor('the place to be empty', () => readFileSync(join(place, 'cgroup.procs'), 'utf8') === '');
    rmdirSync(place);
    expect(ending).toEqual({ kind: 'out-of-memory', reason: 'killed by the kernel: out of memory' });
  });

  it('is told from one that a person killed', async () => {
    const directory = runFolder();
    const { executor, untilEnded } = newExecutor(home(directory));
    executor.start(id, orderFor(directory, ['sh', '-c', 'echo up; exec sleep 600']));
    await untilLogged(directory, 'up');
    for (const pid of marked(directory)) process.kill(pid, 'SIGKILL');
    expect(await untilEnded()).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
  });
});

describe('the watch on kills for want of memory', () => {
  const watched = (...counts: number[]) => {
    let count = counts.shift() ?? 0;
    const watch = new OomWatch(() => count);
    return { watch, kill: () => count++ };
  };

  it('gives a kill to the one who asks, and to one only', () => {
    const { watch, kill } = watched(7);
    expect(watch.take()).toBe(false);
    kill();
    expect([watch.take(), watch.take()]).toEqual([true, false]);
    kill();
    kill();
    expect([watch.take(), watch.take(), watch.take()]).toEqual([true, true, false]);
  });

  it('remembers one for an end that is told late, but not for ever', () => {
    const { watch, kill } = watched();
    kill();
    watch.look();
    expect(watch.take()).toBe(true);
    kill();
    watch.look();
    watch.look();
    expect(watch.take()).toBe(false);
  });

  it('does not give a kill twice because time has passed', () => {
    const { watch, kill } = watched();
    kill();
    expect(watch.take()).toBe(true);
    watch.look();
    expect(watch.take()).toBe(false);
    watch.look();
    kill();
    expect([watch.take(), watch.take()]).toEqual([true, false]);
  });
});
