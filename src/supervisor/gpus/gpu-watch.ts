import { join } from 'node:path';
import { type GpuIndex, gpuName, type RunId } from '../../base/ids.js';
import { supervisorFiles } from '../../contract/files.js';
import { systemMetrics } from '../../contract/metric-names.js';
import { GpuMonitor } from '../../gpu/gpu-monitor.js';
import { type Gpu, gpuMemoryHeld, type GpuView, lostWords, visibleDevices } from '../../gpu/gpu.js';
import { GpuLeases } from '../../gpu/leases.js';
import { MpsDaemons } from '../../gpu/mps.js';
import { isNews, type SeenGpuFacts, toSeen } from '../../gpu/seen-gpu.js';
import { identityOf, type ProcessIdentity } from '../../processes/process-identity.js';
import type { Tree } from '../../processes/process-tree.js';
import type { GpuStatus } from '../../protocol/run-summary.js';
import { SeenGpu } from '../../scheduler/event.js';
import { isAsleep } from '../../scheduler/placement/waiting-reason.js';
import type { GpuDevice } from '../../scheduler/state.js';
import type { EventLoop } from '../core/event-loop.js';
import type { Environment } from '../runs/submission-store.js';
import type { Warnings } from '../runs/warnings.js';

/** Settings of the supervisor's machine. */
export type HostConfig = {
  /** An environment whose PATH has the driver's tools, until a submission brings another. */
  environment: Environment;
  /** Folder of GPU leases, shared by all supervisors of the machine. */
  leaseDirectory: string;
  supervisor: ProcessIdentity;
  uid: number;
  /** Interval of looks while runs exist, ms; absent: the monitor's default. */
  gpuEveryMs: number | undefined;
  /** Time limit for one answer of the driver, ms. */
  gpuPatienceMs: number | undefined;
};

type GpuWatchPorts = {
  loop: Pick<EventLoop, 'state' | 'now' | 'tell' | 'changed'>;
  runsDirectory: string;
  warnings: Pick<Warnings, 'set'>;
  /** The pid of the process from which all of a run's processes come; null: it is not on this machine. */
  rootOf: (id: RunId) => number | null;
};

type RunOnTheseGpus = { id: RunId; gpus: readonly GpuIndex[]; directory: string };

/** The GPUs as the supervisor sees them: the processes on them, their leases, and how runs share them. */
export class GpuWatch {
  readonly #ports: GpuWatchPorts;
  /** Changed in place, as monitor and daemons share the object. */
  readonly #environment: Record<string, string>;
  readonly #monitor: GpuMonitor;
  readonly #leases: GpuLeases;
  readonly #mps: MpsDaemons;
  readonly #leakedMemory = new LeakedMemory();
  readonly #trees = new Map<RunId, Tree>();
  /** Uuids of the GPUs that are leased here, by index. */
  readonly #taken = new Map<GpuIndex, string>();
  #shared: ReadonlySet<number> = new Set();
  /** The last report to the scheduler; null: there was none. */
  #told: readonly SeenGpuFacts[] | null = null;
  #byRun: GpuView['byRun'] = new Map();

  constructor(ports: GpuWatchPorts, { environment, ...where }: HostConfig) {
    const { runsDirectory, loop } = ports;
    this.#ports = ports;
    this.#environment = { ...environment };
    this.#monitor = new GpuMonitor({
      environment: this.#environment,
      trees: () => this.#trees,
      seen: (view) => this.#saw(view),
      now: () => loop.now(),
      ...(where.gpuEveryMs === undefined ? {} : { everyMs: where.gpuEveryMs }),
      ...(where.gpuPatienceMs === undefined ? {} : { patienceMs: where.gpuPatienceMs }),
    });
    const { supervisor, uid, leaseDirectory: directory } = where;
    this.#leases = new GpuLeases({ directory, supervisor, runsDirectory, uid });
    const supervisorDirectory = join(runsDirectory, supervisorFiles.directory);
    const runtimeDirectory = environment['XDG_RUNTIME_DIR'];
    this.#mps = new MpsDaemons({ environment: this.#environment, supervisorDirectory, runtimeDirectory, uid });
  }

  /** Why little is known of the GPUs, in words; null: nothing is wrong. */
  get problem(): string | null {
    const { gpu, queued, runs } = this.#ports.loop.state;
    const { view } = this.#monitor;
    const words = view.problem ?? lostWords(view);
    const isConcerned =
      gpu.gpus.length > 0 || (words !== null && [...queued.keys()].some((id) => runs.get(id)!.need.gpus > 0));
    return isConcerned ? (words ?? this.#leases.problem) : null;
  }

  /** All GPUs, by a present look. `environment`: the driver's tools are looked for there from now on. */
  async inventory(environment: Environment | null): Promise<GpuView> {
    if (environment !== null) this.lookIn(environment);
    return this.#monitor.look();
  }

  /** Handles changed states: monitors the GPUs while they matter, and returns unused ones. */
  follow(): void {
    const { state } = this.#ports.loop;
    for (const [index, uuid] of this.#taken) {
      if ((state.gpu.shares.get(index)?.size ?? 0) > 0) continue;
      this.#leases.release(uuid);
      this.#taken.delete(index);
    }
    const isNeeded = (state.gpu.gpus.length > 0 && !isAsleep(state)) || !this.#leakedMemory.isEmpty;
    if (isNeeded) this.#monitor.wake();
    else this.#monitor.rest();
  }

  /**
   * Leases the GPUs for this supervisor; a second call has no effect. False: another supervisor was first, and the scheduler is
   * told before any later event.
   */
  claim(gpus: readonly GpuIndex[]): boolean {
    for (const index of gpus) {
      const uuid = this.#gpu(index)?.uuid ?? this.#ports.loop.state.gpu.devices.get(index)?.uuid ?? null;
      // A GPU without a uuid, which no driver ever reported, cannot be leased.
      if (uuid === null || this.#taken.has(index)) continue;
      const taking = this.#leases.take(uuid);
      if (taking !== 'taken') {
        this.#tellLost(index, taking.heldBy);
        return false;
      }
      this.#taken.set(index, uuid);
    }
    return true;
  }

  /** The variables that show a run its GPUs, and no others. */
  devices(gpus: readonly GpuIndex[]): Record<string, string> {
    return visibleDevices(gpus, this.#monitor.view.gpus);
  }

  /**
   * The variables with which runs share this GPU through its MPS daemon, which is started if needed; empty if that is not possible.
   */
  async shared(index: GpuIndex): Promise<Record<string, string>> {
    const gpu = this.#gpu(index);
    if (gpu === undefined) return {};
    const share = await this.#mps.ensure(gpu);
    this.#shared = await this.#mps.active();
    return share.kind === 'mps' ? { ...share.environment } : {};
  }

  /** Records that a run is up on these GPUs, or was before this supervisor. */
  started({ id, gpus, directory }: RunOnTheseGpus): void {
    const pid = gpus.length === 0 ? null : this.#ports.rootOf(id);
    const identity = pid === null ? null : identityOf(pid);
    if (pid === null || identity === null) return;
    this.#trees.set(id, { pid, startTime: identity.startTime, directory });
    this.claim(gpus);
    for (const index of gpus) {
      const uuid = this.#taken.get(index);
      if (uuid !== undefined) this.#leases.add(uuid, identity);
    }
  }

  /** Records the end of a run. Returns the most memory that it held on one GPU, MiB; null: none was seen. */
  ended(id: RunId): number | null {
    if (!this.#trees.delete(id)) return null;
    this.#leakedMemory.ended(id, this.#monitor.view.byRun.get(id)?.pids ?? [], this.#ports.loop.now());
    return this.#monitor.peakOf(id);
  }

  /** Forgets a run that starts again, or was removed: its leftover processes count as foreign. */
  forget(id: RunId): void {
    this.#leakedMemory.forget(id);
  }

  /** GPU memory of the run in MiB; null: none, or unknown. */
  memoryOf(id: RunId): number | null {
    return this.#trees.has(id) ? (this.#byRun.get(id)?.memory ?? null) : null;
  }

  /** What is known of the GPUs of a run at present, by system metric. Utilization and power are those of all their users. */
  usageOf(id: RunId, gpus: readonly GpuIndex[]): Record<string, number> {
    const seen = gpus.length === 0 ? [] : this.gauges.filter(({ index }) => gpus.includes(index as GpuIndex));
    const sum = (values: readonly (number | null)[]): number | null =>
      values.length === 0 || values.includes(null) ? null : values.reduce<number>((all, value) => all + value!, 0);
    const utilization = sum(seen.map((gpu) => gpu.utilization));
    const known = {
      [systemMetrics.gpu]: utilization === null ? null : utilization / seen.length,
      [systemMetrics.gpuMemory]: this.memoryOf(id),
      [systemMetrics.gpuPower]: sum(seen.map(({ power }) => power)),
    };
    return Object.fromEntries(Object.entries(known).filter((entry): entry is [string, number] => entry[1] !== null));
  }

  /** The present state of all GPUs; empty while the driver fails. */
  get gauges(): readonly Gpu[] {
    const { gpus, problem } = this.#monitor.view;
    return problem === null ? gpus : [];
  }

  /** The GPUs that may be used, in order of preference. */
  statuses(): GpuStatus[] {
    const { gpu } = this.#ports.loop.state;
    return gpu.gpus.map((index) => {
      const runs = [...(gpu.shares.get(index)?.keys() ?? [])];
      return gpuStatus(gpu.devices.get(index)!, this.#monitor.view, runs, this.#shared.has(index));
    });
  }

  /** Shuts down; daemons that no run needs are ended, and GPUs without runs are returned. */
  async close(): Promise<void> {
    this.#monitor.close();
    const { shares } = this.#ports.loop.state.gpu;
    const inUse = new Set([...shares].flatMap(([index, runs]) => (runs.size > 0 ? [index] : [])));
    await this.#mps.stopUnused(inUse);
    for (const [index, uuid] of this.#taken) if (!inUse.has(index)) this.#leases.release(uuid);
  }

  #gpu(index: GpuIndex): Gpu | undefined {
    return this.#monitor.view.gpus.find((gpu) => gpu.index === index);
  }

  /** Looks for the driver's tools in that environment from now on. */
  lookIn(environment: Environment): void {
    for (const name of Object.keys(this.#environment)) delete this.#environment[name];
    Object.assign(this.#environment, environment);
  }

  #saw(view: GpuView): void {
    const { loop, warnings } = this.#ports;
    const seen = toSeen(view, this.#leases.others());
    if (seen !== null && view.problem === null) this.#tell(seen);
    const before = this.#byRun;
    this.#byRun = view.byRun;
    for (const [id, words] of this.#leakedMemory.seen(view, loop.now())) warnings.set(id, 'gpus', words);
    const ids = new Set([...before.keys(), ...view.byRun.keys()]);
    loop.changed([...ids].filter((id) => before.get(id)?.memory !== view.byRun.get(id)?.memory));
    this.follow();
  }

  #tellLost(lost: GpuIndex, leasedBy: string): void {
    const { gpu } = this.#ports.loop.state;
    const known = this.#told ?? gpu.gpus.map((index) => gpu.devices.get(index)!);
    this.#tell(known.map((each) => (each.index === lost ? { ...each, leasedBy } : each)));
  }

  /** Reports changes that may affect placement to the scheduler, each once. */
  #tell(seen: readonly SeenGpuFacts[]): void {
    const { loop } = this.#ports;
    if (!isNews(this.#told ?? [], seen)) return;
    this.#told = seen;
    loop.tell({ type: 'gpus-seen', at: loop.now(), gpus: seen.map((each) => SeenGpu.parse(each)) });
  }
}

/** One GPU as clients see it: the scheduler's facts and the last reading. `runs`: their ids. */
function gpuStatus(device: GpuDevice, view: GpuView, runs: readonly string[], mps: boolean): GpuStatus {
  const { index, uuid, memory: memoryTotal, drained, drainReason, leasedBy } = device;
  const seen = view.gpus.find((gpu) => gpu.index === index);
  return {
    ...{ index, uuid, runs: [...runs], drained, leasedBy, mps },
    ...(drainReason === undefined ? {} : { drainReason }),
    ...(seen === undefined ? { ...unseen, memoryTotal } : gauges(seen)),
    foreign: (view.foreign.get(index) ?? []).map(({ pid, name, memory }) => ({
      ...{ pid, name: name ?? 'a process', memory },
    })),
  };
}

const unseen = { name: null, memoryUsed: null, utilization: null, temperature: null, power: null };

function gauges(gpu: Gpu) {
  const { uuid, name, memoryTotal, memoryUsed, utilization, temperature, power } = gpu;
  return { uuid, name, memoryTotal, memoryUsed, utilization, temperature, power };
}

/** Time in which the driver notices that a process has ended, ms. */
const PARTING_MS = 2000;

/** Watches whether the processes of ended runs have freed their GPU memory. */
export class LeakedMemory {
  readonly #pids = new Map<RunId, { pids: readonly number[]; at: number }>();

  /** Whether no ended run holds GPU memory, as far as known. */
  get isEmpty(): boolean {
    return this.#pids.size === 0;
  }

  /** Records an ended run that had these processes on GPUs at the last look. `at`: Unix ms. */
  ended(id: RunId, pids: readonly number[], at: number): void {
    if (pids.length > 0) this.#pids.set(id, { pids, at });
  }

  /** Forgets a run that has started again, or was removed: its leftovers count as foreign. */
  forget(id: RunId): void {
    this.#pids.delete(id);
  }

  /** The GPU memory that ended runs still hold, in words; null, once, for those that have freed it. */
  seen(view: GpuView, now: number): Map<RunId, string | null> {
    const found = new Map<RunId, string | null>();
    if (view.problem !== null) return found;
    for (const [id, { pids, at }] of this.#pids) {
      if (now - at < PARTING_MS) continue;
      const held = gpuMemoryHeld(view, pids);
      found.set(id, held.length === 0 ? null : held.map(words).join('; '));
      if (held.length === 0) this.#pids.delete(id);
    }
    return found;
  }
}

function words({ gpu, memory, pid }: { gpu: number; memory: number | null; pid: number }): string {
  const amount = memory === null ? 'memory' : `${memory.toLocaleString('en-US')} MiB`;
  return `GPU ${gpuName(gpu)}: ${amount} still held by pid ${pid}`;
}
