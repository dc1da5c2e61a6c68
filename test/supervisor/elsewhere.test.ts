import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ensureSupervisor } from '../../src/client/ensure-supervisor.js';
import { hostIdentity, identityOf } from '../../src/processes/process-identity.js';
import { Lease, readLock } from '../../src/supervisor/core/lock.js';
import type { SupervisorLock } from '../../src/contract/supervisor-lock.js';
import { bundledSupervisor, Testbed, untilState, waitFor } from './testbed.js';

const environment = { PATH: process.env['PATH']! };

let bed: Testbed;
afterEach(() => bed.close());

/** As if a process of another host had the lock. It says nothing of itself until `beat` does. */
function lockFromElsewhere(): SupervisorLock {
  mkdirSync(bed.path('.supervisor'), { recursive: true, mode: 0o700 });
  const lock: SupervisorLock = {
    ...{ ...hostIdentity(), ...identityOf(process.pid)!, host: 'beta', machineId: 'm2', bootId: 'b2' },
    ...{ socket: '/run/user/9/memrl/x.sock', version: 1 },
  };
  writeFileSync(bed.path('.supervisor', 'lock.json'), JSON.stringify(lock));
  new Lease(bed.runs).renew();
  return lock;
}

const lockNow = () => readLock(bed.path('.supervisor', 'lock.json'));

describe('a runs directory that is supervised from another host', () => {
  it('is left alone by who only wants to look, and who does is told where to go', async () => {
    bed = new Testbed({ MEMRL_LEASE_MS: '200' });
    const lock = lockFromElsewhere();
    const said: string[] = [];
    const programs = { ...(await bed.programs()), tell: (line: string) => said.push(line) };
    const refusal = await bed
      .fleet(programs)
      .catch((error: Error & { fix?: string }) => `${error.message} ${error.fix}`);
    // No heartbeat is waited for, and one supervisor was tried.
    const tried = expect.stringMatching(/^[^\n]* process \d+ on beta is already the supervisor of [^\n]*\n$/) as string;
    expect([said, bed.text('.supervisor', 'log')]).toEqual([[], tried]);
    expect(refusal).toMatch(
      new RegExp(`supervised by process ${process.pid} on beta, which cannot be reached from here`),
    );
    expect(refusal).toMatch(/Run memrl-tui on beta/);
    expect(lockNow()).toEqual(lock);
  });

  it('is left alone as long as signs of life come, whoever wants it', async () => {
    // Longer than this test may stand still on a busy machine.
    bed = new Testbed({ MEMRL_LEASE_MS: '10000' });
    const lock = lockFromElsewhere();
    const lease = new Lease(bed.runs);
    const beat = setInterval(() => lease.renew(), 50);
    const wanted = ensureSupervisor(bed.runs, await bed.programs(), { takesOver: true });
    await expect(wanted).rejects.toThrow(/on beta, which cannot be reached/);
    clearInterval(beat);
    expect(lockNow()).toEqual(lock);
  });

  it('is taken over by who launches or attaches when the lease has expired, and that is said', async () => {
    bed = new Testbed({ MEMRL_LEASE_MS: '600' });
    lockFromElsewhere();
    const said: string[] = [];
    const programs = { ...(await bed.programs()), tell: (line: string) => said.push(line) };
    const fleet = await ensureSupervisor(bed.runs, programs, { takesOver: true });
    await fleet.ready();
    fleet.close();
    expect(said.join()).toMatch(/process \d+ on beta supervises .*taken over if it sends no heartbeat for 0.6 s/);
    expect(lockNow()?.host).toBe(hostIdentity().host);
    expect(bed.text('.supervisor', 'log')).toMatch(/the lease of process \d+ on beta has expired/);
  });

  it('keeps the supervisor that was taken over from acting when it comes back', { tags: ['long'] }, async () => {
    bed = new Testbed({ MEMRL_LEASE_MS: '600' });
    const fleet = await bed.fleet();
    await fleet.submit(bed.plan('s', [{ name: 'long', argv: ['sleep', '600'] }]), environment, { slots: 1 });
    await untilState(fleet, 's/long', 'running');
    const pid = bed.supervisorPid()!;
    process.kill(pid, 'SIGSTOP');
    const lock = lockFromElsewhere();
    process.kill(pid, 'SIGCONT');
    await waitFor('it to leave', () => !existsSync(`/proc/${pid}`));
    await waitFor('the client to be told', () => /on beta/.test(fleet.problem ?? ''));
    expect(lockNow()).toEqual(lock);
    // So that the next one may end the run.
    writeFileSync(bed.path('.supervisor', 'lock.json'), '');
    await bed.fleet();
  });
});

const unshared = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
const mayUnshare = spawnSync(unshared[0]!, [...unshared.slice(1), 'true']).status === 0;
if (!mayUnshare) console.warn('SKIPPED: no PID namespaces may be made here, so two containers cannot be tried');

describe.skipIf(!mayUnshare)('a runs directory that is supervised from another container', () => {
  it(
    'is neither deposed nor harmed by a supervisor that is started here, and is reached by its socket',
    { tags: ['long'] },
    async () => {
      bed = new Testbed({ MEMRL_LEASE_MS: '60000' });
      const supervisor = await bundledSupervisor();
      const { bin } = await bed.programs();
      const words = [...unshared.slice(1), process.execPath, supervisor, '--runs', bed.runs, '--bin', bin];
      const container = spawn(unshared[0]!, words, {
        stdio: 'ignore',
        env: { ...process.env, MEMRL_LEASE_MS: '60000', MEMRL_CGROUP: 'off' },
      });
      try {
        const fleet = await waitFor('the supervisor in there', () => bed.attach());
        await fleet.submit(bed.plan('s', [{ name: 'long', argv: ['sleep', '600'] }]), environment, { slots: 1 });
        await untilState(fleet, 's/long', 'running');
        const lock = lockNow();
        expect(lock?.pidNamespace).not.toBe(hostIdentity().pidNamespace);
        const rival = spawnSync(process.execPath, [supervisor, '--runs', bed.runs, '--bin', bin], { encoding: 'utf8' });
        expect([rival.status, rival.stderr]).toEqual([4, expect.stringMatching(/is already the supervisor of /)]);
        expect(lockNow()).toEqual(lock);
        await untilState(fleet, 's/long', 'running');
        await fleet.act('kill', [...fleet.runs.keys()]);
        await untilState(fleet, 's/long', 'killed');
        expect(readFileSync(join(bed.runs, 's/long/attempts/1/pid'), 'utf8')).not.toBe('');
        expect(existsSync(bed.path('s/long/attempts/2'))).toBe(false);
      } finally {
        container.kill('SIGKILL');
      }
    },
  );
});
