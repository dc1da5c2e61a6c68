import { existsSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Plan } from '../../src/spec/planned-run.js';
import { PretendSlurm } from '../executors/slurm/pretend-slurm.js';
import { removeFolder } from '../remove-folder.js';
import { run, Testbed, untilState, waitFor } from './testbed.js';

let folder: string;
let slurm: PretendSlurm;
let bed: Testbed;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'slurm-')));
  slurm = new PretendSlurm(folder);
  bed = new Testbed({ ...slurm.environment, MEMRL_EXECUTOR: 'slurm' });
});
afterEach(async () => {
  slurm.set('hold', null);
  await bed.close();
  removeFolder(folder);
});

const waits = 'while [ ! -e gate ]; do sleep 0.02; done; exit 3';
/** Each run in its own directory. */
const planOf = (...scripts: string[]): Plan => {
  const argv = (script: string): [string, ...string[]] => ['sh', '-c', `cd "$MEMRL_RUN_DIR"; : > up; ${script}`];
  return {
    ...bed.plan(
      's',
      scripts.map((script) => ({ argv: argv(script) })),
    ),
    executor: 'slurm',
  };
};
const environment = () => ({ PATH: slurm.environment['PATH']! });

describe('a supervisor whose runs are jobs of Slurm', () => {
  it('shows where they are and what they wait for', async () => {
    slurm.set('hold', '');
    const fleet = await bed.fleet();
    expect(await fleet.submit(planOf(waits), environment(), {})).toMatchObject({ ok: true });
    await waitFor('the reason', () => run(fleet, 's/run0').reason?.startsWith('Slurm job 1 waits (Priority'));
    expect(run(fleet, 's/run0')).toMatchObject({ state: 'starting', slot: null });
    slurm.set('hold', null);
    await untilState(fleet, 's/run0', 'running');
    expect(run(fleet, 's/run0')).toMatchObject({ slot: 'node1', pid: 1, reason: null });
    writeFileSync(bed.path('s', 'run0', 'gate'), '');
    await untilState(fleet, 's/run0', 'failed');
    expect(run(fleet, 's/run0').exit).toMatchObject({ code: 3 });
  });

  it('shows the nodes of the cluster and which GPUs of them its runs have', async () => {
    slurm.set('gpus', '0,2-3');
    slurm.set('nodes', 'node1|gpu:4|gpu:3(IDX:0,2-3)|mixed|none\nnode2|gpu:4|gpu:0|down*|Not responding\n');
    const fleet = await bed.fleet();
    await fleet.submit(planOf(waits), environment(), {});
    await untilState(fleet, 's/run0', 'running');
    expect(run(fleet, 's/run0')).toMatchObject({ slot: 'node1', nodeGpus: [0, 2, 3] });
    await fleet.until(({ status }) => (status.nodes ?? []).length > 0);
    expect(fleet.status.nodes).toEqual([
      { name: 'node1', state: 'partly in use', takesRuns: true, gpus: 4, gpusInUse: 3 },
      { name: 'node2', state: 'down; it does not answer; Not responding', takesRuns: false, gpus: 4, gpusInUse: 0 },
    ]);
    writeFileSync(bed.path('s', 'run0', 'gate'), '');
    await untilState(fleet, 's/run0', 'failed');
  });

  it('ends one that waits in the queue of Slurm without running it', async () => {
    slurm.set('hold', '');
    const fleet = await bed.fleet();
    await fleet.submit(planOf(waits), environment(), {});
    await waitFor('the job', () => run(fleet, 's/run0').reason?.includes('Priority'));
    await fleet.request({ verb: 'kill', ids: [run(fleet, 's/run0').id] });
    await untilState(fleet, 's/run0', 'killed');
    expect([existsSync(bed.path('s', 'run0', 'up')), slurm.fact('1', 'state')]).toEqual([false, 'CANCELLED']);
  });

  it('is followed by one that finds the jobs that run, wait and have ended, whatever it is told, and submits none again', async () => {
    const fleet = await bed.fleet();
    await fleet.submit(planOf(waits, waits), environment(), {});
    await untilState(fleet, 's/run1', 'running');
    slurm.set('hold', '');
    await fleet.submit(planOf(waits, waits, 'exit 0'), environment(), {});
    await waitFor('the third job', () => run(fleet, 's/run2').reason?.includes('Priority'));
    await bed.killSupervisor();
    writeFileSync(bed.path('s', 'run0', 'gate'), '');
    slurm.set('hold', null);
    bed.give({ MEMRL_EXECUTOR: 'local' });
    const next = await bed.fleet();
    await untilState(next, 's/run0', 'failed');
    await untilState(next, 's/run2', 'done');
    expect(run(next, 's/run1')).toMatchObject({ state: 'running', attempt: 1 });
    writeFileSync(bed.path('s', 'run1', 'gate'), '');
    await untilState(next, 's/run1', 'failed');
    expect(slurm.addresses().sort()).toEqual(['1_0', '1_1', '2']);
  });

  it('refuses a launch that wants its runs on this machine, and says what to do', async () => {
    const fleet = await bed.fleet();
    const ack = await fleet.submit({ ...planOf('exit 0'), executor: 'local' }, environment(), {});
    expect(ack).toMatchObject({ ok: false, message: expect.stringMatching(/s is to run on this machine/) as string });
    expect(ack).toMatchObject({ fix: expect.stringMatching(/--runs DIR/) as string });
  });
});
