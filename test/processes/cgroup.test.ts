import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RunId } from '../../src/base/ids.js';
import { attemptDirectory, readClaim } from '../../src/executors/attempt/attempt-files.js';
import { cgroupFolder, cgroupPids, isRunCgroup, killCgroup, removeCgroup } from '../../src/processes/cgroup.js';
import { CgroupHome, openCgroupHome } from '../../src/executors/local/cgroup-home.js';
import { identityOf, isAlive } from '../../src/processes/process-identity.js';
import { waitFor } from '../supervisor/testbed.js';
import { hasCgroups, id, marked, newExecutor, newHome, orderFor, runFolder } from '../executors/local/folder.js';

const unified = '35 24 0:30 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate';
const hybrid = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw`;

describe('the folder of a cgroup', () => {
  it.each<{ what: string; mounts: string; groups: string; folder: string | null }>([
    {
      what: 'in a login session',
      ...{ mounts: unified, groups: '0::/user.slice/user-1000.slice/session-3.scope\n' },
      folder: '/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope',
    },
    {
      what: 'beside version 1',
      ...{ mounts: hybrid, groups: '8:pids:/\n4:memory:/a\n0::/b\n' },
      folder: '/sys/fs/cgroup/unified/b',
    },
    { what: 'at the root', mounts: unified, groups: '0::/\n', folder: '/sys/fs/cgroup' },
    {
      what: 'in a container that sees only its own part',
      mounts: '700 690 0:30 /docker/4f2a /sys/fs/cgroup ro,relatime - cgroup2 cgroup rw',
      ...{ groups: '0::/docker/4f2a/sub\n', folder: '/sys/fs/cgroup/sub' },
    },
    {
      what: 'outside of what is mounted',
      mounts: '700 690 0:30 /docker/4f2a /sys/fs/cgroup ro,relatime - cgroup2 cgroup rw',
      ...{ groups: '0::/docker/other\n', folder: null },
    },
    {
      what: 'under a folder with a space',
      mounts: '35 24 0:30 / /mnt/my\\040groups rw - cgroup2 cgroup2 rw',
      ...{ groups: '0::/a b\n', folder: '/mnt/my groups/a b' },
    },
    { what: 'with version 1 only', mounts: hybrid.split('\n').slice(0, 2).join('\n'), groups: '0::/\n', folder: null },
    { what: 'with no cgroup', mounts: unified, groups: '', folder: null },
    { what: 'without mounts', mounts: '', groups: '0::/\n', folder: null },
  ])('$what', ({ mounts, groups, folder }) => {
    expect(cgroupFolder(mounts, groups)).toBe(folder);
  });

  it.each([
    { path: '/sys/fs/cgroup/memrl/0123456789ab/s:run.1', isOne: true },
    { path: '/sys/fs/cgroup/user.slice/x.scope/memrl/0123456789ab/s:run.12', isOne: true },
    { path: '/sys/fs/cgroup/user.slice', isOne: false },
    { path: '/sys/fs/cgroup/memrl/0123456789ab', isOne: false },
    { path: '/sys/fs/cgroup/memrl/0123456789ab/..', isOne: false },
    { path: '/sys/memrl/0123456789ab/../../fs/x', isOne: false },
    { path: '', isOne: false },
  ])('is taken for that of a run only if it is one: $path', ({ path, isOne }) => {
    expect(isRunCgroup(path)).toBe(isOne);
  });
});

describe('a cgroup that is removed', () => {
  it('goes with those that the run has divided it into, and may be gone already', () => {
    const path = join(runFolder(), 'cgroup');
    mkdirSync(join(path, 'workers', 'first'), { recursive: true });
    expect(removeCgroup(path)).toBe(true);
    expect(existsSync(path)).toBe(false);
    expect(removeCgroup(path)).toBe(true);
  });

  it('stays as it is while the kernel counts processes in it', () => {
    const path = join(runFolder(), 'cgroup');
    mkdirSync(join(path, 'workers'), { recursive: true });
    writeFileSync(join(path, 'cgroup.events'), 'populated 1\nfrozen 0\n');
    expect(removeCgroup(path)).toBe(false);
    expect(existsSync(join(path, 'workers'))).toBe(true);
  });
});

describe.runIf(hasCgroups('cgroups of runs'))('the cgroup of a run', () => {
  const forking = 'trap "" TERM; (setsid env -i sleep 600 > /dev/null 2>&1 &); setsid sleep 600 & sleep 600';

  it('holds all of it, is named in its pid file, and can be ended as one', async () => {
    const directory = runFolder();
    const { executor, untilEnded } = newExecutor(newHome(directory));
    executor.start(id, orderFor(directory, ['sh', '-c', `cd /; ${forking}`]));
    const cgroup = await waitFor('the cgroup', () => {
      const claim = readClaim(attemptDirectory(directory, 1));
      return claim.kind === 'begun' ? claim.cgroup : null;
    });
    expect(basename(cgroup)).toBe('s:run.1');
    await waitFor('the tree', () => cgroupPids(cgroup).length === 5);
    // The environment and the place of one of them go: then only the cgroup still knows it.
    await waitFor('a process without its mark', () => marked(directory).length === 4);
    const all = cgroupPids(cgroup).map((pid) => identityOf(pid)!);
    expect(killCgroup(cgroup)).toBe(existsSync(join(cgroup, 'cgroup.kill')));
    await untilEnded();
    await waitFor('their end', () => all.every((identity) => !isAlive(identity)));
    await waitFor('the removal', () => removeCgroup(cgroup));
  });

  it('is gone when the run is, and so is its place when the supervisor is', async () => {
    const directory = runFolder();
    const home = newHome(directory);
    const { executor, untilEnded } = newExecutor(home);
    executor.start(id, orderFor(directory, ['true']));
    await untilEnded();
    expect(existsSync(home.path)).toBe(true);
    await waitFor('its removal', () => !existsSync(join(home.path, 's:run.1')));
    executor.close();
    expect(existsSync(home.path)).toBe(false);
  });

  it('is not made for a run that is refused', async () => {
    const directory = runFolder();
    const home = newHome(directory);
    const start = newExecutor(home).executor.start(id, { ...orderFor(directory, ['true']), cwd: '/no/such' });
    expect(start.kind).toBe('refused');
    await waitFor('its removal', () => !existsSync(join(home.path, 's:run.1')));
  });

  it('is removed in a turn of its own, and at once where the supervisor leaves', async () => {
    const home = newHome(runFolder());
    const paths = [1, 2, 3, 4].map((attempt) => home.make(id, attempt)!);
    const left = () => paths.filter((path) => existsSync(path)).length;
    for (const path of paths) home.remove(path);
    expect(left()).toBe(4);
    await setImmediate();
    expect(left()).toBe(3);
    home.close();
    expect(left()).toBe(0);
    expect(existsSync(home.path)).toBe(false);
  });

  it('is not taken from an attempt that is made again before it was removed', async () => {
    const home = newHome(runFolder());
    const path = home.make(id, 1)!;
    home.remove(path);
    expect(home.make(id, 1)).toBe(path);
    await setImmediate();
    await setImmediate();
    expect(existsSync(path)).toBe(true);
    home.remove(path);
    home.close();
  });

  it('is not shared with what an earlier attempt of the same name left in it', async () => {
    const directory = runFolder();
    const home = newHome(directory);
    const { executor, endings } = newExecutor(home);
    const lasting = orderFor(directory, ['sh', '-c', '(setsid sleep 600 > /dev/null 2>&1 &)']);
    executor.start(id, lasting);
    await waitFor('the end of the run', () => endings.length === 1);
    expect(home.make(id, 1)).toBeNull();
    executor.start(id, orderFor(directory, ['true'], 2));
    await waitFor('the end of the next', () => endings.length === 2);
    const claim = readClaim(attemptDirectory(directory, 2));
    expect(claim.kind === 'begun' && basename(claim.cgroup ?? '')).toBe('s:run.2');
  });

  it('is done without when it cannot be entered', async () => {
    const directory = runFolder();
    const home = newHome(directory);
    class Deceived extends CgroupHome {
      override make = () => join(home.path, 'not-there');
    }
    const { executor, untilEnded } = newExecutor(new Deceived(home.path));
    executor.start(id, orderFor(directory, ['sh', '-c', 'exit 3']));
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 3 });
    expect(readClaim(attemptDirectory(directory, 1))).toMatchObject({ kind: 'begun', cgroup: null });
  });

  it('is cleared away when its runs directory is gone, and comes back when it is not', async () => {
    const home = newHome(runFolder());
    mkdirSync(join(home.path, 's:dead.1'));
    const other = runFolder();
    await waitFor('the removal', () => {
      // Young ones may be about to be entered: those of tests beside this one.
      openCgroupHome(other, 300)!.close();
      return !existsSync(home.path);
    });
    expect(home.make(id, 1)).toBe(join(home.path, 's:run.1'));
  });

  it('is cleared away by the next supervisor when it is empty, and left alone when it is not', async () => {
    const directory = runFolder();
    const home = newHome(directory);
    mkdirSync(join(home.path, 's:dead.1', 'divided'), { recursive: true });
    const { executor } = newExecutor(home);
    executor.start(id, orderFor(directory, ['sleep', '600']));
    await waitFor('the run', () => cgroupPids(join(home.path, 's:run.1')).length === 2);
    openCgroupHome(directory);
    await waitFor('the removal', () => !existsSync(join(home.path, 's:dead.1')));
    expect(existsSync(join(home.path, 's:run.1'))).toBe(true);
  });

  it('is not cleared away when the next supervisor has given it to another attempt meanwhile', async () => {
    const directory = runFolder();
    const { path } = newHome(directory);
    for (const name of ['s:run.1', 's:dead.1']) mkdirSync(join(path, name));
    const next = newHome(directory);
    expect(next.make(id, 1)).toBe(join(path, 's:run.1'));
    await waitFor('the removal of the other', () => !existsSync(join(path, 's:dead.1')));
    expect(existsSync(join(path, 's:run.1'))).toBe(true);
  });

  it('has a name of its own however long that of the run is', () => {
    const home = newHome(runFolder());
    const long = (end: string) => RunId.parse(`${'s'.repeat(200)}/${'r'.repeat(199)}${end}`);
    const paths = [long('a'), long('b')].map((run) => home.make(run, 1));
    expect(new Set(paths).size).toBe(2);
    for (const path of paths) expect(path !== null && dirname(path)).toBe(home.path);
    for (const path of paths) home.remove(path!);
    home.close();
    expect(existsSync(home.path)).toBe(false);
  });

  it('does not keep a process of the supervisor from where it was', () => {
    const before = readFileSync('/proc/self/cgroup', 'utf8');
    newHome(runFolder()).close();
    expect(readFileSync('/proc/self/cgroup', 'utf8')).toBe(before);
  });
});
