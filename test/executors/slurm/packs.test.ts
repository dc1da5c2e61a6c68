import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import type { Ending, Executor, LaunchSpec } from '../../../src/executors/executor.js';
import { openSlurmExecutor } from '../../../src/executors/slurm/slurm-executor.js';
import { readProcesses } from '../../../src/processes/process-table.js';
import { bundledSupervisor, waitFor } from '../../supervisor/testbed.js';
import { log, orderFor, runFolder } from '../local/folder.js';
import { PretendSlurm } from './pretend-slurm.js';

let slurm: PretendSlurm;
let runsDirectory: string;
let worker: string;
let executor: Executor;
let endings: Map<string, Ending>;
let troubles: (string | null)[];
/** What runs wait for, as of each time when something about them is told to have changed. */
let told: (string | null | undefined)[];

beforeAll(async () => void (worker = join(dirname(await bundledSupervisor()), 'slurm-worker.js')));
beforeEach(() => {
  slurm = new PretendSlurm(runFolder());
  runsDirectory = runFolder();
  endings = new Map<string, Ending>();
  troubles = [];
  told = [];
  executor = opened(worker);
});
afterEach(() => {
  for (const name of ['dead', 'hold', 'end'] as const) slurm.set(name, null);
  executor.close();
});

function opened(program: string): Executor {
  return openSlurmExecutor(
    { runsDirectory, environment: { ...slurm.environment, MEMRL_SLURM_WORKER: program } },
    {
      ended: (id, _attempt, ending) => void endings.set(id, ending),
      changed: (id) => void told.push(executor.placeOf(id)?.words),
      troubled: (_id, words) => void troubles.push(words),
      mayGiveUp: () => true,
    },
  );
}

const idOf = (index: number) => RunId.parse(`s/run${index}`);
const waits = ['sh', '-c', ': > up; while [ ! -e gate ]; do sleep 0.02; done; exit 4'];
const finish = (directory: string) => writeFileSync(join(directory, 'gate'), '');
const untilUp = (directory: string) => waitFor('the run', () => existsSync(join(directory, 'up')));
const untilEnded = (index = 0) => waitFor(`the end of run ${index}`, () => endings.get(idOf(index)));

/** So many runs of that command, given to workers. */
function packed(
  count: number,
  argv: string[],
  more: Partial<LaunchSpec> = {},
): { directories: string[]; starts: unknown[] } {
  const directories = Array.from({ length: count }, () => runFolder());
  const starts = directories.map((directory, index) =>
    executor.start(idOf(index), { ...orderFor(directory, argv), slurm: { mode: 'packs', workers: 2 }, ...more }),
  );
  return { directories, starts };
}

async function oneUp(argv = waits): Promise<string> {
  const [directory] = packed(1, argv).directories;
  await untilUp(directory!);
  return directory!;
}

/** The process of the worker, which takes and ends runs. */
function workerPid(): number | undefined {
  return readProcesses().find(
    (entry) => entry.argv().includes(worker) && entry.argv().join(' ').includes(runsDirectory),
  )?.pid;
}

describe('a pack', () => {
  it('takes each run once, by no more workers than were asked for', async () => {
    const { directories } = packed(40, ['sh', '-c', 'echo "$MEMRL_RUN_DIR on $SLURM_ARRAY_TASK_ID"; exit 3']);
    await waitFor('all ends', () => endings.size === 40);
    expect(slurm.addresses().length).toBeLessThanOrEqual(2);
    expect([...endings.values()]).toEqual(Array(40).fill({ kind: 'exited', code: 3 }));
    const said = directories.map((directory) => log(directory));
    expect(said.map((line) => line.replace(/ on [01]\n$/, ''))).toEqual(directories);
  });

  it.each([
    ['small', '3', /^\d_[01]$/],
    ['not allowed', '0', /^\d$/],
  ])('asks for its workers a few at a time where arrays are %s', async (_, arraySize, address) => {
    slurm.set('arraySize', arraySize);
    const { directories } = packed(3, waits, { slurm: { mode: 'packs', workers: 3 } });
    for (const directory of directories) await untilUp(directory);
    expect(slurm.addresses()).toEqual([1, 2, 3].map(() => expect.stringMatching(address) as string));
    for (const directory of directories) finish(directory);
    await waitFor('all ends', () => endings.size === 3);
  });

  it('has room for the runs that share a GPU, which all see it', async () => {
    const needs = { gpus: 1, gpuMemory: null, perGpu: 3, cpus: 1 };
    const { directories } = packed(3, waits, { needs, slurm: {} });
    for (const directory of directories) await untilUp(directory);
    expect(slurm.addresses()).toEqual(['1_0']);
    for (const directory of directories) finish(directory);
    await waitFor('all ends', () => endings.size === 3);
  });

  it('says what its runs wait for, and where they are', async () => {
    slurm.set('hold', '');
    const { directories } = packed(1, waits);
    const words = 'its worker: Slurm job 1_0 waits (Priority: other jobs come first)';
    await waitFor('the reason', () => told.includes(words));
    expect(executor.placeOf(idOf(0))?.words).toBe(words);
    slurm.set('hold', null);
    await untilUp(directories[0]!);
    await waitFor('the place', () => executor.placeOf(idOf(0))?.node === 'node1');
    expect([executor.pidOf(idOf(0)), executor.placeOf(idOf(0))?.words]).toEqual([1, null]);
    finish(directories[0]!);
    await untilEnded();
  });

  it('lets its workers leave the queue when nothing is left for them', async () => {
    slurm.set('hold', '');
    const { starts } = packed(1, waits);
    await waitFor('the job', () => executor.placeOf(idOf(0))?.words?.includes('Priority'));
    executor.terminate(idOf(0));
    await starts[0];
    expect(await untilEnded()).toEqual({ kind: 'not-claimed' });
    await waitFor('its end', () => slurm.fact('1_0', 'state') === 'CANCELLED');
    const packs = join(runsDirectory, '.supervisor', 'packs');
    await waitFor('its folder to be gone', () => readdirSync(packs).length === 0);
  });

  it('is found by the next executor, and nothing is asked of Slurm again', async () => {
    slurm.set('hold', '');
    const { directories } = packed(2, waits, { slurm: { mode: 'packs', workers: 1 } });
    await waitFor('the job', () => executor.placeOf(idOf(1))?.words?.includes('Priority'));
    executor.close();
    executor = opened(worker);
    const found = await Promise.all(
      directories.map(async (directory, index) => executor.adopt(idOf(index), directory, 1)),
    );
    expect(found.map(({ kind }) => kind)).toEqual(['queued', 'queued']);
    slurm.set('hold', null);
    for (const directory of directories) finish(directory);
    await waitFor('all ends', () => endings.size === 2);
    expect(slurm.addresses()).toEqual(['1_0']);
  });
});

describe('a worker', () => {
  it('that is killed is started again by the shell of its job, and goes on with its run', async () => {
    const directory = await oneUp();
    const first = await waitFor('the worker', workerPid);
    process.kill(first, 'SIGKILL');
    await waitFor('the next', () => ![undefined, first].includes(workerPid()));
    finish(directory);
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 4 });
    expect(slurm.addresses()).toEqual(['1_0']);
  });

  it('that Slurm starts once more, shell and all, goes on with the run that it had begun', async () => {
    const directory = await oneUp();
    const first = await waitFor('the worker', workerPid);
    slurm.set('jobs/1_0/fate', 'REQUEUED');
    process.kill(-Number(slurm.fact('1_0', 'group')), 'SIGKILL');
    await waitFor('the next', () => ![undefined, first].includes(workerPid()));
    finish(directory);
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 4 });
  });

  it('that is lost loses its run, and what it had not begun is taken by the next', async () => {
    const directories = packed(2, waits, { slurm: { mode: 'packs', workers: 1 } }).directories;
    await untilUp(directories[0]!);
    const shim = Number(readFileSync(join(directories[0]!, 'attempts', '1', 'pid'), 'utf8').split(' ')[0]);
    slurm.set('jobs/1_0/fate', 'NODE_FAIL');
    process.kill(-Number(slurm.fact('1_0', 'group')), 'SIGKILL');
    process.kill(-shim, 'SIGKILL');
    const reason = expect.stringMatching(/^its worker, Slurm job 1 on node1, was lost: its node failed/) as string;
    expect(await untilEnded(0)).toEqual({ kind: 'interrupted', signal: 'SIGKILL', reason });
    await untilUp(directories[1]!);
    finish(directories[1]!);
    expect(await untilEnded(1)).toEqual({ kind: 'exited', code: 4 });
    expect(slurm.addresses()).toEqual(['1_0', '2_0']);
  });

  // What saves its state on SIGTERM exits with 0 though it is not done.
  const saves = ['sh', '-c', 'trap "exit 0" TERM; : > up; while [ ! -e gate ]; do sleep 0.02; done; exit 4'];
  it.each([
    ['the worker alone', waits],
    ['its run first', waits],
    ['its run first', saves],
  ])('whose end Slurm wants has its runs told to have been interrupted: %s', async (who, argv) => {
    const directory = await oneUp(argv);
    const pid = await waitFor('the worker', workerPid);
    const shim = Number(readFileSync(join(directory, 'attempts', '1', 'pid'), 'utf8').split(' ')[0]);
    if (who === 'its run first') process.kill(-shim, 'SIGTERM');
    process.kill(pid, 'SIGTERM');
    const reason = 'Slurm ended its worker, job 1 on node1';
    expect(await untilEnded()).toEqual({ kind: 'interrupted', signal: 'SIGTERM', reason });
  });

  it.each(['has said so', 'was killed before it could say so'])(
    'that Slurm ended has its runs told why, where it %s',
    async (how) => {
      const directory = await oneUp();
      const pid = await waitFor('the worker', workerPid);
      const shim = Number(readFileSync(join(directory, 'attempts', '1', 'pid'), 'utf8').split(' ')[0]);
      slurm.set('jobs/1_0/fate', 'PREEMPTED');
      if (how === 'has said so') process.kill(pid, 'SIGTERM');
      else {
        process.kill(-Number(slurm.fact('1_0', 'group')), 'SIGKILL');
        process.kill(-shim, 'SIGTERM');
      }
      const reason = 'its worker, Slurm job 1 on node1, was lost: preempted by Slurm';
      expect(await untilEnded()).toEqual({ kind: 'interrupted', signal: 'SIGTERM', reason });
    },
  );

  it(
    'ends its runs before its time is over, and begins none that would not end by then',
    { tags: ['long'] },
    async () => {
      slurm.set('end', String(Math.ceil(Date.now() / 1000) + 33));
      await oneUp();
      expect(await untilEnded()).toMatchObject({ kind: 'timed-out' });
    },
  );

  it('that never comes up is told with what it printed last', async () => {
    executor.close();
    executor = opened('/no/such/worker.js');
    const { starts } = packed(3, waits, { slurm: { mode: 'packs', workers: 3 } });
    const reason = expect.stringMatching(/^no worker came up: Slurm job \d_\d failed on node1: ./) as string;
    expect(await Promise.all(starts)).toEqual(Array(3).fill({ kind: 'refused', reason, transient: false }));
  });

  it('is not asked for while the controller does not answer, and is when it does', async () => {
    slurm.set('dead', '');
    const { directories } = packed(1, waits);
    await waitFor('the words', () => troubles.at(-1)?.includes('Unable to contact'));
    slurm.set('dead', null);
    await untilUp(directories[0]!);
    finish(directories[0]!);
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 4 });
  });
});
