import type { Gpu } from './gpu.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The GPUs that an environment leaves visible, in its order. `said`: the variables that select them, as `NAME=value`. */
export type VisibleGpus = { indexes: readonly number[]; said: string };

/**
 * The GPUs that a program in this environment would see; null: the environment does not restrict them.
 *
 * CUDA_VISIBLE_DEVICES is read as CUDA does: indices (here in PCI bus order, as in nvidia-smi) and prefixes of uuids; the list ends
 * before the first invalid entry, so that an empty one, `-1` and `NoDevFiles` leave none. An index selects all instances of a
 * divided GPU (MIG). For AMD, ROCR_VISIBLE_DEVICES selects from all, and HIP_VISIBLE_DEVICES, or else CUDA_VISIBLE_DEVICES, by
 * index from those.
 *
 * @param gpus All GPUs; null: unknown, so that indices are assumed valid. A list with a uuid is then ignored.
 */
export function visibleGpus(gpus: readonly Gpu[] | null, environment: Environment): VisibleGpus | null {
  const isRocm = gpus?.[0]?.vendor === 'amd';
  const names = isRocm ? variablesOfRocm(environment) : ['CUDA_VISIBLE_DEVICES'];
  const lists = names.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [{ name, value, entries: value.split(',').map((entry) => entry.trim()) }];
  });
  if (lists.length === 0) return null;
  const said = lists.map(({ name, value }) => `${name}=${value}`).join(' ');
  if (gpus === null) return believed(lists[0]!.entries, said);
  let left: readonly (readonly Gpu[])[] = wholeGpus(gpus);
  for (const { name, entries } of lists) left = chosen(left, entries, !isRocm || name === 'ROCR_VISIBLE_DEVICES');
  return { indexes: left.flat().map(({ index }) => index), said };
}

function variablesOfRocm(environment: Environment): string[] {
  const within = environment['HIP_VISIBLE_DEVICES'] === undefined ? 'CUDA_VISIBLE_DEVICES' : 'HIP_VISIBLE_DEVICES';
  return ['ROCR_VISIBLE_DEVICES', within];
}

/** The GPUs, each with its instances if it is divided. */
function wholeGpus(gpus: readonly Gpu[]): (readonly Gpu[])[] {
  const byIndex = new Map<number, Gpu[]>();
  for (const gpu of gpus) {
    const index = gpu.instanceOf ?? gpu.index;
    byIndex.set(index, [...(byIndex.get(index) ?? []), gpu]);
  }
  return [...byIndex.values()];
}

/** @param byUuid Whether entries may be uuids, and indices are those of the machine; otherwise they count within `left`. */
function chosen(left: readonly (readonly Gpu[])[], entries: readonly string[], byUuid: boolean): (readonly Gpu[])[] {
  const found: (readonly Gpu[])[] = [];
  for (const entry of entries) {
    const gpus = isIndex(entry) ? at(left, Number(entry), byUuid) : byUuid ? named(left, entry) : undefined;
    if (gpus === undefined) break;
    if (!found.some(([first]) => first === gpus[0])) found.push(gpus);
  }
  return found;
}

function isIndex(entry: string): boolean {
  return /^\d{1,3}$/.test(entry);
}

function at(left: readonly (readonly Gpu[])[], index: number, ofMachine: boolean): readonly Gpu[] | undefined {
  return ofMachine ? left.find(([gpu]) => (gpu!.instanceOf ?? gpu!.index) === index) : left[index];
}

/** The GPU or instance whose uuid has this prefix; undefined: there are several. */
function named(left: readonly (readonly Gpu[])[], entry: string): readonly Gpu[] | undefined {
  if (!/^(GPU|MIG)-./i.test(entry)) return undefined;
  const [gpu, ...others] = left.flat().filter((each) => isNamed(each, entry));
  return gpu === undefined || others.length > 0 ? undefined : [gpu];
}

/** Whether an entry names a GPU. AMD writes `GPU-` and 16 hexadecimal digits in the variable, and `0x…` elsewhere. */
function isNamed({ uuid, vendor }: Gpu, entry: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/^(gpu-|0x)0*/, '');
  return vendor === 'amd' ? plain(uuid) === plain(entry) : uuid.toLowerCase().startsWith(entry.toLowerCase());
}

function believed(entries: readonly string[], said: string): VisibleGpus | null {
  const end = entries.findIndex((entry) => !isIndex(entry));
  if (end >= 0 && /^(GPU|MIG)-/i.test(entries[end]!)) return null;
  const indexes = entries.slice(0, end < 0 ? entries.length : end).map(Number);
  return { indexes: [...new Set(indexes)], said };
}
