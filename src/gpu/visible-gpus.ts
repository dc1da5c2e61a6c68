import type { Gpu } from './gpu.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The GPUs that an environment leaves to a program, in its order. `said`: the variables that say so, as `NAME=value`. */
export type VisibleGpus = { indexes: readonly number[]; said: string };

/**
 * What a program started in this environment would see of these GPUs; null: the environment does not say, and it is all of them.
 *
 * CUDA_VISIBLE_DEVICES is read as CUDA reads it: indexes (here in PCI bus order, as nvidia-smi counts) and the first letters of
 * uuids; the list ends before the first entry that is none, so that an empty one, `-1` and `NoDevFiles` leave nothing. An index
 * names all instances of a divided GPU (MIG). For AMD, ROCR_VISIBLE_DEVICES chooses from all, and HIP_VISIBLE_DEVICES, or else
 * CUDA_VISIBLE_DEVICES, by index from those.
 *
 * @param gpus All there are; null: not known, and indexes are believed. A list with a uuid then says nothing.
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

/** Each with its instances, where it is divided. */
function wholeGpus(gpus: readonly Gpu[]): (readonly Gpu[])[] {
  const byIndex = new Map<number, Gpu[]>();
  for (const gpu of gpus) {
    const index = gpu.instanceOf ?? gpu.index;
    byIndex.set(index, [...(byIndex.get(index) ?? []), gpu]);
  }
  return [...byIndex.values()];
}

/** @param byUuid Entries may be uuids, and indexes are those of the machine; else they count within `left`. */
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

/** The one GPU, or instance, whose uuid begins so; undefined where several do. */
function named(left: readonly (readonly Gpu[])[], entry: string): readonly Gpu[] | undefined {
  if (!/^(GPU|MIG)-./i.test(entry)) return undefined;
  const [gpu, ...others] = left.flat().filter((each) => isNamed(each, entry));
  return gpu === undefined || others.length > 0 ? undefined : [gpu];
}

/** AMD writes `GPU-` and 16 hexadecimal digits in the variable, and `0x…` elsewhere. */
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
