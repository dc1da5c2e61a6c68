import { runMarks } from '../../contract/files.js';
import type { LaunchSpec } from '../../executors/executor.js';
import type { SchedulerAction } from '../../scheduler/action.js';
import { gpusOf } from '../../scheduler/placement/slot.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { Environment } from './submission-store.js';

export type Launch = Extract<SchedulerAction, { type: 'launch' }>;

/** What a launch is made from, beside the run. `bin`: folder of our own programs. */
type LaunchSetting = {
  /** Of the person at submit. */
  environment: Environment;
  /** The variables that show the run its GPUs and let it share them; null: whoever runs it finds it a place. */
  devices: Readonly<Record<string, string>> | null;
  bin: string;
};

/** The complete command of one attempt. */
export function launchSpec(launch: Launch, run: PlannedRun, setting: LaunchSetting): LaunchSpec {
  const { environment, devices, bin } = setting;
  const { id, attempt, slot, resumed } = launch;
  const { gpus, gpu_memory: gpuMemory, cpus } = run.resources;
  const place = devices === null ? null : { gpus: gpusOf(slot), cpus, devices };
  const argv = [...run.argv, ...(resumed ? run.resumeArgs : [])];
  return {
    directory: run.directory,
    attempt,
    argv: argv.map((word) => word.replaceAll('${attempt}', String(attempt))),
    cwd: run.cwd,
    environment: withProgramFolder(
      runEnvironment(atHome(environment, run.cwd), run.env, place, { id, directory: run.directory, attempt }),
      bin,
    ),
    needs: { gpus, gpuMemory, cpus },
    ...(run.files === undefined ? {} : { files: run.files }),
  };
}

/** Two variables tell of the shell that the person submitted from: where it was, and what it ran last. */
function atHome(environment: Environment, cwd: string): Environment {
  const there = Object.entries(environment).filter(([name]) => name !== '_');
  return { ...Object.fromEntries(there), PWD: cwd };
}

/**
 * Where a run is placed, and how many cores it may use there. `devices`: the variables that show it its GPUs
 * (`visibleDevices`) and let it share them (`MpsDaemons`); without them it is shown the GPUs by index.
 */
type Place = { gpus: readonly number[]; cpus: number; devices?: Readonly<Record<string, string>> };

/** What to run it as: the id and the directory mark its processes, however far they stray. */
type Marks = { id: string; directory: string; attempt: number };

/** Libraries that start as many threads as the machine has cores unless told otherwise. */
const threadCaps = [
  'OMP_NUM_THREADS',
  'MKL_NUM_THREADS',
  'OPENBLAS_NUM_THREADS',
  'NUMEXPR_NUM_THREADS',
  'VECLIB_MAXIMUM_THREADS',
];

/**
 * The environment of one attempt.
 *
 * On GPUs it sees only its own, numbered as nvidia-smi numbers them. On a CPU slot it sees no GPU, and thread pools are
 * capped to its cores, since eight runs with eight threads each are slower than one. What the sweep file sets wins over
 * both the person's environment and the caps.
 *
 * @param inherited The person's environment at submit. @param own `env` of the sweep file. @param place Null: whoever runs it
 * finds it one, and says so to it.
 */
export function runEnvironment(
  inherited: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
  place: Place | null,
  marks: Marks,
): Record<string, string> {
  return {
    ...inherited,
    ...(place === null ? {} : shownAt(place)),
    ...own,
    [runMarks.id]: marks.id,
    [runMarks.directory]: marks.directory,
    [runMarks.attempt]: String(marks.attempt),
  };
}

/** Our own programs come last on the PATH, so that a person's program of the same name wins. */
export function withProgramFolder(environment: Readonly<Record<string, string>>, bin: string): Record<string, string> {
  const path = environment['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';
  return { ...environment, PATH: path.split(':').includes(bin) ? path : `${path}:${bin}` };
}

function shownAt({ gpus, cpus, devices }: Place): Record<string, string> {
  return gpus.length > 0 ? { ...(devices ?? onGpus(gpus)) } : { ...onCpu(cpus), ...devices };
}

function onGpus(gpus: readonly number[]): Record<string, string> {
  return { CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: gpus.join(',') };
}

function onCpu(cpus: number): Record<string, string> {
  return { CUDA_VISIBLE_DEVICES: '', ...Object.fromEntries(threadCaps.map((name) => [name, String(cpus)])) };
}
