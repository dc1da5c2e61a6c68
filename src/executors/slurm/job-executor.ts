/**
 * Runs as jobs of Slurm, each attempt one job, or one task of an array. What the queue says of a job is judged together with what
 * the job has written.
 */
import { randomBytes } from 'node:crypto';
import { closeSync } from 'node:fs';
import type { RunId } from '../../base/ids.js';
import { isTurnOver, nextTurn } from '../../processes/turn.js';
import type { Ending, Executor, ExecutorListener, Found, LaunchSpec, RunPlace, Start, TakenOver } from '../executor.js';
import { attemptDirectory, readExitCode, succeed, withdraw } from '../attempt/attempt-files.js';
import { explained } from '../attempt/ending.js';
import { openedLog } from '../attempt/start-attempt.js';
import { claimantOf, mayStillRun, readKeys, settledBy, takenAway, writeKey } from './disk-evidence.js';
import { endingByDisk, endingOf, endWords, ownEnding, phaseOf, waitWords } from './job-ending.js';
import { type Job, JobOrders, newJob, numberOf, type Order } from './job.js';
import { JobSubmitter } from './job-submitter.js';
import type { Queue, QueueWatch } from './queue-watch.js';
import type { QueuedJob, SlurmCalls } from './slurm-calls.js';

/** A job that the controller does not know for so long is taken for none, ms. */
const FORGOTTEN_MS = 10_000;
/** What is on the disk is believed when the controller has told otherwise for so long, ms: file servers are behind, too. */
const DISAGREE_MS = 15_000;

/** After so many jobs in a row that a node could not start, a run is taken for one that cannot be started. */
const CANCELLED_STARTS = 5;

/** `everyMs`: between submissions. */
type JobSetting = { calls: SlurmCalls; queue: Pick<QueueWatch, 'first' | 'stir' | 'lookSoon'>; everyMs: number };

/** Knows what Slurm says of its jobs from who asks for all of them. */
export class JobExecutor implements Omit<Executor, 'resources' | 'nodes' | 'type' | 'awaitsInput'> {
  readonly #jobs = new Map<RunId, Job>();
  readonly #listener: ExecutorListener;
  readonly #queue: JobSetting['queue'];
  readonly #orders: JobOrders;
  readonly #submitter: JobSubmitter;
  /** How many jobs in a row could not be started on a node. */
  readonly #cancelledStarts = new Map<RunId, number>();
  #isClosed = false;

  constructor({ calls, queue, everyMs }: JobSetting, listener: ExecutorListener) {
    this.#listener = listener;
    this.#queue = queue;
    this.#orders = new JobOrders(calls);
    this.#submitter = new JobSubmitter(calls, () => randomBytes(8).toString('hex'), everyMs);
  }

  /** Whether anybody waits for what Slurm says of jobs. */
  get isBusy(): boolean {
    return this.#jobs.size > 0;
  }

  async start(id: RunId, spec: LaunchSpec): Promise<Start> {
    const { directory, attempt: number } = spec;
    const job = newJob({ id, number, directory, spec, keys: [], address: null }, () => undefined);
    this.#jobs.set(id, job);
    // A thousand may be started in one turn, each with some ms of work on the disk.
    while (isTurnOver()) await nextTurn();
    const opened = openedLog(spec);
    if (opened.kind === 'refused') {
      this.#jobs.delete(id);
      return opened;
    }
    closeSync(opened.log);
    return new Promise((answer) => {
      job.answer = answer;
      if (claimantOf(directory, number, []).kind !== 'none') {
        setImmediate(() => this.#over(job, { kind: 'not-claimed' }));
      } else void this.#submit(job, spec, attemptDirectory(directory, number));
    });
  }

  async #submit(job: Job, spec: LaunchSpec, folder: string): Promise<void> {
    const note = (key: string) => {
      job.keys.push(key);
      writeKey(folder, key);
    };
    const submitted = await this.#submitter.submit({ spec, note });
    if (!this.#isWatched(job)) return;
    if (submitted.kind === 'accepted') {
      job.address = submitted.job;
      this.#orders.addressKnown(job);
    } else if (submitted.kind === 'refused') {
      this.#jobs.delete(job.id);
      return void job.answer?.(submitted);
    } else job.missingSince = performance.now();
    this.#queue.lookSoon();
  }

  async adopt(id: RunId, directory: string, number: number): Promise<Found> {
    const folder = attemptDirectory(directory, number);
    const keys = readKeys(folder);
    const claimant = claimantOf(directory, number, keys);
    const settled = settledBy(folder, claimant);
    if (settled !== null) return settled;
    const queue = keys.length === 0 ? new Map<string, QueuedJob>() : await this.#queue.first();
    const address = claimant.kind === 'ours' ? String(claimant.job) : null;
    const job = newJob({ id, number, directory, spec: null, keys, address }, null);
    const isUnknown = queue !== null && jobOf(job, queue) === null;
    if (isUnknown) job.missingSince = performance.now();
    const withdrawn = isUnknown && claimant.kind === 'none' ? withdraw(folder) : null;
    return withdrawn === null ? this.#watchFound(job, claimant.kind === 'ours') : { kind: 'withdrawn', ...withdrawn };
  }

  /** It is watched like one that was started here, and its end is told then. */
  #watchFound(job: Job, hasBegun: boolean): Found {
    let answered: Found = { kind: 'alive', pid: numberOf(job) };
    if (!hasBegun) answered = { kind: 'queued', start: new Promise((answer) => (job.answer = answer)) };
    this.#jobs.set(job.id, job);
    this.#queue.lookSoon();
    return answered;
  }

  async orphanedAttemptOf(directory: string, attempt: number): Promise<number | null> {
    for (let number = attempt - 1; number >= 1; number--) {
      const folder = attemptDirectory(directory, number);
      const keys = readKeys(folder);
      const claimant = claimantOf(directory, number, keys);
      if (claimant.kind !== 'ours' || readExitCode(folder) !== null) continue;
      const queue = await this.#queue.first();
      const seen = queue && jobOf({ keys, directory, number }, queue);
      if (seen === null ? mayStillRun(directory, number) : phaseOf(seen) !== 'over') return number;
    }
    return null;
  }

  async takeOver(id: RunId, directory: string, numbers: TakenOver): Promise<Found> {
    succeed(directory, numbers);
    return this.adopt(id, directory, numbers.attempt);
  }

  pidOf(id: RunId): number | null {
    const job = this.#jobs.get(id);
    return job === undefined ? null : numberOf(job) || null;
  }

  rootOf(): null {
    return null;
  }

  placeOf(id: RunId): RunPlace | null {
    const job = this.#jobs.get(id);
    if (job === undefined) return null;
    return { node: job.seen?.nodes || null, gpus: job.answer === null ? gpusOf(job) : [], words: whyNotUp(job) };
  }

  /** Names of the nodes that have its jobs. */
  nodes(): string[] {
    return [...this.#jobs.values()].flatMap(({ seen }) => seen?.nodes || []);
  }

  /** One that has not begun leaves the queue. */
  terminate(id: RunId): void {
    const job = this.#jobs.get(id);
    if (job === undefined || job.terminated) return;
    job.terminated = true;
    if (job.answer !== null) {
      this.#listener.changed(id);
      return this.#order(job, 'cancel');
    }
    this.#order(job, 'terminate');
    if (job.paused) this.continue(id);
  }

  /** Slurm ends it in its own way: SIGCONT and SIGTERM, and after its `KillWait` SIGKILL. */
  kill(id: RunId): void {
    const job = this.#jobs.get(id);
    if (job === undefined || job.killed) return;
    job.killed = true;
    this.#order(job, 'cancel');
  }

  pause(id: RunId): void {
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    job.paused = true;
    this.#order(job, 'pause');
  }

  continue(id: RunId): void {
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    job.paused = false;
    this.#order(job, 'continue');
  }

  close(): void {
    this.#isClosed = true;
    this.#jobs.clear();
  }

  #order(job: Job, order: Order): void {
    this.#orders.give(job, order);
    this.#queue.lookSoon();
  }

  #isWatched(job: Job): boolean {
    return this.#jobs.get(job.id) === job;
  }

  /** Jobs that the controller does not know. */
  missing(): string[] {
    return [...this.#jobs.values()].flatMap((job) => (job.missingSince === null ? [] : (job.address ?? [])));
  }

  /** What the controller says. */
  told(queue: Queue): void {
    for (const job of [...this.#jobs.values()]) {
      const seen = jobOf(job, queue);
      if (job.trouble !== null) this.#trouble(job, null);
      if (seen === null) this.#lookAtMissing(job);
      else this.#lookAt(job, seen);
    }
    this.#orders.again([...this.#jobs.values()]);
  }

  /** The controller does not answer: there is only the disk to look at. */
  untold(): void {
    for (const job of [...this.#jobs.values()]) {
      const hasBegun = job.answer === null || claimantOf(job.directory, job.number, job.keys).kind === 'ours';
      if (!hasBegun) continue;
      this.#hasBegun(job);
      this.#lookForExit(job);
    }
  }

  #lookAt(job: Job, seen: QueuedJob): void {
    this.#noteSeen(job, seen);
    const phase = phaseOf(seen);
    if (phase === 'waits') return this.#waitsAgain(job);
    const claimant = job.answer === null ? 'ours' : claimantOf(job.directory, job.number, job.keys).kind;
    if (claimant === 'ours') {
      this.#cancelledStarts.delete(job.id);
      this.#hasBegun(job);
      if (phase === 'over') this.#hasEnded(job, seen);
      else this.#lookForExit(job);
    } else if (phase === 'over') this.#neverBegan(job, seen, claimant);
  }

  #noteSeen(job: Job, seen: QueuedJob): void {
    const before = job.seen;
    Object.assign(job, { seen, missingSince: null, address: seen.address });
    this.#orders.addressKnown(job);
    if (before?.state === seen.state && before.reason === seen.reason && before.nodes === seen.nodes) return;
    this.#queue.stir();
    this.#listener.changed(job.id);
  }

  /** What a job has written last may be seen here a while later. */
  #hasEnded(job: Job, seen: QueuedJob): void {
    const ending = endingOf(seen, attemptDirectory(job.directory, job.number), job);
    if (ending.kind !== 'unknown' || this.#isLate(job)) this.#over(job, ending);
  }

  /** Whether what Slurm says and what is on the disk have not agreed for long. */
  #isLate(job: Job): boolean {
    this.#queue.stir();
    job.disagreesSince ??= performance.now();
    return performance.now() - job.disagreesSince > DISAGREE_MS;
  }

  /** It was up, and Slurm has taken it back: it will be started again as the same attempt. */
  #waitsAgain(job: Job): void {
    Object.assign(job, { disagreesSince: null, gpus: null });
    if (job.answer === null)
      this.#trouble(job, `interrupted by Slurm, which will start it again: ${waitWords(job.seen!)}`);
  }

  #hasBegun(job: Job): void {
    job.answer?.({ kind: 'started', pid: numberOf(job) });
    job.answer = null;
  }

  /** The controller is told of the end by the node, a moment later. */
  #lookForExit(job: Job): void {
    const folder = attemptDirectory(job.directory, job.number);
    const ending = endingByDisk(folder, job);
    if (ending === null) return;
    const isCompleting = job.seen?.state === 'COMPLETING' && ownEnding(folder, job) !== null;
    if (isCompleting || this.#isLate(job)) this.#over(job, ending);
  }

  /** Its job is over, and did not claim it, as far as can be seen: so nobody may any more. */
  #neverBegan(job: Job, seen: QueuedJob, claimant: 'none' | 'other'): void {
    const { directory, number, terminated, killed } = job;
    const isTaken = claimant === 'none' && takenAway(directory, number);
    // It was claimed in this moment.
    if (claimant === 'none' && !isTaken) return this.#queue.stir();
    const isWrong = isTaken && !terminated && !killed && !/^(PREEMPTED|REVOKED|COMPLETED)$/.test(seen.state);
    if (!isWrong || this.#isTriedAgain(job, seen)) return this.#over(job, { kind: 'not-claimed' });
    this.#over(job, { kind: 'not-begun', reason: `Slurm job ${seen.address} ${endWords(seen)} before the run began` });
  }

  /**
   * Whether the node of a job is why its script never ran: one that still has a job of that number, which a restarted controller has
   * given once more, cancels the new one; so does one whose prolog fails. A job that a person takes out of the queue never had a node.
   */
  #isTriedAgain({ id }: Job, { state, nodes }: QueuedJob): boolean {
    if (!/^(CANCELLED|NODE_FAIL|BOOT_FAIL)$/.test(state) || nodes === '') return false;
    const times = (this.#cancelledStarts.get(id) ?? 0) + 1;
    this.#cancelledStarts.set(id, times);
    return times < CANCELLED_STARTS;
  }

  /** The controller answers, and does not know the job: it has forgotten it, or never got it. */
  #lookAtMissing(job: Job): void {
    if (isBeingSubmitted(job)) return;
    const { directory, number, keys } = job;
    job.missingSince ??= performance.now();
    const isLong = performance.now() - job.missingSince > FORGOTTEN_MS;
    const claimant = claimantOf(directory, number, keys);
    if (claimant.kind === 'ours') return this.#lookAtForgotten(job, claimant.job, isLong);
    const isNobodys = claimant.kind === 'none' && isLong && takenAway(directory, number);
    if (claimant.kind === 'other' || isNobodys) this.#over(job, { kind: 'not-claimed' });
  }

  /** It has begun, so that only the disk can tell how it ends. */
  #lookAtForgotten(job: Job, slurmJob: number, isLong: boolean): void {
    const { id, directory, number, killed } = job;
    this.#hasBegun(job);
    const ending = endingByDisk(attemptDirectory(directory, number), job);
    if (ending !== null) return this.#over(job, ending);
    if (!isLong) return;
    const words = `Slurm does not know job ${slurmJob} any more`;
    const isGivenUp = killed && this.#listener.mayGiveUp(id);
    if (mayStillRun(directory, number) && !isGivenUp) {
      return this.#trouble(job, `${words}; it seems to run on, and its exit code is waited for`);
    }
    this.#over(job, { kind: 'unknown', reason: `${words}, and it left no exit code` });
  }

  /** @param words Null: the controller answers again. */
  tellSilence(words: string | null): void {
    for (const job of this.#jobs.values()) this.#trouble(job, words);
  }

  #trouble(job: Job, words: string | null): void {
    if (job.trouble === words) return;
    job.trouble = words;
    this.#listener.troubled(job.id, words);
  }

  /** Whoever waits for the answer to its start hears of that first. */
  #over(job: Job, ending: Ending): void {
    if (!this.#isWatched(job) || this.#isClosed) return;
    this.#hasBegun(job);
    this.#trouble(job, null);
    this.#jobs.delete(job.id);
    setImmediate(() => {
      if (!this.#isClosed)
        this.#listener.ended(job.id, job.number, job.spec === null ? ending : explained(ending, job.spec), []);
    });
  }
}

/** Whether `sbatch` has not answered, which takes long where many are written down on a slow disk. */
function isBeingSubmitted({ spec, address, missingSince }: Job): boolean {
  return spec !== null && address === null && missingSince === null;
}

/** For a person; null: it is up. */
function whyNotUp({ address, answer, seen, terminated }: Job): string | null {
  if (address !== null && answer !== null && terminated) return `Slurm job ${address} is being taken out of the queue`;
  if (seen === null) return address === null ? 'being submitted to Slurm' : `Slurm job ${address} was submitted`;
  if (phaseOf(seen) === 'waits') return waitWords(seen);
  return answer === null ? null : `Slurm job ${seen.address} is being started on ${seen.nodes}`;
}

/** The GPUs of a job that has begun. Only one that Slurm starts again claims its attempt again, and may have others. */
function gpusOf(job: Job): readonly number[] {
  if (job.gpus !== null || (job.seen !== null && phaseOf(job.seen) === 'waits')) return job.gpus ?? [];
  const claimant = claimantOf(job.directory, job.number, job.keys);
  if (claimant.kind === 'ours') job.gpus = claimant.gpus;
  return job.gpus ?? [];
}

/** The job of an attempt: the one that claimed it, else one that is not over. */
function jobOf({ keys, directory, number }: Pick<Job, 'keys' | 'directory' | 'number'>, queue: Queue): Job['seen'] {
  const found = keys.flatMap((key) => queue.get(key) ?? []);
  if (found.length < 2) return found[0] ?? null;
  const claimant = claimantOf(directory, number, keys);
  if (claimant.kind === 'ours') return found.find(({ key }) => key === claimant.key) ?? null;
  return found.find((job) => phaseOf(job) !== 'over') ?? found.at(-1)!;
}
