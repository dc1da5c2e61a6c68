import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runMarks } from '../../../src/contract/files.js';
import { attemptDirectory, parseClaim, placeWord, readClaim } from '../../../src/executors/attempt/attempt-files.js';
import { hostIdentity, type HostIdentity, identityOf } from '../../../src/processes/process-identity.js';
import { id, newExecutor, orderFor, runFolder } from './folder.js';

const here = hostIdentity();
const words = 'runs on node17, which cannot be reached from here';

/** An attempt begun there by a process that has the same pid as a living one here. */
function begunAt(there: Partial<HostIdentity>) {
  const directory = runFolder();
  const folder = attemptDirectory(directory, 1);
  mkdirSync(folder, { recursive: true });
  const bystander = spawn('sleep', ['600'], {
    detached: true,
    env: { ...process.env, [runMarks.directory]: directory },
  });
  const stat = readFileSync(`/proc/${bystander.pid}/stat`, 'utf8').trim();
  const place = { ...here, host: 'node17', ...there };
  writeFileSync(join(folder, 'pid'), `${stat} ${place.bootId} at ${placeWord(place)}\n`);
  return { directory, folder, bystander };
}

const anotherBoot = '00000000-0000-0000-0000-000000000000';

describe('an attempt that began', () => {
  it.each([
    { where: 'on another machine', there: { machineId: 'another', bootId: anotherBoot }, kind: 'elsewhere' },
    { where: 'in another container', there: { pidNamespace: 'pid:[1]' }, kind: 'elsewhere' },
    { where: 'here before the last boot', there: { host: here.host, bootId: anotherBoot }, kind: 'ended' },
    { where: 'here', there: {}, kind: 'alive' },
  ])('$where is $kind', ({ there, kind }) => {
    const { directory, bystander } = begunAt(there);
    const { executor, endings } = newExecutor();
    expect(executor.orphanedAttemptOf(directory, 2)).toBe(kind === 'ended' ? null : 1);
    expect(executor.adopt(id, directory, 1).kind).toBe(kind);
    executor.close();
    expect(endings).toEqual([]);
    bystander.kill('SIGKILL');
  });

  it('elsewhere is told when it has written its end, and has no pid', async () => {
    const { directory, folder, bystander } = begunAt({ pidNamespace: 'pid:[1]' });
    const { executor, troubles, untilEnded } = newExecutor();
    expect(executor.adopt(id, directory, 1)).toEqual({ kind: 'elsewhere', pid: bystander.pid, host: 'node17' });
    expect([troubles, executor.pidOf(id), executor.rootOf(id)]).toEqual([[words], null, null]);
    writeFileSync(join(folder, 'exit'), '4\n');
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 4 });
    bystander.kill('SIGKILL');
  });

  it('elsewhere is not signalled, and taken for ended only when a person may say so', async () => {
    const { directory, bystander } = begunAt({ pidNamespace: 'pid:[1]' });
    let mayGiveUp = false;
    const { executor, endings, troubles, untilEnded } = newExecutor(null, undefined, () => mayGiveUp);
    executor.adopt(id, directory, 1);
    executor.pause(id);
    executor.terminate(id);
    executor.kill(id);
    expect(endings).toEqual([]);
    mayGiveUp = true;
    expect(await untilEnded()).toEqual({ kind: 'unknown', reason: 'its processes on node17 could not be reached' });
    expect(troubles.at(-1)).toBe('its processes on node17 could not be reached, and may still run');
    expect(readFileSync(`/proc/${bystander.pid}/stat`, 'utf8')).toMatch(/\) S /);
    expect(identityOf(bystander.pid!)).not.toBeNull();
    // So another one may be started.
    expect(executor.orphanedAttemptOf(directory, 2)).toBeNull();
    bystander.kill('SIGKILL');
  });
});

describe('the claim of a shim', () => {
  it('says where it runs', async () => {
    const directory = runFolder();
    const { executor, untilEnded } = newExecutor();
    executor.start(id, orderFor(directory, ['true']));
    await untilEnded();
    const { bootId, ...place } = here;
    const claim = readClaim(attemptDirectory(directory, 1));
    expect(claim).toMatchObject({ kind: 'begun', place, identity: { bootId } });
  });

  const stat = `42 (sh) S 1 42 42 ${Array.from({ length: 15 }, () => 0).join(' ')} 777`;
  const boot = here.bootId;
  const place = { host: 'a b/c', machineId: '', pidNamespace: 'pid:[7]' };
  const cgroup = '/sys/fs/cgroup/user slice/memrl/0123456789ab/s:run.1';
  const identity = { pid: 42, startTime: '777', bootId: boot };

  it.each([
    { text: `${stat} ${boot}\n`, claim: { kind: 'begun', identity, place: null, cgroup: null } },
    { text: `${stat} ${boot} cgroup ${cgroup}\n`, claim: { kind: 'begun', identity, place: null, cgroup } },
    { text: `${stat} ${boot} at ${placeWord(place)}\n`, claim: { kind: 'begun', identity, place, cgroup: null } },
    {
      text: `${stat} ${boot} at ${placeWord(place)} cgroup ${cgroup}\nKilled\nexit 137\n`,
      claim: { kind: 'begun', identity, place, cgroup },
    },
    // Its shell is at another word.
    { text: `${stat} ${boot} at ${placeWord(place)}\nKil`, claim: { kind: 'begun', identity, place, cgroup: null } },
    { text: `${stat} ${boot} at ${placeWord(place)}`, claim: { kind: 'unreadable' } },
    { text: '', claim: { kind: 'unreadable' } },
    { text: 'withdrawn by the supervisor\n', claim: { kind: 'withdrawn', neverRan: true } },
    {
      text: 'withdrawn by the supervisor; its directory was gone\n',
      claim: { kind: 'withdrawn', neverRan: false },
    },
  ])('$text is read as $claim', ({ text, claim }) => {
    expect(parseClaim(text)).toEqual(claim);
  });
});
