/**
 * The interface through which the supervisor starts, watches and ends runs, wherever they are.
 *
 * An executor knows nothing of sweeps, slots or retries. An attempt is identified by its run's id, its run's directory and its
 * number; the executor reports to its listener. Its attempts live independently of it: it may end at any moment, and the next
 * executor finds out what happened to them. `test/executors/conformance.ts` tests every executor against this description.
 */
import type { Eventually } from '../base/eventually.js';
import type { RunId } from '../base/ids.js';

/** Starts, watches and ends runs. An order for a run that it does not watch has no effect. */
export type Executor = {
  /** The room that it has, and how runs get GPUs there. */
  resources(): ExecutorResources;

  /**
   * Starts an attempt and watches it. An attempt can begin only once, by whatever process: a second start of the same one ends as
   * `not-claimed`, or is refused. If a start takes long, an ending is reported only after the answer. Does not throw: obstacles are
   * refusals.
   */
  start(id: RunId, spec: LaunchSpec): Eventually<Start>;

  /**
   * Finds out what happened to an attempt that an earlier executor meant to start; see `Found`. One that has not begun never will.
   * A live one is watched from then on. Does not throw.
   */
  adopt(id: RunId, directory: string, attempt: number): Eventually<Found>;

  /** The number of an earlier attempt of the run in `directory` that is alive, or may be; null: there is none. */
  orphanedAttemptOf(directory: string, attempt: number): Eventually<number | null>;

  /**
   * Continues the orphaned attempt under a later number, which then nobody can begin; then the same as `adopt` of that one. Throws
   * an error with an explanation when that cannot be ensured.
   */
  takeOver(id: RunId, directory: string, numbers: TakenOver): Eventually<Found>;

  /** Asks the run, and all its processes, to end. They may take their time. A paused run is continued for that. */
  terminate(id: RunId): void;

  /** Kills the run and all its processes, paused or not. Survivors are reported with the ending. */
  kill(id: RunId): void;

  /** Suspends the run and all its processes, which keep their memory. */
  pause(id: RunId): void;

  /** Continues a paused run, whoever paused it. */
  continue(id: RunId): void;

  /**
   * Types a line into the standard input of a run whose launch says that it reads one. Returns why that is impossible, in words that
   * follow the name of the run; null: the line is there to be read.
   */
  type(id: RunId, line: string): Eventually<string | null>;

  /** Whether the run waits for a line to be typed. False also where nobody can tell. */
  awaitsInput(id: RunId): boolean;

  /** The pid of the run's own process, which users see and may signal; null: there is none (yet), or it is not on this machine. */
  pidOf(id: RunId): number | null;

  /** Where a run is that another program, such as Slurm, places; null: does not apply. */
  placeOf(id: RunId): RunPlace | null;

  /** The nodes among which another program places runs, as it last told of them; null: runs are on this machine. */
  nodes(): readonly ClusterNode[] | null;

  /** The process on this machine from which all others of the run are found; null: none is visible. */
  rootOf(id: RunId): number | null;

  /** Stops watching: nothing is reported any more. The runs continue. */
  close(): void;
};

/** Receives reports about attempts, and answers questions. */
export type ExecutorListener = {
  /**
   * Called once for every attempt that was started or found alive, and not before that was answered.
   *
   * `leaked`: after a kill, the processes that SIGKILL could not end; after another end, the processes that the run left, which are
   * not touched. They may hold GPU memory. Empty: there are none, or the run was too short to be observed.
   */
  ended: (id: RunId, attempt: number, ending: Ending, leaked: readonly LeakedProcess[]) => void;
  /** The run's own process has become known, or whether it waits for input has changed. */
  changed: (id: RunId) => void;
  /** A warning about a live run, in words; null: it is over. May be repeated. */
  troubled: (id: RunId, words: string | null) => void;
  /** Whether a run may be taken as ended though its processes cannot be reached: a user must have asked. */
  mayGiveUp: (id: RunId) => boolean;
};

/**
 * The arguments of an executor. `environment`: the supervisor's, for variables of one kind of executor. `job`: id of the Slurm
 * job in which it runs attempts that others have prepared, and which their claims name; absent: it runs in none.
 */
export type ExecutorSetting = { runsDirectory: string; environment: Readonly<Record<string, string>>; job?: string };

/** Creates an executor of one kind. */
export type OpenExecutor = (setting: ExecutorSetting, listener: ExecutorListener) => Executor;

export type ExecutorResources = {
  /** Default number of simultaneous runs that need no GPU of this machine. */
  slots: number;
  /**
   * `placed`: runs are placed on the GPUs of this machine, which their environment shows them. `requested`: each start requests a
   * number of GPUs, and another program finds them; to the scheduler, every run takes one slot.
   */
  gpus: 'placed' | 'requested';
};

/** One start of a run, complete. */
export type LaunchSpec = {
  /** The run's directory, absolute. */
  directory: string;
  attempt: number;
  argv: readonly string[];
  cwd: string;
  /** The complete environment: nothing is inherited from the supervisor. */
  environment: Readonly<Record<string, string>>;
  /** The resources of the run, for an executor that places it. */
  needs: RunNeeds;
  /** Increment of the niceness of its processes; absent: none. */
  nice?: number;
  /** Files that are written to the run's directory before it starts: name and content. */
  files?: Readonly<Record<string, string>>;
  /** What may be typed into; absent: its standard input is empty (`/dev/null`). */
  input?: RunInput;
  /** Words appended to `argv` when another program starts the attempt again, after a preemption; absent: none. */
  resumeArgs?: readonly string[];
  /** Options for Slurm in the sweep file; absent: none. */
  slurm?: SlurmOptions;
};

/** What a run reads. `lines`: a pipe that never ends, into which lines are typed; `terminal`: a terminal of its own. */
export type RunInput = 'lines' | 'terminal';

/**
 * `gpus`: `auto` takes one if there are any. `gpuMemory`: MiB on each; null: not declared. `perGpu`: number of runs that may share
 * one; absent: 1. `seconds`: time limit of the run, its grace period included; null: none.
 */
type RunNeeds = {
  gpus: number | 'auto';
  gpuMemory: number | null;
  perGpu?: number;
  cpus: number;
  seconds?: number | null;
};

/**
 * Options of sbatch. `time`: seconds. `extra`: words for its command line. `mode`: `jobs`: each run is a job; `packs`: jobs are
 * workers that take one run after the other. `workers`: the largest number of such jobs for equal runs.
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

/** Runs that at most `workers` workers take one after the other. `why`: the reason for that; null: the sweep file asks for it. */
export type Packing = { workers: number; why: string | null };

/**
 * `node`: null before the run has one. `gpus`: indices of its GPUs on that node; empty: it has none, or they are not known. `words`:
 * why it is not up there, in words; null: it is.
 */
export type RunPlace = { node: string | null; gpus: readonly number[]; words: string | null };

/**
 * A node of a cluster. `state`: in words, with the reason where it takes no runs. `takesRuns`: whether it may. `gpus`: how many it
 * has; `gpusInUse`: by anybody's jobs; null: not known.
 */
export type ClusterNode = { name: string; state: string; takesRuns: boolean; gpus: number; gpusInUse: number | null };

/** `pid`: pid of the process from which the run is found; if it has none, the number that identifies it there. */
export type Start =
  | { kind: 'started'; pid: number }
  /** `transient`: the run is fine, but the machine lacks something; a later start may succeed. */
  | { kind: 'refused'; reason: string; transient: boolean };

/** What happened to an attempt that an earlier executor meant to start. */
export type Found =
  /** It waits for a place, and is watched from now on. `start`: the answer to its start. */
  | { kind: 'queued'; start: Promise<Start> }
  /** It lives, and is watched from now on. */
  | { kind: 'alive'; pid: number }
  /** It began on another machine or in another container, and has not reported its end, which is watched for. */
  | { kind: 'elsewhere'; pid: number; host: string }
  /** `agoMs`: how long ago it ended, if known. */
  | { kind: 'ended'; pid: number; ending: Ending; agoMs?: number }
  /** It had not begun, and never will. `neverRan`: even if it was thought to be up. `reason`: why nothing more is known. */
  | { kind: 'withdrawn'; neverRan: boolean; reason?: string };

/** The attempt `orphan` lives, and continues as `attempt`. */
export type TakenOver = { orphan: number; attempt: number };

/** How an attempt ended, before its meaning for the run is decided. */
export type Ending =
  | { kind: 'exited'; code: number }
  | { kind: 'signalled'; signal: string }
  /** The kernel killed it for lack of memory. */
  | { kind: 'out-of-memory'; reason: string }
  /** The machine ended it by that signal, whatever it was doing: a preemption, a failed node. */
  | { kind: 'interrupted'; signal: string; reason: string }
  /** It exceeded the time limit of the place where it ran. */
  | { kind: 'timed-out'; seconds: number }
  /** The command was not run, and would not be in another attempt. */
  | { kind: 'not-begun'; reason: string }
  /** The command was not run, and its attempt can no longer begin: another one can, once the disk has space. */
  | { kind: 'not-claimed' }
  /** The command was not run, as the machine lacked something: another attempt can be, once that is available. */
  | { kind: 'not-run'; shortage: string }
  /** The end cannot be known. */
  | { kind: 'unknown'; reason: string };

/** A process that was still there when its run had ended. `possible`: it may be the run's, but nothing proves it. */
export type LeakedProcess = { pid: number; name: string; possible?: true };
