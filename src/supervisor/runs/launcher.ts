import { fileURLToPath } from 'node:url';
import { after } from '../../base/eventually.js';
import type { RunId } from '../../base/ids.js';
import { mlflowTag, runMarks } from '../../contract/files.js';
import { commandProblem } from '../../executors/attempt/start-attempt.js';
import type { Ending, Executor, Found, LaunchSpec, Start } from '../../executors/executor.js';
import { readRunRecord } from '../../files/run-directory/run-record-file.js';
import { hasSweepInside, hasWandbAccount } from '../../files/wandb-setup.js';
import { demandOf } from '../../launch/demand.js';
import { inQuietTurn, isTurnOver } from '../../processes/turn.js';
import type { SchedulerAction } from '../../scheduler/event.js';
import { gpusOf, type Slot, slotNamed } from '../../scheduler/placement/slot.js';
import { neededBy } from '../../scheduler/queue/groups.js';
import { loggerEnvironment } from '../../spec/expand/wandb-run.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { EventLoop } from '../core/event-loop.js';
import type { GpuWatch } from '../gpus/gpu-watch.js';
import type { Environment, PlannedRuns } from './submission-store.js';
import type { Records } from './records.js';

/** Interval between attempts to start a process that the system refuses, ms. */
export const RETRY_MS = 1000;

type LauncherPorts = {
  /** `mention`: for a fact that a restart would find out by itself. `changed`: the reason why a run is not up yet. */
  loop: Pick<EventLoop, 'state' | 'now' | 'tell' | 'mention' | 'changed'>;
  plannedRuns: Pick<PlannedRuns, 'of' | 'submitted'>;
  records: Pick<Records, 'secure'>;
  executor: Pick<Executor, 'start' | 'takeOver' | 'orphanedAttemptOf' | 'resources' | 'terminate'>;
  gpus: Pick<GpuWatch, 'claim' | 'shared' | 'devices'>;
  endings: {
    ended: (id: RunId, attempt: number, ending: Ending) => void;
    tookOver: (id: RunId, orphan: number, pid: number) => void;
    /** The machine's shortage of something; while it lasts, nothing else is started. */
    readonly shortage: { readonly current: { reason: string; waitMs: number } | null };
  };
  /** Folder of our own programs. */
  bin: string;
};

/** Why a run is not up yet: its GPU's daemon is not, or the machine is short of something. */
type Delay = { kind: 'daemon' | 'shortage'; reason: string };

type Variables = Readonly<Record<string, string>>;

/**
 * Starts runs where the scheduler has put them.
 *
 * A run has its slot from the moment it is launched here, also while it waits for a GPU daemon or for the system to have
 * free processes: another run in the same slot would have to wait as well. A run that a user ends in the meantime is not
 * started.
 */
export class Launcher {
  readonly #ports: LauncherPorts;
  readonly #delays = new Map<RunId, Delay>();
  readonly #launches = new TurnQueue<Launch>((launch) => this.launch(launch));
  #isClosed = false;

  constructor(ports: LauncherPorts) {
    this.#ports = ports;
  }

  /** Why a run that has its slot is not up yet, in words; null for all others. */
  delayOf(id: RunId): string | null {
    const delay = this.#delays.get(id);
    if (delay === undefined) return null;
    const { kind, reason } = delay;
    return kind === 'shortage' ? `cannot be started right now, will be retried: ${reason}` : reason;
  }

  /** What the machine is so short of that no run can be started just now, in words; null: nothing. */
  get shortage(): string | null {
    for (const { kind, reason } of this.#delays.values()) if (kind === 'shortage') return reason;
    return null;
  }

  /** Starts a run as soon as there is time for it in a turn. */
  launchSoon(launch: Launch): void {
    this.#launches.give(launch);
  }

  /** It may have been asked to end, or ended, since it was decided. */
  launch(launch: Launch): void {
    if (!this.#isWanted(launch)) return;
    const { gpus, executor } = this.#ports;
    // Someone else's since we looked: the scheduler has been told, and finds another place.
    if (!gpus.claim(gpusOf(launch.slot))) return this.#withdraw(launch);
    void after(executor.orphanedAttemptOf(this.#planned(launch).directory, launch.attempt), (orphan) => {
      if (this.#isWanted(launch)) this.#launchBeside(launch, orphan ?? (launch.isUp ? launch.attempt - 1 : null));
    });
  }

  /** @param orphan The attempt of its run that is still up; null: there is none. */
  #launchBeside(launch: Launch, orphan: number | null): void {
    const { gpus } = this.#ports;
    const run = this.#planned(launch);
    if (orphan !== null) return void this.#takeOver(launch, run, orphan);
    if (!this.#isShared(launch, run)) return this.#start(launch, run, {});
    this.#delay(launch.id, { kind: 'daemon', reason: 'waiting for the MPS daemon of its GPU' });
    void gpus.shared(gpusOf(launch.slot)[0]!).then((variables) => {
      if (this.#isWanted(launch)) this.#start(launch, run, variables);
    });
  }

  /** What waits for a place elsewhere can be ended before it is up. An observer of the event loop. */
  follow(touched: ReadonlySet<RunId>): void {
    const { loop, executor } = this.#ports;
    for (const id of touched) {
      const was = loop.state.runs.get(id)?.state;
      if (was?.phase === 'starting' && was.stop !== null) executor.terminate(id);
    }
  }

  /** Starts nothing any more; the next supervisor takes what was waited for back to the queue. */
  close(): void {
    this.#launches.close();
    this.#isClosed = true;
  }

  /** A process talks to one daemon, so a run on several GPUs goes without. */
  #isShared({ id, slot }: Launch, { resources }: PlannedRun): boolean {
    const { need, alone } = this.#ports.loop.state.runs.get(id)!;
    return gpusOf(slot).length === 1 && need.perGpu > 1 && !alone && resources.mps === 'auto';
  }

  /** Takes over an attempt that still runs, instead of starting the next one: both would write to the same files. */
  async #takeOver(launch: Launch, { directory }: PlannedRun, orphan: number): Promise<void> {
    const { loop, executor, endings } = this.#ports;
    const { id, attempt, slot: given } = launch;
    const at = loop.now();
    let found: Found;
    try {
      found = await executor.takeOver(id, directory, { orphan, attempt });
    } catch (error) {
      const reason = `attempt ${orphan} still runs and cannot be taken over: ${(error as Error).message}`;
      return loop.tell({ type: 'launch-failed', at, id, attempt, reason });
    }
    if (this.#isClosed) return;
    if (found.kind === 'withdrawn') return this.#withdraw({ id, attempt });
    if (found.kind === 'queued') return this.#answered(launch, await found.start, {});
    loop.tell({ type: 'run-started', at, id, attempt, pid: found.pid, slot: this.#slotOf(directory, orphan) ?? given });
    endings.tookOver(id, orphan, found.pid);
    if (found.kind === 'ended') endings.ended(id, attempt, found.ending);
  }

  /** The GPUs that an attempt has, as its record says; null where that is not known, or none are. */
  #slotOf(directory: string, attempt: number): Slot | null {
    const record = readRunRecord(directory)?.attempts.find(({ number }) => number === attempt);
    const slot = record === undefined ? null : slotNamed(record.slot);
    const isKnown = slot !== null && gpusOf(slot).every((gpu) => this.#ports.loop.state.gpu.devices.has(gpu));
    return isKnown && slot.kind === 'gpu' ? slot : null;
  }

  #start(launch: Launch, run: PlannedRun, sharing: Variables): void {
    const { loop, plannedRuns, records, executor, bin, gpus, endings } = this.#ports;
    const { state } = loop;
    const { id, slot } = launch;
    const short = endings.shortage.current;
    if (short !== null) return this.#later(launch, short.reason, short.waitMs, sharing);
    records.secure(neededBy(state, id));
    const { environment } = plannedRuns.submitted(id)!;
    const { gpus: places, slots: cores } = executor.resources();
    const devices = places === 'placed' ? { ...gpus.devices(gpusOf(slot)), ...sharing } : null;
    const { perGpu } = state.runs.get(id)!.need;
    const threads = threadsOf(run, slot, { cores, gpus: state.gpu.gpus.length, perGpu });
    const start = executor.start(id, launchSpec(launch, run, { environment, devices, threads, perGpu, bin }));
    void after(start, (answer) => this.#answered(launch, answer, sharing));
  }

  /** Records how a start went. A supervisor that is shutting down records nothing: the next one finds the run by itself. */
  #answered(launch: Launch, start: Start, sharing: Variables): void {
    if (this.#isClosed) return;
    const { loop } = this.#ports;
    const { id, attempt, slot } = launch;
    const at = loop.now();
    if (start.kind === 'refused' && start.transient) return this.#later(launch, start.reason, RETRY_MS, sharing);
    this.#delay(id, null);
    if (start.kind === 'refused') return loop.tell({ type: 'launch-failed', at, id, attempt, reason: start.reason });
    loop.mention({ type: 'run-started', at, id, attempt, pid: start.pid, slot });
  }

  /** Tries again then what the machine is too short for now. */
  #later(launch: Launch, reason: string, ms: number, sharing: Variables): void {
    this.#delay(launch.id, { kind: 'shortage', reason });
    const again = () => {
      if (this.#isWanted(launch)) this.#start(launch, this.#planned(launch), sharing);
    };
    setTimeout(again, ms).unref();
  }

  #planned({ id }: Launch): PlannedRun {
    return this.#ports.plannedRuns.of(id)!;
  }

  /** Whether the run is still to be started; where it is not, the launch is taken back. */
  #isWanted(launch: Launch): boolean {
    const run = this.#ports.loop.state.runs.get(launch.id);
    if (this.#isClosed || run?.state.phase !== 'starting' || run.attempt !== launch.attempt) return false;
    if (run.state.stop === null) return true;
    this.#withdraw(launch);
    return false;
  }

  #withdraw({ id, attempt }: Pick<Launch, 'id' | 'attempt'>): void {
    this.#delay(id, null);
    const { loop } = this.#ports;
    loop.tell({ type: 'launch-withdrawn', at: loop.now(), id, attempt });
  }

  #delay(id: RunId, delay: Delay | null): void {
    if (delay?.reason === this.#delays.get(id)?.reason) return;
    if (delay === null) this.#delays.delete(id);
    else this.#delays.set(id, delay);
    this.#ports.loop.changed([id]);
  }
}

type Launch = Extract<SchedulerAction, { type: 'launch' }>;

/** What a launch is made from, beside the run. `bin`: folder of our own programs. */
type LaunchSetting = {
  /** The environment of the person who submitted the run. */
  environment: Environment;
  /** The variables that show the run its GPUs and let it share them; null: whoever runs it finds it a place. */
  devices: Readonly<Record<string, string>> | null;
  /** What each pool of threads is capped to; see `threadsOf`. */
  threads: number;
  /** Runs that may share a GPU. */
  perGpu: number;
  bin: string;
};

/** The complete command of one attempt. */
export function launchSpec(launch: Launch, run: PlannedRun, setting: LaunchSetting): LaunchSpec {
  const { environment, devices, threads, bin } = setting;
  const { id, attempt, slot, resumed } = launch;
  const { nice } = run.resources;
  const place = devices === null ? null : { gpus: gpusOf(slot), threads, devices };
  const argv = [...run.argv, ...(resumed ? run.resumeArgs : [])];
  const numbered = (word: string) => word.replaceAll('${attempt}', String(attempt));
  const given = atHome(environment, run.cwd);
  const said = joined(given, run.env);
  Object.assign(given, loggerEnvironment(run.directory, said, hasWandbAccount(said, run.cwd)));
  if (said['MLFLOW_RUN_CONTEXT'] === undefined)
    given['MLFLOW_RUN_CONTEXT'] = JSON.stringify({ [mlflowTag]: run.directory });
  const marks = { id, directory: run.directory, attempt };
  const whole = withProgramFolder(runEnvironment(given, run.env, place, marks), bin);
  return {
    directory: run.directory,
    attempt,
    argv: [...besideOf(run, whole), ...argv.map(numbered)],
    cwd: run.cwd,
    environment: whole,
    ...demandOf(run, setting.perGpu),
    ...(resumed || run.resumeArgs.length === 0 ? {} : { resumeArgs: run.resumeArgs.map(numbered) }),
    ...(nice === undefined ? {} : { nice }),
    ...(run.files === undefined ? {} : { files: run.files }),
  };
}

/** Words before the command of a program that has a sweep of W&B inside: offline, it finds an answer on this machine. */
function besideOf({ argv, cwd }: PlannedRun, environment: Environment): string[] {
  const { WANDB_MODE: mode, WANDB_BASE_URL: server, PATH: path = '' } = environment;
  const isOffline = (mode === 'offline' || mode === 'dryrun') && server === undefined;
  if (!isOffline || !hasSweepInside(argv, cwd)) return [];
  // Whoever starts the run says why its own program cannot be started.
  return commandProblem(argv[0]!, cwd, path) === null ? [process.execPath, wandbServer] : [];
}

const wandbServer = fileURLToPath(new URL('./wandb-server.js', import.meta.url));

/** The environment of a command that says whether a run is done: that of the run, in its directory. */
export function doneEnvironment(
  run: PlannedRun,
  slot: Slot | null,
  { environment, devices, bin }: Omit<LaunchSetting, 'threads' | 'perGpu'>,
): Record<string, string> {
  const { id, directory } = run;
  const place = devices === null ? null : { gpus: slot === null ? [] : gpusOf(slot), threads: 1, devices };
  const marks = { id, directory, attempt: 0 };
  return withProgramFolder(runEnvironment(atHome(environment, directory), run.env, place, marks), bin);
}

/** A copy without what two variables say of the shell that submitted: its directory, and the last command. */
function atHome(environment: Environment, cwd: string): Record<string, string> {
  const there = joined(environment, { PWD: cwd });
  delete there['_'];
  return there;
}

/** What is set in either, where the second wins. An object without a prototype is a table: others are made anew with every few names. */
function joined(environment: Environment, own: Environment): Record<string, string> {
  return Object.assign(Object.create(null) as Record<string, string>, environment, own);
}

/**
 * The threads a run should use: the cores that it reserves; else one on a CPU slot, and on a GPU its share of the cores, where all
 * GPUs have as many runs as may share one.
 */
export function threadsOf(
  { resources: { cpus } }: Pick<PlannedRun, 'resources'>,
  slot: Slot,
  { cores, gpus, perGpu }: { cores: number; gpus: number; perGpu: number },
): number {
  if (cpus !== undefined) return cpus;
  return slot.kind === 'cpu' ? 1 : Math.max(1, Math.floor(cores / Math.max(1, gpus * perGpu)));
}

/**
 * Where a run is placed, and how many threads it should use there. `devices`: the variables that show it its GPUs
 * (`visibleDevices`) and let it share them (`MpsDaemons`); without them it is shown the GPUs by index.
 */
type Place = { gpus: readonly number[]; threads: number; devices?: Readonly<Record<string, string>> };

/** What to run it as: the id and the directory mark its processes, however far they stray. */
type Marks = { id: string; directory: string; attempt: number };

/** Libraries that start as many threads as the machine has cores unless told otherwise. */
const threadCaps = [
  'OMP_NUM_THREADS',
  'MKL_NUM_THREADS',
  'OPENBLAS_NUM_THREADS',
  'BLIS_NUM_THREADS',
  'VECLIB_MAXIMUM_THREADS',
  'NUMEXPR_NUM_THREADS',
  'NUMEXPR_MAX_THREADS',
  'TF_NUM_INTRAOP_THREADS',
  'RAYON_NUM_THREADS',
];

/**
 * The environment of one attempt, in place.
 *
 * On GPUs it sees only its own, numbered as nvidia-smi numbers them; on a CPU slot it sees none. Pools of threads are capped,
 * since eight runs with eight threads each are slower than one, unless the person's environment or the sweep file says how many
 * threads there should be. Python prints without a buffer, unless the person's environment says otherwise. What the sweep file sets
 * wins over all else.
 *
 * @param environment The person's at submit; becomes that of the attempt. @param own `env` of the sweep file. @param place Null:
 * whoever runs it finds it one, and says so to it.
 */
export function runEnvironment(
  environment: Record<string, string>,
  own: Readonly<Record<string, string>>,
  place: Place | null,
  marks: Marks,
): Record<string, string> {
  // Python holds back up to 8 KB of what it prints to a file: curves of printed lines would come minutes late.
  environment['PYTHONUNBUFFERED'] ??= '1';
  if (place !== null) {
    const caps = threadVariables(place.threads, (name) => own[name] ?? environment[name]);
    Object.assign(environment, shownAt(place), caps);
  }
  return Object.assign(environment, own, {
    [runMarks.id]: marks.id,
    [runMarks.directory]: marks.directory,
    [runMarks.attempt]: String(marks.attempt),
  });
}

/** Our own programs come last on the PATH, so that a person's program of the same name wins. In place. */
export function withProgramFolder(environment: Record<string, string>, bin: string): Record<string, string> {
  const path = environment['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';
  environment['PATH'] = path.split(':').includes(bin) ? path : `${path}:${bin}`;
  return environment;
}

function shownAt({ gpus, devices }: Place): Record<string, string> {
  return gpus.length > 0 ? { ...(devices ?? onGpus(gpus)) } : { CUDA_VISIBLE_DEVICES: '', ...devices };
}

function onGpus(gpus: readonly number[]): Record<string, string> {
  return { CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: gpus.join(',') };
}

/**
 * The variables of threads that are not set already. Where OMP_NUM_THREADS is, it counts for all: other libraries look there, too, as long
 * as they are not told otherwise. NumExpr fails where it is to use more threads than it may.
 */
function threadVariables(threads: number, set: (name: string) => string | undefined): Record<string, string> {
  const count = wholeIn(set('OMP_NUM_THREADS')) ?? threads;
  const most = wholeIn(set('NUMEXPR_MAX_THREADS')) ?? count;
  return Object.fromEntries(
    threadCaps
      .filter((name) => (set(name) ?? '') === '')
      .map((name) => [name, String(name === 'NUMEXPR_NUM_THREADS' ? Math.min(count, most) : count)]),
  );
}

/** `4`, or the first of `4,2` (threads within threads); null: no such number. */
function wholeIn(text = ''): number | null {
  const count = /^\s*([1-9]\d{0,5})\s*(?:,|$)/.exec(text)?.[1];
  return count === undefined ? null : Number(count);
}

/**
 * Processes items one after another, in order, until the present turn of the event loop has lasted long enough; then other work
 * gets its turn. An item that is added while there is little to do is processed at once.
 */
export class TurnQueue<Thing> {
  readonly #perform: (thing: Thing) => void;
  readonly #waiting: Thing[] = [];

  /** @param perform Must not throw. */
  constructor(perform: (thing: Thing) => void) {
    this.#perform = perform;
  }

  give(thing: Thing): void {
    this.#waiting.push(thing);
    // An item that is added while another is processed waits behind the earlier ones.
    if (this.#waiting.length === 1) this.#performSome();
  }

  /** Drops all waiting items. */
  close(): void {
    this.#waiting.length = 0;
  }

  #performSome(): void {
    while (this.#waiting.length > 0 && !isTurnOver()) this.#performNext();
    if (this.#waiting.length > 0) inQuietTurn(() => this.#continue());
  }

  /** Continues with at least one item, however long the turn has lasted. */
  #continue(): void {
    if (this.#waiting.length > 0) this.#performNext();
    this.#performSome();
  }

  #performNext(): void {
    this.#perform(this.#waiting[0]!);
    this.#waiting.shift();
  }
}
