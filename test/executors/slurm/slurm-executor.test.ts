import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import type { Ending, Executor, ExecutorListener, LaunchSpec } from '../../../src/executors/executor.js';
import { JobExecutor } from '../../../src/executors/slurm/job-executor.js';
import { SlurmCalls } from '../../../src/executors/slurm/slurm-calls.js';
import { openSlurmExecutor } from '../../../src/executors/slurm/slurm-executor.js';
import { waitFor } from '../../supervisor/testbed.js';
import { log, orderFor, runFolder } from '../local/folder.js';
import { PretendSlurm } from './pretend-slurm.js';

const id = RunId.parse('s/run');

let slurm: PretendSlurm;
let executor: Executor;
let endings: Ending[];
let troubles: (string | null)[];
beforeEach(() => {
  slurm = new PretendSlurm(runFolder());
  executor = opened();
});
afterEach(() => {
  slurm.set('dead', null);
  slurm.set('hold', null);
  slurm.set('unstarted', null);
  slurm.set('busy', null);
  vi.restoreAllMocks();
  executor.close();
});

const listener: ExecutorListener = {
  ended: (_id, _attempt, ending) => void endings.push(ending),
  changed: () => undefined,
  troubled: (_id, words) => void troubles.push(words),
  mayGiveUp: () => true,
};

function opened(): Executor {
  [endings, troubles] = [[], []];
  return openSlurmExecutor({ runsDirectory: '/', environment: slurm.environment }, listener);
}

const waits = ['sh', '-c', ': > up; while [ ! -e gate ]; do sleep 0.02; done; exit 4'];
const untilUp = (directory: string) => waitFor('the run', () => existsSync(join(directory, 'up')));
const untilEnded = () => waitFor('the end', () => endings[0]);
const finish = (directory: string) => writeFileSync(join(directory, 'gate'), '');

async function started(more: Partial<LaunchSpec> = {}, argv = waits): Promise<string> {
  const directory = runFolder();
  expect(await executor.start(id, { ...orderFor(directory, argv), ...more })).toMatchObject({ kind: 'started' });
  if (argv === waits) await untilUp(directory);
  return directory;
}

describe('a job that waits', () => {
  it('says what for, in the words of Slurm, and starts when Slurm starts it', async () => {
    slurm.set('hold', '');
    const directory = runFolder();
    const start = executor.start(id, orderFor(directory, waits));
    const words = 'Slurm job 1 waits (Priority: other jobs come first)';
    await waitFor('the reason', () => executor.placeOf(id)?.words === words);
    expect(executor.pidOf(id)).toBe(1);
    slurm.set('hold', null);
    expect(await start).toEqual({ kind: 'started', pid: 1 });
    expect(executor.placeOf(id)).toEqual({ node: 'node1', gpus: [], words: null });
    finish(directory);
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 4 });
  });

  it('leaves the queue when it is to end, and its command never runs', async () => {
    slurm.set('hold', '');
    const directory = runFolder();
    const start = executor.start(id, orderFor(directory, waits));
    await waitFor('the job', () => executor.placeOf(id)?.words?.includes('Priority'));
    executor.terminate(id);
    expect(executor.placeOf(id)?.words).toBe('Slurm job 1 is being taken out of the queue');
    await start;
    expect(await untilEnded()).toEqual({ kind: 'not-claimed' });
    expect([existsSync(join(directory, 'up')), slurm.fact('1', 'state')]).toEqual([false, 'CANCELLED']);
  });

  it('is found by the next executor, and starts once', async () => {
    slurm.set('hold', '');
    const directory = runFolder();
    void executor.start(id, orderFor(directory, waits));
    await waitFor('the job', () => executor.placeOf(id)?.words?.includes('Priority'));
    executor.close();
    executor = opened();
    const found = await executor.adopt(id, directory, 1);
    expect(found.kind).toBe('queued');
    slurm.set('hold', null);
    expect(await (found as Extract<typeof found, { kind: 'queued' }>).start).toMatchObject({ kind: 'started' });
    finish(directory);
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 4 });
    expect(slurm.addresses()).toEqual(['1']);
  });
});

describe('the end of a job', () => {
  const saves = ['sh', '-c', 'trap "exit 0" TERM; : > up; while [ ! -e gate ]; do sleep 0.02; done; exit 4'];
  const terminated = () => process.kill(-Number(slurm.fact('1', 'group')), 'SIGTERM');
  const startedSaver = async (fate: string) => {
    const directory = await started({}, saves);
    await untilUp(directory);
    slurm.set('jobs/1/fate', fate);
    return directory;
  };

  it.each([
    { fate: 'TIMEOUT', ending: { kind: 'timed-out', seconds: 65 } },
    { fate: 'CANCELLED', ending: { kind: 'interrupted', reason: 'cancelled in Slurm by somebody else on node1' } },
  ])('is what Slurm did to it where it got SIGTERM, though it then exits with 0: $fate', async ({ fate, ending }) => {
    await startedSaver(fate);
    terminated();
    expect(await untilEnded()).toMatchObject(ending);
  });

  // No SIGTERM came, so Slurm did nothing to it: a controller that was restarted has forgotten its end.
  it('is its exit code where it ended by itself, whatever Slurm takes it for', async () => {
    finish(await startedSaver('CANCELLED'));
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 4 });
  });

  it('is asked of Slurm by the next executor where it got SIGTERM', async () => {
    const directory = await startedSaver('PREEMPTED');
    executor.close();
    terminated();
    await waitFor('the exit code', () => existsSync(join(directory, 'attempts', '1', 'exit')));
    executor = opened();
    expect(await executor.adopt(id, directory, 1)).toMatchObject({ kind: 'alive' });
    expect(await untilEnded()).toMatchObject({ kind: 'interrupted', reason: 'preempted by Slurm on node1' });
  });

  it('is the failure of its node where it left no exit code', async () => {
    const directory = await started();
    slurm.set('jobs/1/fate', 'NODE_FAIL');
    process.kill(Number(readFileSync(join(directory, 'attempts', '1', 'pid'), 'utf8').split(' ')[0]), 'SIGKILL');
    finish(directory);
    const reason = 'its node failed on node1';
    expect(await untilEnded()).toEqual({ kind: 'interrupted', signal: 'SIGKILL', reason });
  });

  it('does not come when Slurm starts it again: the same attempt goes on, with the words for that', async () => {
    const argv = ['sh', '-c', 'echo "told $*" >> told; : > up; while [ ! -e gate ]; do sleep 0.02; done; exit 4', 'sh'];
    const directory = await started({ resumeArgs: ['--resume'] }, [...argv, 'once']);
    await untilUp(directory);
    slurm.set('jobs/1/fate', 'REQUEUED');
    finish(directory);
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 4 });
    expect(readFileSync(join(directory, 'told'), 'utf8')).toBe('told once\ntold once --resume\n');
    expect(log(directory)).toContain('Slurm started job 1 again on node1');
  });

  it('is told by the disk where Slurm has forgotten the job', async () => {
    const directory = await started();
    slurm.set('jobs/1/forgotten', '');
    finish(directory);
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 4 });
  });
});

describe('a job that its node does not start', () => {
  it.each([
    ['CANCELLED', 'was cancelled on node1'],
    ['NODE_FAIL', 'lost its node on node1'],
    ['BOOT_FAIL', 'found its node not booting on node1'],
  ])('is submitted again, and its run fails where no node ever starts it: %s', async (state, words) => {
    const directory = runFolder();
    for (const attempt of [1, 2, 3, 4, 5]) {
      slurm.set('unstarted', state);
      await executor.start(id, orderFor(directory, waits, attempt));
      await waitFor('the end', () => endings.length === attempt);
      expect(existsSync(join(directory, 'up'))).toBe(false);
    }
    const last = { kind: 'not-begun', reason: `Slurm job 5 ${words} before the run began` };
    expect(endings).toEqual([...Array<Ending>(4).fill({ kind: 'not-claimed' }), last]);
  });

  it('is not submitted again where a person takes it out of the queue', async () => {
    slurm.set('hold', '');
    void executor.start(id, orderFor(runFolder(), waits));
    await waitFor('the job', () => executor.placeOf(id)?.words?.includes('Priority'));
    slurm.cancel('1');
    expect(await untilEnded()).toMatchObject({ kind: 'not-begun' });
  });
});

describe('a controller that does not know a job any more', () => {
  it('is not told to cancel what has its number now', async () => {
    const directory = await started();
    slurm.set('jobs/1/forgotten', '');
    executor.close();
    executor = opened();
    expect(await executor.adopt(id, directory, 1)).toMatchObject({ kind: 'alive' });
    executor.kill(id);
    finish(directory);
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 4 });
    expect(slurm.isCancelled('1')).toBe(false);
  });
});

describe('a controller that does not answer', () => {
  it('refuses starts for now', async () => {
    slurm.set('dead', '');
    const start = await executor.start(id, orderFor(runFolder(), waits));
    expect(start).toMatchObject({
      kind: 'refused',
      transient: true,
      reason: expect.stringMatching(/Unable to contact/) as string,
    });
  });

  it('is told of, and no more once it answers', async () => {
    const directory = await started();
    slurm.set('dead', '');
    await waitFor('the words', () => troubles.at(-1)?.includes('does not answer'));
    slurm.set('dead', null);
    await waitFor('the end of the words', () => troubles.at(-1) === null);
    finish(directory);
    await untilEnded();
  });
});

describe('what is submitted', () => {
  it('is not taken for forgotten while that lasts long', async () => {
    const directory = runFolder();
    const queue = { first: async () => new Map<string, never>(), stir: () => undefined, lookSoon: () => undefined };
    const jobs = new JobExecutor({ calls: new SlurmCalls(slurm.environment), queue, everyMs: 50 }, listener);
    slurm.set('busy', '');
    void jobs.start(id, orderFor(directory, ['echo', 'ran']));
    jobs.told(new Map());
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
    jobs.told(new Map());
    slurm.set('busy', null);
    const isOver = () => slurm.addresses().length > 0 && /COMPLETED|FAILED/.test(slurm.fact('1', 'state'));
    await waitFor('the end of its job', isOver);
    expect(log(directory)).toBe('ran\n');
  });

  it('is as many arrays as the cluster has room for in one', async () => {
    slurm.set('arraySize', '3');
    const runs = [0, 1, 2, 3, 4].map(() => ({ ...orderFor(runFolder(), ['true']), cwd: '/' }));
    await Promise.all(runs.map(async (spec, index) => executor.start(RunId.parse(`s/run${index}`), spec)));
    await waitFor('all ends', () => endings.length === 5);
    const jobs = slurm.addresses().map((address) => address.split('_')[0]);
    expect([1, 2, 3].map((job) => jobs.filter((each) => each === String(job)).length).sort()).toEqual([1, 2, 2]);
  });

  it('is refused for good where Slurm says so', async () => {
    const start = await executor.start(id, { ...orderFor(runFolder(), waits), slurm: { partition: 'nowhere' } });
    const reason = 'Slurm refuses it: Batch job submission failed: Invalid partition name specified';
    expect(start).toEqual({ kind: 'refused', reason, transient: false });
  });

  it('is one array for equal runs of one moment, each with its own directory and environment', async () => {
    const runs = [0, 1, 2].map((index) => {
      const directory = runFolder();
      const order = orderFor(directory, ['sh', '-c', 'echo "own=$OWN dir=$MEMRL_RUN_DIR"'], 1);
      return { ...order, cwd: '/', environment: { ...order.environment, OWN: `it's ${index}` } };
    });
    await Promise.all(runs.map(async (spec, index) => executor.start(RunId.parse(`s/run${index}`), spec)));
    await waitFor('all ends', () => endings.length === 3);
    expect(slurm.addresses().sort()).toEqual(['1_0', '1_1', '1_2']);
    expect(runs.map(({ directory }) => log(directory))).toEqual(
      runs.map(({ directory }, index) => `own=it's ${index} dir=${directory}\n`),
    );
  });

  it('says where the command cannot enter its working directory', async () => {
    const directory = runFolder();
    await executor.start(id, { ...orderFor(directory, waits), cwd: '/no/such/place' });
    expect(await untilEnded()).toMatchObject({ kind: 'not-begun' });
    expect(log(directory)).toContain('the working directory /no/such/place cannot be entered on node1');
  });

  it('sees no GPU of an enclosing job', async () => {
    const directory = runFolder();
    const { environment, ...order } = orderFor(directory, ['sh', '-c', 'echo "seen=${CUDA_VISIBLE_DEVICES-none}"']);
    await executor.start(id, {
      ...order,
      environment: { ...environment, CUDA_VISIBLE_DEVICES: '7', SLURM_JOB_ID: '9' },
    });
    await untilEnded();
    expect(log(directory)).toBe('seen=none\n');
  });
});
