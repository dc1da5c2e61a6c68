/**
 * A worker of a pack, as a program: a job of Slurm that takes one attempt after the other, until nothing is left or its time is nearly
 * over. The script of the job calls it as `slurm-worker.js FOLDER WORKER COUNT` (`team.ts`). It needs of Slurm the variables of its
 * job, and at most one call: of `squeue`, for how long it may take.
 *
 * Whose an attempt is, its `pid` file says, which the shim of the first who starts it creates; so any number of workers may come
 * to the same attempt, and one has it. Workers of one submission begin with different attempts, as two shims for one attempt cost
 * some ms. Runs are started, watched and ended by the local executor. The worker may be killed: the shell of its job starts it
 * again, and it adopts what it had begun.
 */
import { readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { after } from '../../../base/eventually.js';
import type { RunId } from '../../../base/ids.js';
import { runFiles } from '../../../contract/files.js';
import { Tail } from '../../../files/followed-file.js';
import { statRegular } from '../../../files/regular-file.js';
import { keepSpareDescriptors } from '../../../files/spare-descriptor.js';
import { askProgram } from '../../../processes/short-call.js';
import { attemptDirectory, readClaim, readShellWords, withdraw } from '../../attempt/attempt-files.js';
import type { Ending, Executor, LaunchSpec, OpenExecutor } from '../../executor.js';
import { executorNamed } from '../../registry.js';
import { indicesIn } from '../cluster-nodes.js';
import { isOfEnclosingJob, secondsOf } from '../slurm-calls.js';
import {
  addLines,
  BEAT_MS,
  linesIn,
  packFiles,
  type PackTask,
  type PackText,
  type QueueLine,
  workerFile,
  type WorkerLine,
} from './pack-files.js';

/** Between looks at the queue while something happens, and when nothing has for a while, ms. */
const LOOK_MS = 50;
const CALM_LOOK_MS = 500;
const STIRRED_MS = 3000;
/** A worker without a run waits for more for so long, ms. */
const LINGER_MS = 5000;
/** Before the end of its time a worker ends its runs, and so long after that request by force, ms. */
const MARGIN_MS = 30_000;
const FORCE_MS = 10_000;
/** Added to what a run may take before its worker ends it, as nobody else did, ms. */
const SPARE_MS = 60_000;
/** The signal that killed a run reaches its worker within that time, also on a busy node, ms. */
const HEARING_MS = 1000;
/** A machine that is short of something is tried again after so long, ms. */
const RETRY_MS = 1000;

/** `index` of `count`: among the workers of its submission. `job`: its number. `gpus`: indices of its GPUs on its node. */
type WorkerSetting = {
  /** Opens the executor by which the runs are started. */
  readonly open: OpenExecutor;
  readonly folder: string;
  readonly name: string;
  readonly index: number;
  readonly count: number;
  readonly job: number;
  readonly node: string;
  readonly gpus: readonly number[];
  readonly text: PackText;
  /** What the job has of Slurm, for its runs: its GPUs, and who it is. */
  readonly given: Readonly<Record<string, string>>;
  /** Writes a line to the log of the job. */
  readonly log: (line: string) => void;
};

/** `why`: it is being ended by this worker, and how that is to be told; null: it is not. */
type Running = { readonly task: PackTask; readonly since: number; why: ((seconds: number) => Ending) | null };

class PackWorker {
  readonly #setting: WorkerSetting;
  readonly #executor: Executor;
  readonly #queue: Tail;
  readonly #file: string;
  /** Attempts that are for this worker first, and those that are for others first; oldest first. */
  readonly #own: PackTask[] = [];
  readonly #others: PackTask[] = [];
  readonly #running = new Map<RunId, Running>();
  readonly #left: () => void;
  #tasks = 0;
  #stirredAt = performance.now();
  #beatenAt = -Infinity;
  #shortUntil = 0;
  /** `performance.now()` at the end of its time. */
  #endsAt = Infinity;
  /** Why no more is taken, and since when; null: more is. */
  #leaving: { since: number; isForced: boolean } | null = null;

  /** @param left It has nothing more to do. */
  constructor(setting: WorkerSetting, left: () => void) {
    this.#setting = setting;
    this.#left = left;
    this.#queue = new Tail(join(setting.folder, packFiles.queue));
    this.#file = workerFile(setting.folder, setting.name);
    const listener = {
      ended: (id: RunId, attempt: number, ending: Ending) => this.#ended(id, attempt, ending),
      changed: (id: RunId) => this.#tellOfRunning(id, (attempt) => ({ kind: 'begun', id, attempt })),
      troubled: (id: RunId, words: string | null) =>
        this.#tellOfRunning(id, (attempt) => ({ kind: 'troubled', id, attempt, words })),
      mayGiveUp: () => false,
    };
    const { folder, given } = setting;
    this.#executor = setting.open({ runsDirectory: folder, environment: given, job: this.#mark }, listener);
  }

  start(): void {
    const { job, node, gpus } = this.#setting;
    this.#tell({ kind: 'up', job, node, gpus });
    this.#read();
    this.#adoptOwn();
    this.#look();
  }

  /** @param seconds Until Slurm ends its job. */
  endsIn(seconds: number): void {
    this.#endsAt = performance.now() + seconds * 1000;
  }

  /** Slurm wants it to end. */
  interrupt(): void {
    const { job, node } = this.#setting;
    const reason = `Slurm ended its worker, job ${job} on ${node}`;
    this.#leave(() => ({ kind: 'interrupted', signal: 'SIGTERM', reason }));
  }

  /** By which the claims of its attempts say whose they are. */
  get #mark(): string {
    return `${this.#setting.job}:${this.#setting.name}`;
  }

  #look(): void {
    this.#read();
    this.#beat();
    if (performance.now() > this.#endsAt - MARGIN_MS) this.#leave((seconds) => ({ kind: 'timed-out', seconds }));
    this.#endOverdue();
    this.#fill();
    const quietMs = performance.now() - this.#stirredAt;
    const isDone = this.#leaving !== null || quietMs > LINGER_MS;
    if (this.#running.size === 0 && isDone) return this.#leaveNow();
    setTimeout(() => this.#look(), quietMs > STIRRED_MS ? CALM_LOOK_MS : LOOK_MS);
  }

  #read(): void {
    for (let more = true; more;) {
      const read = this.#queue.read();
      for (const line of linesIn<QueueLine>(read.lines)) this.#take(line);
      if (read.lines.length > 0) this.#stirredAt = performance.now();
      more = read.more;
    }
  }

  #take(line: QueueLine): void {
    if (line.kind === 'task') {
      const { index, count } = this.#setting;
      (this.#tasks++ % count === index ? this.#own : this.#others).push(line.task);
      return;
    }
    const { order, id, attempt } = line;
    if (this.#running.get(id)?.task.attempt === attempt) this.#executor[order](id);
  }

  /** Starts attempts as long as there is room. */
  #fill(): void {
    while (this.#running.size < this.#setting.text.room && this.#leaving === null) {
      if (performance.now() < this.#shortUntil) return;
      const task = this.#next();
      if (task === null) return;
      this.#begin(task);
    }
  }

  /** The next that nobody has begun, and that there is time for. */
  #next(): PackTask | null {
    for (const tasks of [this.#own, this.#others]) {
      for (let task = tasks.shift(); task !== undefined; task = tasks.shift())
        if (this.#hasTimeFor(task) && !isTaken(task)) return task;
    }
    return null;
  }

  #hasTimeFor({ seconds }: PackTask): boolean {
    return this.#endsAt - performance.now() > MARGIN_MS + (seconds ?? 0) * 1000;
  }

  #begin(task: PackTask): void {
    const { id, attempt } = task;
    this.#running.set(id, { task, since: performance.now(), why: null });
    void after(this.#executor.start(id, specOf(task, this.#setting)), (start) => {
      if (start.kind === 'started') return;
      this.#running.delete(id);
      if (start.transient) {
        this.#own.unshift(task);
        this.#shortUntil = performance.now() + RETRY_MS;
      } else if (isWithdrawn(task)) this.#tell({ kind: 'refused', id, attempt, reason: start.reason });
    });
  }

  /** Slurm sends its signal to all processes of a job at once, so a run may be dead before this worker hears why. */
  #ended(id: RunId, attempt: number, ending: Ending): void {
    const isOwn = endedByItself(ending, this.#running.get(id)?.task);
    if (isOwn || this.#leaving !== null) return this.#settled(id, attempt, ending);
    setTimeout(() => this.#settled(id, attempt, ending), HEARING_MS);
  }

  #settled(id: RunId, attempt: number, ending: Ending): void {
    const running = this.#running.get(id);
    this.#running.delete(id);
    this.#stirredAt = performance.now();
    // Another worker was first.
    if (ending.kind !== 'not-claimed') this.#tell({ kind: 'ended', id, attempt, ending: told(ending, running) });
    this.#fill();
  }

  #tellOfRunning(id: RunId, line: (attempt: number) => WorkerLine): void {
    const running = this.#running.get(id);
    if (running !== undefined) this.#tell(line(running.task.attempt));
  }

  /** Nobody else may have been there to end what takes too long. */
  #endOverdue(): void {
    const now = performance.now();
    for (const [id, running] of this.#running) {
      const { seconds } = running.task;
      if (seconds === null || running.why !== null || now - running.since < seconds * 1000 + SPARE_MS) continue;
      running.why = () => ({ kind: 'timed-out', seconds });
      this.#executor.kill(id);
    }
    const { since, isForced } = this.#leaving ?? { since: now, isForced: true };
    if (isForced || now - since < FORCE_MS) return;
    this.#leaving!.isForced = true;
    for (const id of this.#running.keys()) this.#executor.kill(id);
  }

  #leave(why: Running['why']): void {
    if (this.#leaving !== null) return;
    this.#leaving = { since: performance.now(), isForced: false };
    for (const [id, running] of this.#running) {
      running.why ??= why;
      this.#executor.terminate(id);
    }
  }

  #leaveNow(): void {
    this.#executor.close();
    this.#tell({ kind: 'left' });
    this.#left();
  }

  /** What it had begun before it was killed, or before Slurm started its job once more, which a controller does that forgot to have done so. */
  #adoptOwn(): void {
    const before = new Tail(this.#file);
    const ended = new Set<string>();
    for (const line of linesIn<WorkerLine>(before.read(Infinity).lines))
      if (line.kind === 'ended') ended.add(`${line.id} ${line.attempt}`);
    for (const task of [...this.#own, ...this.#others]) {
      const { id, directory, attempt } = task;
      const claim = readClaim(attemptDirectory(directory, attempt));
      const isOwn = claim.kind === 'begun' && claim.job === this.#mark && !ended.has(`${id} ${attempt}`);
      if (!isOwn) continue;
      this.#running.set(id, { task, since: performance.now(), why: null });
      void after(this.#executor.adopt(id, directory, attempt), (found) => {
        if (found.kind === 'ended') this.#ended(id, attempt, found.ending);
      });
    }
  }

  #beat(): void {
    if (performance.now() - this.#beatenAt < BEAT_MS) return;
    this.#beatenAt = performance.now();
    try {
      const now = new Date();
      utimesSync(this.#file, now, now);
    } catch {
      // The next one gets there.
    }
  }

  /** What cannot be told, as the disk is full, is found out from the files of the attempt. */
  #tell(line: WorkerLine): void {
    try {
      addLines(this.#file, [line]);
    } catch (error) {
      this.#setting.log(`${this.#file}: ${(error as Error).message}`);
    }
  }
}

function isTaken({ directory, attempt }: PackTask): boolean {
  return statRegular(join(attemptDirectory(directory, attempt), runFiles.pid)).kind !== 'absent';
}

/** Whether this worker made sure that nobody begins it any more. */
function isWithdrawn({ directory, attempt }: PackTask): boolean {
  try {
    return withdraw(attemptDirectory(directory, attempt)) !== null;
  } catch {
    return false;
  }
}

function specOf({ own, seconds, ...task }: PackTask, { text, given }: WorkerSetting): LaunchSpec {
  const environment = { ...text.environment, ...own, ...given };
  return { ...task, environment, needs: { gpus: 0, gpuMemory: null, cpus: 1, seconds } };
}

/** What its worker did to it counts more than the signal that it died of, or the code with which it ended on that signal. */
function told(ending: Ending, running: Running | undefined): Ending {
  if (running === undefined || running.why === null || endedByItself(ending, running.task)) return ending;
  return running.why(Math.round((performance.now() - running.since) / 1000));
}

/** Whether no signal is why an attempt ended. */
function endedByItself({ kind }: Ending, task: PackTask | undefined): boolean {
  if (kind !== 'exited' || task === undefined) return kind !== 'signalled';
  return !readShellWords(attemptDirectory(task.directory, task.attempt)).terminated;
}

const PATIENCE_MS = 60_000;
/** Between looks at whether the shell of the job is there, ms. */
const PARENT_MS = 1000;

const { env } = process;

async function main([folder = '', name = '', count = '1']: readonly string[]): Promise<void> {
  keepSpareDescriptors();
  const worker = new PackWorker(
    {
      open: await executorNamed('local'),
      ...{ folder, name, count: Number(count), index: Number(name.split('.').at(-1)) },
      ...{ job: Number(env['SLURM_JOB_ID']), node: env['SLURMD_NODENAME'] ?? '' },
      gpus: indicesIn(env['SLURM_JOB_GPUS'] ?? ''),
      text: JSON.parse(readFileSync(join(folder, packFiles.pack), 'utf8')) as PackText,
      given: Object.fromEntries(
        Object.entries(env).flatMap(([key, value = '']) => (isOfEnclosingJob(key) ? [[key, value]] : [])),
      ),
      log: (line) => process.stderr.write(`memrl-tui: ${line}\n`),
    },
    () => process.exit(0),
  );
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => worker.interrupt());
  process.on('SIGHUP', () => undefined);

  // Without its shell Slurm takes the job for over, and its runs for lost.
  const shell = process.ppid;
  setInterval(() => {
    if (process.ppid !== shell) worker.interrupt();
  }, PARENT_MS).unref();

  worker.start();
  const seconds = await secondsLeft();
  if (seconds !== null) worker.endsIn(seconds);
}

/** The time that the job has left, seconds; null: it has no limit, or Slurm does not say. */
async function secondsLeft(): Promise<number | null> {
  const end = Number(env['SLURM_JOB_END_TIME']);
  if (end > 0) return end - Date.now() / 1000;
  const args = ['-h', '-j', env['SLURM_JOB_ID'] ?? '', '-o', '%L'];
  const answer = await askProgram({ program: 'squeue', args, environment: env, patienceMs: PATIENCE_MS });
  const said = answer.kind === 'answered' ? answer.stdout.trim() : '';
  return /^[\d:-]+$/.test(said) ? secondsOf(said) : null;
}

void main(process.argv.slice(2));
