import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from '../../src/client/fleet.js';
import { FakeMachine } from '../../src/executors/fake/fake-executor.js';
import { identityOf } from '../../src/processes/process-identity.js';
import { Resources } from '../../src/spec/planned-run.js';
import { completionOf } from '../../src/spec/policy/completion.js';
import { readerHere } from './reading/reader-here.js';
import { Supervisor } from '../../src/supervisor/supervisor.js';
import { run, Testbed, untilState, waitFor } from './testbed.js';

/** A supervisor whose runs are on a machine that is none. */
let bed: Testbed;
let machine: FakeMachine;
let supervisor: Supervisor;
beforeEach(async () => {
  bed = new Testbed();
  machine = new FakeMachine();
  supervisor = await started();
});
afterEach(async () => {
  await supervisor.close('the test is over');
  await bed.close();
});

async function started(): Promise<Supervisor> {
  mkdirSync(bed.path('.supervisor'), { recursive: true });
  return Supervisor.start({
    ...{ runsDirectory: bed.runs, bin: '/our/bin', socket: bed.path('.sock'), openExecutor: machine.open },
    ...{ openReader: readerHere(), completionOf, isOurs: () => true, log: () => undefined },
    host: {
      ...{ environment: {}, leaseDirectory: bed.path('.leases'), supervisor: identityOf(process.pid)!, uid: 0 },
      ...{ gpuEveryMs: undefined, gpuPatienceMs: undefined },
    },
  });
}

/** A client of the supervisor, closed with the bed. */
async function attached(): Promise<Fleet> {
  const socket = connect(bed.path('.sock'));
  await once(socket, 'connect');
  const fleet = new Fleet(socket, () => Promise.resolve(null));
  await fleet.ready();
  return fleet;
}

const resources = Resources.parse({ gpus: 2, gpu_memory: 9000, cpus: 4 });
const attemptOf = (name: string) => machine.attempt(bed.path('s', name), 1);

describe('a supervisor whose executor takes its time and finds runs their GPUs', () => {
  it('starts as many as the executor has room for, tells what they need, and learns how they end', async () => {
    const fleet = await attached();
    const runs = ['run0', 'run1', 'run2'].map((name) => ({ name, argv: ['wait'] as [string], resources }));
    await fleet.submit(bed.plan('s', runs), { PATH: '/bin', CUDA_VISIBLE_DEVICES: '7' }, {});
    await untilState(fleet, 's/run1', 'running');
    const needs = { gpus: 2, gpuMemory: 9000, cpus: 4 };
    expect(machine.starts).toMatchObject([{ needs }, { needs }]);
    expect(machine.starts[0]!.environment).toMatchObject({ CUDA_VISIBLE_DEVICES: '7', MEMRL_RUN: 's/run0' });
    expect(machine.starts[0]!.environment).not.toHaveProperty('OMP_NUM_THREADS');
    attemptOf('run0')!.end({ kind: 'exited', code: 0 });
    await untilState(fleet, 's/run2', 'running');
    expect(run(fleet, 's/run0')).toMatchObject({ state: 'done' });
    fleet.close();
  });

  it('takes a run for started when that is answered, and ends one then that was stopped meanwhile', async () => {
    const release = machine.holdStarts();
    const fleet = await attached();
    await fleet.submit(bed.plan('s', [{ argv: ['wait'] }]), { PATH: '/bin' }, {});
    await waitFor('the start', () => machine.starts.length === 1);
    await fleet.request({ verb: 'stop-sweep', sweep: 's' });
    expect([run(fleet, 's/run0').state, attemptOf('run0')]).toEqual(['starting', null]);
    release();
    await untilState(fleet, 's/run0', 'killed');
    expect(attemptOf('run0')!.ending).toEqual({ kind: 'signalled', signal: 'SIGTERM' });
    fleet.close();
  });

  it('is followed by one that finds all runs again, starts none twice, and tells what has ended since', async () => {
    const fleet = await attached();
    await fleet.submit(bed.plan('s', [{ argv: ['wait'] }, { argv: ['wait'] }]), { PATH: '/bin' }, {});
    await untilState(fleet, 's/run1', 'running');
    fleet.close();
    await supervisor.close('another one comes');
    attemptOf('run0')!.end({ kind: 'exited', code: 7 });
    supervisor = await started();
    const next = await attached();
    await untilState(next, 's/run0', 'failed');
    expect([run(next, 's/run1').state, machine.starts.length]).toEqual(['running', 2]);
    attemptOf('run1')!.end({ kind: 'exited', code: 0 });
    await untilState(next, 's/run1', 'done');
    next.close();
  });

  it('does not start again what was on its way when the last one left', async () => {
    const release = machine.holdStarts();
    const fleet = await attached();
    await fleet.submit(bed.plan('s', [{ argv: ['wait'] }]), { PATH: '/bin' }, {});
    await waitFor('the start', () => machine.starts.length === 1);
    fleet.close();
    await supervisor.close('another one comes');
    release();
    await waitFor('the run', () => attemptOf('run0'));
    supervisor = await started();
    const next = await attached();
    await untilState(next, 's/run0', 'running');
    expect(machine.starts.length).toBe(1);
    next.close();
  });
});

describe('a supervisor that is to use an executor', () => {
  it('which there is not, does not come up, and says which there are', { tags: ['long'] }, async () => {
    const other = new Testbed({ MEMRL_EXECUTOR: 'slrum' });
    try {
      await expect(other.fleet()).rejects.toThrow(/There is no executor called slrum/);
      expect(other.supervisorPid()).toBeNull();
    } finally {
      await other.close();
    }
  });
});
