import { runMarks } from '../../contract/files.js';

/**
 * Where a run is placed, and how many cores it may use there. `devices`: the variables that show it its GPUs
 * (`visibleDevices`) and let it share them (`MpsDaemons`); without them it is shown the GPUs by index.
 */
export type Place = { gpus: readonly number[]; cpus: number; devices?: Readonly<Record<string, string>> };

/** What to run it as: the id and the directory mark its processes, however far they stray. */
export type Marks = { id: string; directory: string; attempt: number };

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
 * @param inherited The person's environment at submit. @param own `env` of the sweep file.
 */
export function runEnvironment(
  inherited: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
  place: Place,
  marks: Marks,
): Record<string, string> {
  return {
    ...inherited,
    ...(place.gpus.length > 0 ? (place.devices ?? onGpus(place.gpus)) : { ...onCpu(place.cpus), ...place.devices }),
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

function onGpus(gpus: readonly number[]): Record<string, string> {
  return { CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: gpus.join(',') };
}

function onCpu(cpus: number): Record<string, string> {
  return { CUDA_VISIBLE_DEVICES: '', ...Object.fromEntries(threadCaps.map((name) => [name, String(cpus)])) };
}
