import { fileURLToPath } from 'node:url';
import { mlflowTag, runMarks } from '../../contract/files.js';
import { commandProblem } from '../../executors/attempt/start-attempt.js';
import type { LaunchSpec } from '../../executors/executor.js';
import { hasSweepInside, hasWandbAccount } from '../../files/wandb-setup.js';
import { demandOf } from '../../launch/demand.js';
import type { SchedulerAction } from '../../scheduler/event.js';
import { gpusOf, type Slot } from '../../scheduler/placement/slot.js';
import { loggerEnvironment } from '../../spec/expand/wandb-run.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { Environment } from './submission-store.js';

export type Launch = Extract<SchedulerAction, { type: 'launch' }>;

/** What a launch is made from, beside the run. `bin`: folder of our own programs. */
type LaunchSetting = {
  /** Of the person at submit. */
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
 * Those variables that are not set already. Where OMP_NUM_THREADS is, it counts for all: other libraries look there, too, as long
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
