import { join } from 'node:path';
import { groupBy } from '../base/group-by.js';
import type { RunId } from '../base/ids.js';
import { runFiles } from '../contract/files.js';
import { cgroupPids } from '../processes/cgroup.js';
import { type ProcessEntry, readProcess } from '../processes/process-table.js';
import { isStray, type Tree } from '../processes/process-tree.js';
import { type Gpu, type GpuProcess, type GpuReading, type GpuView, nothingKnown, type RunOnGpus } from './gpu.js';
import { allowedGpus, readGpus } from './read-gpus.js';

/**
 * The processes on the GPUs, over several readings: which of them belong to runs is remembered, because a process that is being
 * killed may have ended for the system while the driver still lists it.
 */

type Counted = Pick<GpuView, 'byRun' | 'foreign' | 'hidden'>;
/** `tree`: that of the attempt to which the process belongs. */
type Owner = { id: RunId; tree: Tree; startTime: string | null };

/** The server through which all clients of a GPU allocate memory; it belongs to no run. */
const MPS_SERVER = 'nvidia-cuda-mps-server';
/** Memory that the driver itself may take on an idle GPU, MiB. */
const RESERVED = 1024;

class GpuAccounting {
  /** The owners of the processes in the last reading, by pid. */
  #owners = new Map<number, Owner>();
  /** Processes in the last reading whose run and process had both ended. */
  #left = new Set<number>();
  /** MiB that no process accounted for, by GPU. */
  #excess = new Map<number, number>();
  readonly #peaks = new Map<RunId, number>();

  count(gpus: readonly Gpu[], processes: readonly GpuProcess[], trees: ReadonlyMap<RunId, Tree>): Counted {
    this.#owners = this.#ownersOf(processes, trees);
    const isUp = (owner: Owner | undefined) => owner !== undefined && isSameTree(trees.get(owner.id), owner.tree);
    const ours = processes.flatMap((process) => {
      const owner = this.#owners.get(process.pid);
      return owner !== undefined && isUp(owner) ? [{ ...process, id: owner.id }] : [];
    });
    this.#notePeaks(ours);
    const others = processes.filter(({ pid, name }) => name !== MPS_SERVER && !isUp(this.#owners.get(pid)));
    const foreign = groupBy(this.#lasting(others), ({ gpu }) => gpu);
    return { byRun: sums(ours), foreign, hidden: this.#hidden(gpus, processes) };
  }

  /** The most memory that a run was seen to hold on one GPU, MiB; null: none was seen. The figure is then forgotten. */
  takePeak(id: RunId): number | null {
    const peak = this.#peaks.get(id) ?? null;
    this.#peaks.delete(id);
    return peak;
  }

  #ownersOf(processes: readonly GpuProcess[], trees: ReadonlyMap<RunId, Tree>): Map<number, Owner> {
    const ownerOf = ownership(trees);
    const found = new Map<number, Owner>();
    for (const pid of new Set(processes.map((process) => process.pid))) {
      const startTime = readProcess(pid)?.startTime ?? null;
      const id = ownerOf(pid);
      const before = this.#owners.get(pid);
      const isSame = before !== undefined && (startTime === null || startTime === before.startTime);
      if (id !== null) found.set(pid, { id, tree: trees.get(id)!, startTime });
      else if (isSame) found.set(pid, before);
    }
    return found;
  }

  /**
   * The leftover processes that were there in the last reading, too: a run may end while the driver is being asked, and these end
   * within a moment.
   */
  #lasting(others: readonly GpuProcess[]): GpuProcess[] {
    const before = this.#left;
    const isLeft = ({ pid }: GpuProcess) => this.#owners.has(pid) && readProcess(pid) === null;
    this.#left = new Set(others.filter(isLeft).map(({ pid }) => pid));
    return others
      .filter(({ pid }) => !this.#left.has(pid) || before.has(pid))
      .map((process) => ({ ...process, name: nameOf(process, this.#owners.get(process.pid)) }));
  }

  #notePeaks(ours: readonly (GpuProcess & { id: RunId })[]): void {
    for (const [id, held] of groupBy(ours, (process) => process.id)) {
      for (const onOne of groupBy(held, ({ gpu }) => gpu).values()) {
        const memory = total(onOne);
        if (memory !== null && memory > (this.#peaks.get(id) ?? 0)) this.#peaks.set(id, memory);
      }
    }
  }

  /**
   * MiB by GPU that no process accounts for. A process that starts or ends between the two queries seems hidden for a moment, so
   * only what two readings in a row have shown counts.
   */
  #hidden(gpus: readonly Gpu[], processes: readonly GpuProcess[]): Map<number, number> {
    const before = this.#excess;
    this.#excess = new Map(gpus.map((gpu) => [gpu.index, excessOf(gpu, processes)]));
    const steady = [...this.#excess].map(([index, excess]) => [index, Math.min(excess, before.get(index) ?? excess)]);
    return new Map((steady as [number, number][]).filter(([, excess]) => excess > RESERVED));
  }
}

function excessOf({ index, memoryUsed }: Gpu, processes: readonly GpuProcess[]): number {
  const onIt = processes.filter(({ gpu }) => gpu === index);
  if (memoryUsed === null || onIt.some(({ memory }) => memory === null)) return 0;
  return memoryUsed - (total(onIt) ?? 0);
}

function sums(ours: readonly (GpuProcess & { id: RunId })[]): Map<RunId, RunOnGpus> {
  return new Map(
    [...groupBy(ours, ({ id }) => id)].map(([id, held]) => [
      id,
      { memory: total(held), pids: [...new Set(held.map(({ pid }) => pid))] },
    ]),
  );
}

/** Total memory; null: none is known. */
function total(processes: readonly GpuProcess[]): number | null {
  const known = processes.flatMap(({ memory }) => memory ?? []);
  return known.length === 0 ? null : known.reduce((sum, memory) => sum + memory, 0);
}

/** The name of a process of a run that has ended: `python of sweep/run`. */
function nameOf({ name }: GpuProcess, owner: Owner | undefined): string | null {
  return owner === undefined ? name : `${name ?? 'a process'} of ${owner.id}`;
}

/** Whether two trees are of the same attempt: each has a shim of its own. */
function isSameTree(now: Tree | undefined, before: Tree): boolean {
  return now !== undefined && now.pid === before.pid && now.startTime === before.startTime;
}

/** Limit on the ancestors that are followed; a reused pid could form a cycle. */
const GENERATIONS = 100;

/**
 * Finds the run that a process belongs to: the same as `treeMembers`, but upwards from the process. Few processes are on GPUs, and
 * reading the whole table every few seconds would cost more than anything else.
 */
export function ownership(trees: ReadonlyMap<RunId, Tree>): (pid: number) => RunId | null {
  const lookUp = rememberingLookUp();
  const all = [...trees].map(([id, tree]) => ({ id, tree }));
  const byPid = new Map(all.map((run) => [run.tree.pid, run]));
  const byDirectory = new Map(all.map(({ id, tree }) => [tree.directory, id]));
  const byLog = new Map(all.map(({ id, tree }) => [join(tree.directory, runFiles.log), id]));
  const byCgroup = once(() => pidsInCgroups(all));

  /** The run whose shim has this pid, if the pid has not been reused. */
  const ledBy = (pid: number): RunId | null => {
    const led = byPid.get(pid);
    if (led === undefined || led.tree.startTime === null) return null;
    const holder = lookUp(pid);
    return holder === null || holder.startTime === led.tree.startTime ? led.id : null;
  };
  const byWhatItCarries = (entry: ProcessEntry): RunId | null => {
    const log = entry.outputs().find((file) => byLog.has(file));
    return byDirectory.get(entry.mark() ?? '') ?? byLog.get(log ?? '') ?? null;
  };
  const ownerOf = (entry: ProcessEntry): RunId | null => {
    const led = ledBy(entry.pid) ?? ledBy(entry.group) ?? ledBy(entry.session);
    return led ?? byWhatItCarries(entry) ?? byCgroup().get(entry.pid) ?? null;
  };
  const firstOwner = (entry: ProcessEntry): RunId | null => {
    let ancestor: ProcessEntry | null = entry;
    for (let generation = 0; ancestor !== null && ancestor.pid > 1 && generation < GENERATIONS; generation++) {
      const owner = ownerOf(ancestor);
      if (owner !== null) return owner;
      ancestor = lookUp(ancestor.parent);
    }
    return null;
  };
  return (pid) => {
    const entry = lookUp(pid);
    if (entry === null) return null;
    return firstOwner(entry) ?? all.find(({ tree }) => isStray(entry, tree))?.id ?? null;
  };
}

/** Caches processes, as foreign ones often share ancestors. */
function rememberingLookUp(): (pid: number) => ProcessEntry | null {
  const seen = new Map<number, ProcessEntry | null>();
  return (pid) => {
    const known = seen.get(pid);
    if (known !== undefined) return known;
    const entry = readProcess(pid);
    seen.set(pid, entry);
    return entry;
  };
}

function pidsInCgroups(runs: readonly { id: RunId; tree: Tree }[]): Map<number, RunId> {
  return new Map(
    runs.flatMap(({ id, tree }) =>
      (tree.cgroup ? cgroupPids(tree.cgroup) : []).map((pid): [number, RunId] => [pid, id]),
    ),
  );
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}

export type GpuMonitorOptions = {
  /** An environment whose PATH has the driver's tools. */
  environment: Readonly<NodeJS.ProcessEnv>;
  /** The process trees of live runs; all other processes are foreign. */
  trees: () => ReadonlyMap<RunId, Tree>;
  /** Called after every look, also a failed one. */
  seen: (view: GpuView) => void;
  /** Interval of looks, ms. */
  everyMs?: number;
  /** Time limit of one call of a driver's tool, ms. */
  patienceMs?: number;
  /** Unix ms. */
  now?: () => number;
};

/**
 * Looks at the GPUs regularly while runs exist, and keeps the last good view while the driver fails, as GPUs that cannot be read
 * have not gone away.
 *
 *     const monitor = new GpuMonitor({ environment: process.env, trees, seen: (view) => … });
 *     const { gpus } = await monitor.look();   // once, for the inventory
 *     monitor.wake();                          // a run was launched: look every 5 s from now on
 *     monitor.peakOf(id)                       // after its end, for `run-ended`
 *     monitor.rest();                          // no run is left
 */
export class GpuMonitor {
  readonly #options: GpuMonitorOptions;
  readonly #accounting = new GpuAccounting();
  #view: GpuView = nothingKnown;
  /** The look in progress, which callers share, as another one would wait for the same driver. */
  #looking: Promise<GpuView> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isAwake = false;
  #isClosed = false;
  /** Whether the last reading had fewer GPUs than were known. */
  #wasShort = false;

  constructor(options: GpuMonitorOptions) {
    this.#options = options;
  }

  /** The last view. */
  get view(): GpuView {
    return this.#view;
  }

  /** Looks now, and every few seconds until `rest`. A second call has no effect. */
  wake(): void {
    if (this.#isAwake || this.#isClosed) return;
    this.#isAwake = true;
    void this.look();
  }

  /** Stops regular looks; `look` still works. */
  rest(): void {
    this.#isAwake = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Ends the monitor: `seen` is not called any more. */
  close(): void {
    this.#isClosed = true;
    this.rest();
  }

  /** Looks once. Callers at the same time share one look. Never rejects. */
  look(): Promise<GpuView> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
      this.#lookLater();
    });
    return this.#looking;
  }

  /**
   * The most memory a run was seen to hold on one GPU, MiB; null: none was seen. Call it once after the end of an attempt: the next
   * attempt is measured anew.
   */
  peakOf(id: RunId): number | null {
    return this.#accounting.takePeak(id);
  }

  async #look(): Promise<GpuView> {
    const { environment, patienceMs, seen } = this.#options;
    this.#view = this.#judge(await readGpus(environment, patienceMs));
    if (!this.#isClosed) seen(this.#view);
    return this.#view;
  }

  #lookLater(): void {
    if (!this.#isAwake) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.look(), this.#options.everyMs ?? 5000).unref();
  }

  #judge(reading: GpuReading): GpuView {
    // A GPU that Slurm withholds from this environment is not missing.
    const known = allowedGpus(this.#view.gpus, this.#options.environment);
    if (reading.kind === 'unknown') return this.#sick(reading.reason);
    if (reading.kind === 'none' && known.length > 0) return this.#sick('the driver’s tools are gone');
    if (reading.kind === 'none') return { ...nothingKnown, at: this.#now() };
    // A failing driver may omit a GPU once; one that was removed stays away.
    const isShort = known.some(({ uuid }) => !reading.gpus.some((gpu) => gpu.uuid === uuid));
    const isNew = isShort && !this.#wasShort;
    this.#wasShort = isShort;
    if (isNew) return this.#sick(missing(known, reading.gpus));
    const { gpus, processes, lost = null } = reading;
    const counted = this.#accounting.count(gpus, processes, this.#options.trees());
    return { gpus, processes, ...counted, lost, at: this.#now(), problem: null };
  }

  #sick(reason: string): GpuView {
    const { at } = this.#view;
    const age = at === null ? null : Math.round((this.#now() - at) / 1000);
    const rest = age === null ? 'the state of the GPUs is unknown' : `the state of ${age} s ago is used`;
    return { ...this.#view, problem: `${reason}; ${rest}` };
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }
}

function missing(known: readonly Gpu[], gpus: readonly Gpu[]): string {
  const gone = known
    .filter(({ uuid }) => !gpus.some((gpu) => gpu.uuid === uuid))
    .map(({ name, uuid }) => `${name} ${uuid}`);
  return `the driver no longer reports ${gone.join(', ')}`;
}
