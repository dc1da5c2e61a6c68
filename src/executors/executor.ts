/**
 * The one way in which the supervisor starts, watches and ends runs, wherever they are.
 *
 * An executor knows nothing of sweeps, slots or retries. It is told an attempt by its run's id, its run's directory and its
 * number; what it learns goes to its listener. What it starts does not need it to live: it may be gone at any moment, and the
 * next one finds what became of its attempts. `test/executors/conformance.ts` holds every executor to what is said here.
 */
import type { Eventually } from '../base/eventually.js';
import type { RunId } from '../base/ids.js';

/** Starts, watches and ends runs. An order for a run that it does not watch is nothing. */
export type Executor = {
  /** What it has room for, and how runs come to GPUs there. */
  resources(): ExecutorResources;

  /**
   * Starts an attempt, which is watched from then on. An attempt can be begun once only, whoever tries: a second start of the
   * same one ends as `not-claimed`, or is refused. Where it takes its time, the ending is told after the answer. Does not
   * throw: what stands in the way is a refusal.
   */
  start(id: RunId, spec: LaunchSpec): Eventually<Start>;

  /**
   * Finds out what became of an attempt that an earlier executor meant to start; see `Found`. One that has not begun never
   * will. What lives is watched from then on. Does not throw.
   */
  adopt(id: RunId, directory: string, attempt: number): Eventually<Found>;

  /** The number of an earlier attempt of the run in `directory` that goes on, or may; null: there is none. */
  orphanedAttemptOf(directory: string, attempt: number): Eventually<number | null>;

  /**
   * The orphaned attempt goes on as the one of a later number, which nobody can begin any more; then as `adopt` of that one.
   * Throws an error in words when that cannot be made sure of.
   */
  takeOver(id: RunId, directory: string, numbers: TakenOver): Eventually<Found>;

  /** Asks the run, and all it has started, to end. It may take its time. A paused one goes on for that. */
  terminate(id: RunId): void;

  /** Ends the run and all it has started, paused or not. What survives is told with the ending. */
  kill(id: RunId): void;

  /** Makes the run and all it has started stand still, with all they hold. */
  pause(id: RunId): void;

  /** Lets a paused run go on, whoever paused it. */
  continue(id: RunId): void;

  /** The run's own process, which people see and may signal; null while it is not there, or where it means nothing. */
  pidOf(id: RunId): number | null;

  /** Where a run is that something else than the supervisor finds a place for; null: nothing is to be said of that. */
  placeOf(id: RunId): RunPlace | null;

  /** The process on this machine by which all others of the run are found; null: none can be seen. */
  rootOf(id: RunId): number | null;

  /** Stops watching: nothing is told any more. The runs go on. */
  close(): void;
};

/** What an executor tells of its attempts, and asks. */
export type ExecutorListener = {
  /**
   * Told once for every attempt that was started or found alive, and not before that was answered.
   *
   * `leaked`: of a run that was killed, what SIGKILL could not end; of a run that ended by itself, what it left behind, which
   * is not touched. They may hold GPU memory. Empty: none, or the run was so short that nobody looked.
   */
  ended: (id: RunId, attempt: number, ending: Ending, leaked: readonly LeakedProcess[]) => void;
  /** The run's own process is known now. */
  named: (id: RunId) => void;
  /** What a person should know of a run that goes on, in words; null: no more. The same may be said again. */
  troubled: (id: RunId, words: string | null) => void;
  /** Whether a run may be taken for ended though its processes cannot be reached: a person must have asked. */
  mayGiveUp: (id: RunId) => boolean;
};

/**
 * What an executor is opened with. `environment`: of the supervisor, for what only one kind of executor understands. `job`: of
 * Slurm, in which it takes attempts that others have prepared; their claims name it. Absent: in none.
 */
export type ExecutorSetting = { runsDirectory: string; environment: Readonly<Record<string, string>>; job?: string };

/** Makes an executor of one kind. */
export type OpenExecutor = (setting: ExecutorSetting, listener: ExecutorListener) => Executor;

export type ExecutorResources = {
  /** Runs at a time that need no GPU of this machine, unless a person says how many. */
  slots: number;
  /**
   * `placed`: runs are put on the GPUs of this machine, which their environment shows them. `requested`: each start says how
   * many its run needs, and whoever runs it finds them; to the scheduler, every run takes one slot.
   */
  gpus: 'placed' | 'requested';
};

/** One start of a run, complete. */
export type LaunchSpec = {
  /** Of the run; absolute. */
  directory: string;
  attempt: number;
  argv: readonly string[];
  cwd: string;
  /** The whole of it: nothing is inherited from the supervisor. */
  environment: Readonly<Record<string, string>>;
  /** What the run needs, for an executor that finds it a place. */
  needs: RunNeeds;
  /** What is added to the niceness of all it starts; absent: nothing. */
  nice?: number;
  /** Files that must be in the run's directory when it starts: name and content. */
  files?: Readonly<Record<string, string>>;
  /** Words that follow `argv` where the attempt is started again by whoever runs it, after a preemption; absent: none. */
  resumeArgs?: readonly string[];
  /** What the sweep file asks of Slurm; absent: nothing. */
  slurm?: SlurmOptions;
};

/**
 * `gpus`: `auto` takes one where there are any. `gpuMemory`: MiB on each; null: not declared. `perGpu`: runs that may share one;
 * absent: 1. `seconds`: within which the run is ended, its grace included; null: never.
 */
type RunNeeds = {
  gpus: number | 'auto';
  gpuMemory: number | null;
  perGpu?: number;
  cpus: number;
  seconds?: number | null;
};

/**
 * Options of sbatch. `time`: seconds. `extra`: words for its command line. `mode`: whether each run is a job, or workers take one
 * after the other; `workers`: at most so many jobs of that kind for equal runs.
 */
export type SlurmOptions = {
  readonly partition?: string | undefined;
  readonly account?: string | undefined;
  readonly qos?: string | undefined;
  readonly time?: number | undefined;
  readonly constraint?: string | undefined;
  readonly extra?: readonly string[] | undefined;
  readonly mode?: 'auto' | 'jobs' | 'packs' | undefined;
  readonly workers?: number | undefined;
};

/** Runs that are taken one after the other by so many workers at most. `why`: not each started by itself; null: a person said so. */
export type Packing = { workers: number; why: string | null };

/** `node`: null before there is one. `words`: why it is not up there, for a person; null: it is. */
export type RunPlace = { node: string | null; words: string | null };

/** `pid`: of the process by which the run is found; where it has none, the number that it goes by there. */
export type Start =
  | { kind: 'started'; pid: number }
  /** `transient`: nothing is wrong with the run; its machine is short of something, and later it may go. */
  | { kind: 'refused'; reason: string; transient: boolean };

/** What became of an attempt that an earlier executor meant to start. */
export type Found =
  /** It waits for a place, and is watched from now on. `start`: as the start of it would have been answered. */
  | { kind: 'queued'; start: Promise<Start> }
  /** It lives, and is watched from now on. */
  | { kind: 'alive'; pid: number }
  /** It began on that machine, or in a container that is not ours, and has not told its end. That is watched for. */
  | { kind: 'elsewhere'; pid: number; host: string }
  /** `agoMs`: how long ago, where that is known. */
  | { kind: 'ended'; pid: number; ending: Ending; agoMs?: number }
  /** It had not begun, and now never will. `neverRan`: even if it was thought to be up. `reason`: why nothing more is known. */
  | { kind: 'withdrawn'; neverRan: boolean; reason?: string };

/** `orphan` lives, and goes on as `attempt`. */
export type TakenOver = { orphan: number; attempt: number };

/** How an attempt ended, before anyone asks what that means for the run. */
export type Ending =
  | { kind: 'exited'; code: number }
  | { kind: 'signalled'; signal: string }
  /** The kernel killed it for want of memory. */
  | { kind: 'out-of-memory'; reason: string }
  /** What it ran on ended it by that signal, whatever it was doing: a preemption, a node that failed. */
  | { kind: 'interrupted'; signal: string; reason: string }
  /** It used up the time that it was given where it ran. */
  | { kind: 'timed-out'; seconds: number }
  /** The command was never run, and would not be if it were tried again. */
  | { kind: 'not-begun'; reason: string }
  /** The command was never run, and its attempt can no longer begin: another one can, once there is room on the disk. */
  | { kind: 'not-claimed' }
  /** The command was never run, as the machine was short of something: another attempt can be, once it is there again. */
  | { kind: 'not-run'; shortage: string }
  /** Nobody can know. */
  | { kind: 'unknown'; reason: string };

/** A process that was still there when the end of its run was told. `possible`: it may be the run's; nothing on it says whose it is. */
export type LeakedProcess = { pid: number; name: string; possible?: true };
