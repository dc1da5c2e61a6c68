/**
 * Runs on Slurm: each a job, or taken by a worker with others.
 *
 * Slurm decides where and when; what can be relied on is the shared disk. A controller may forget a job that runs, and give its
 * number to another one, so a job is known by the key of its submission, which is on the disk before `sbatch` is called. Whichever
 * job creates the `pid` file of an attempt first is the attempt; any other leaves. One call of `squeue` tells of all jobs.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunId } from '../../base/ids.js';
import { supervisorFiles } from '../../contract/files.js';
import { attemptDirectory } from '../attempt/attempt-files.js';
import type {
  Executor,
  ExecutorListener,
  ExecutorResources,
  ExecutorSetting,
  LaunchSpec,
  TakenOver,
} from '../executor.js';
import { ClusterNodes } from './cluster-nodes.js';
import { JobExecutor } from './job-executor.js';
import { isPacked, unreachableInput } from './job-options.js';
import { PackExecutor } from './packs/pack-executor.js';
import { QueueWatch } from './queue-watch.js';
import { SlurmCalls } from './slurm-calls.js';
import { readKeys } from './disk-evidence.js';

/** Runs that are submitted and not over, unless a person says how many: what many sites let one person have. */
const SLOTS = 1000;
/** Between looks at the queue while something happens, and between submissions of jobs, ms. */
const EVERY_MS = 2000;

export function openSlurmExecutor(setting: ExecutorSetting, listener: ExecutorListener): Executor {
  return new SlurmExecutor(setting, listener);
}

/** Hands each run to who has it. */
class SlurmExecutor implements Executor {
  readonly #jobs: JobExecutor;
  readonly #packs: PackExecutor;
  readonly #queue: QueueWatch;
  readonly #nodes: ClusterNodes;

  /** `MEMRL_SLURM_EVERY_MS`: between looks at the queue, and between submissions. `MEMRL_SLURM_WORKER`: the program of a worker, where it is another one. */
  constructor({ runsDirectory, environment }: ExecutorSetting, listener: ExecutorListener) {
    const calls = new SlurmCalls(environment);
    const everyMs = Number(environment['MEMRL_SLURM_EVERY_MS'] ?? EVERY_MS);
    const queue = new QueueWatch(calls, everyMs, {
      isWanted: () => this.#jobs.isBusy || this.#packs.isBusy,
      addresses: () => [...this.#jobs.missing(), ...this.#packs.missing()],
      told: (told) => {
        this.#jobs.told(told);
        this.#packs.told(told);
      },
      untold: () => this.#jobs.untold(),
      silent: (words) => {
        this.#jobs.tellSilence(words);
        this.#packs.tellSilence(words);
      },
    });
    const root = join(runsDirectory, supervisorFiles.directory, supervisorFiles.packs);
    const program = environment['MEMRL_SLURM_WORKER'] ?? fileURLToPath(new URL('./slurm-worker.js', import.meta.url));
    this.#queue = queue;
    this.#nodes = new ClusterNodes(() => calls.nodes());
    this.#jobs = new JobExecutor({ calls, queue, everyMs }, listener);
    this.#packs = new PackExecutor({ root, calls, queue, environment, program }, listener);
  }

  resources(): ExecutorResources {
    return { slots: SLOTS, gpus: 'requested' };
  }

  start(id: RunId, spec: LaunchSpec) {
    if (spec.input !== undefined)
      return { kind: 'refused', reason: `it ${unreachableInput}`, transient: false } as const;
    return (isPacked(spec) ? this.#packs : this.#jobs).start(id, spec);
  }

  adopt(id: RunId, directory: string, attempt: number) {
    return this.#ownerOf(directory, attempt).adopt(id, directory, attempt);
  }

  async orphanedAttemptOf(directory: string, attempt: number) {
    return this.#packs.orphanedAttemptOf(directory, attempt) ?? this.#jobs.orphanedAttemptOf(directory, attempt);
  }

  takeOver(id: RunId, directory: string, numbers: TakenOver) {
    return this.#ownerOf(directory, numbers.orphan).takeOver(id, directory, numbers);
  }

  terminate(id: RunId): void {
    this.#watcherOf(id).terminate(id);
  }

  kill(id: RunId): void {
    this.#watcherOf(id).kill(id);
  }

  pause(id: RunId): void {
    this.#watcherOf(id).pause(id);
  }

  continue(id: RunId): void {
    this.#watcherOf(id).continue(id);
  }

  type(): string {
    return unreachableInput;
  }

  awaitsInput(): boolean {
    return false;
  }

  pidOf(id: RunId): number | null {
    return this.#watcherOf(id).pidOf(id);
  }

  rootOf(): null {
    return null;
  }

  placeOf(id: RunId) {
    return this.#watcherOf(id).placeOf(id);
  }

  nodes() {
    return this.#nodes.read([...this.#jobs.nodes(), ...this.#packs.nodes()]);
  }

  close(): void {
    this.#queue.close();
    this.#jobs.close();
    this.#packs.close();
  }

  #watcherOf(id: RunId): JobExecutor | PackExecutor {
    return this.#packs.watches(id) ? this.#packs : this.#jobs;
  }

  /** Who was told to start an attempt, as it has written down. */
  #ownerOf(directory: string, attempt: number): JobExecutor | PackExecutor {
    return this.#packs.isOne(readKeys(attemptDirectory(directory, attempt))) ? this.#packs : this.#jobs;
  }
}
