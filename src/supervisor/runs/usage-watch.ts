import type { RunId } from '../../base/ids.js';
import { systemMetrics } from '../../contract/metric-names.js';
import type { Executor } from '../../executors/executor.js';
import {
  pidsNow,
  type ProcessUsage,
  readUsage,
  TICKS_PER_SECOND,
  ticksNow,
  type TreeUsage,
  treeUsages,
} from '../../processes/process-usage.js';
import { passTurn } from '../../processes/turn.js';
import { gpusOf } from '../../scheduler/placement/slot.js';
import { isActive, type SchedulerState } from '../../scheduler/state.js';
import type { EventLoop } from '../core/event-loop.js';
import type { GpuWatch } from '../gpus/gpu-watch.js';
import { type SystemValues, UsageFile } from '../reading/usage-file.js';
import type { PlannedRuns } from './submission-store.js';

/** What the processes of a run use together; null: not known. `system`: all of it, by metric. */
type ShownUsage = {
  /** Percent of one core, over the last few seconds. */
  readonly cpu: number | null;
  /** MiB in RAM. */
  readonly memory: number | null;
  readonly system: SystemValues | null;
};

const unknown: ShownUsage = { cpu: null, memory: null, system: null };

/** Time between measurements while somebody is there to see them, and otherwise, ms. */
const WATCHED_MS = 5000;
const UNWATCHED_MS = 15_000;
/** The longest time between measurements of runs that all stand still, which doubles each time, ms; and what standing still is. */
const STILL_MS = 60_000;
const STILL_PERCENT = 1;

type UsageWatchTools = {
  state: Pick<SchedulerState, 'active' | 'runs'>;
  executor: Pick<Executor, 'rootOf'>;
  plannedRuns: Pick<PlannedRuns, 'of'>;
  gpus: Pick<GpuWatch, 'usageOf'>;
  loop: Pick<EventLoop, 'changed'>;
  /** Whether anybody is there to see it. */
  isWatched: () => boolean;
  everyMs?: number;
  sampler?: Pick<UsageSampler, 'measure'>;
};

/** Has it measured every few seconds what each run uses of the machine; an observer of the event loop. */
export class UsageWatch {
  readonly #tools: UsageWatchTools;
  readonly #sampler: Pick<UsageSampler, 'measure'>;
  readonly #shown = new Map<RunId, ShownUsage>();
  #timer: NodeJS.Timeout | null = null;
  #unwatchedMs = UNWATCHED_MS;

  constructor(tools: UsageWatchTools) {
    this.#tools = tools;
    this.#sampler = tools.sampler ?? new UsageSampler();
  }

  of(id: RunId): ShownUsage {
    return this.#tools.state.active.has(id) ? (this.#shown.get(id) ?? unknown) : unknown;
  }

  follow(): void {
    if (this.#tools.state.active.size > 0) this.#lookLater(this.#shown.size === 0 ? 500 : undefined);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #lookLater(wait = this.#tools.isWatched() ? WATCHED_MS : this.#unwatchedMs): void {
    this.#timer ??= setTimeout(() => this.#look(), this.#tools.everyMs ?? wait).unref();
  }

  #look(): void {
    const { state } = this.#tools;
    this.#timer = null;
    const runs = [...state.active].flatMap((id) => this.#measured(id) ?? []);
    // Without runs too, as the rest of the files of those that have ended is written then.
    void this.#sampler.measure(runs, (usages) => this.#heard(usages));
    if (state.active.size > 0) this.#lookLater();
  }

  #measured(id: RunId): MeasuredRun | null {
    const { state, executor, plannedRuns, gpus } = this.#tools;
    const [root, plan, run] = [executor.rootOf(id), plannedRuns.of(id), state.runs.get(id)];
    if (root === null || plan === null || run === undefined || !isActive(run.state)) return null;
    return { id, directory: plan.directory, root, gpu: gpus.usageOf(id, gpusOf(run.state.slot)) };
  }

  #heard(usages: readonly RunUsage[]): void {
    const ids = new Set(usages.map(({ id }) => id));
    const areStill = usages.every(({ values }) => (values[systemMetrics.cpu] ?? 0) < STILL_PERCENT);
    this.#unwatchedMs = areStill ? Math.min(STILL_MS, 2 * this.#unwatchedMs) : UNWATCHED_MS;
    for (const id of this.#shown.keys()) if (!ids.has(id)) this.#shown.delete(id);
    this.#tools.loop.changed(usages.filter((usage) => this.#show(usage)).map(({ id }) => id));
  }

  /** Whether it is anything new. */
  #show({ id, values }: RunUsage): boolean {
    const system = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, rounded(key, value)]));
    const { [systemMetrics.cpu]: cpu = null, [systemMetrics.memory]: memory = null } = system;
    const last = this.#shown.get(id)?.system;
    if (last && Object.keys({ ...last, ...system }).every((key) => last[key] === system[key])) return false;
    this.#shown.set(id, { cpu, memory, system });
    return true;
  }
}

/** Memory to two digits or so: what a list shows of it. A row whose memory moves by a page is not sent again. */
function rounded(key: string, value: number): number {
  const isMemory = key === systemMetrics.memory || key === systemMetrics.gpuMemory;
  const step = isMemory ? 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1) : 1;
  return Math.round(value / step) * step;
}

/** A run whose use of the machine is measured. `root`: pid of its first process. `gpu`: what is known of its GPUs. */
type MeasuredRun = {
  readonly id: RunId;
  readonly directory: string;
  readonly root: number;
  readonly gpu: SystemValues;
};

/** What a run uses of the machine, by system metric. */
type RunUsage = { readonly id: RunId; readonly values: SystemValues };

/** Share of a core's time that measuring may take: on a machine with very many processes some measurements are left out. */
const MOST_SHARE = 0.005;

/** What is known of a run since the measurement before. `at`: clock ticks since boot. */
type Known = { readonly file: UsageFile; usage: TreeUsage | null; at: number };

/** Measures what runs use of the machine, and writes that into a file of each run. In short turns. */
export class UsageSampler {
  readonly #known = new Map<RunId, Known>();
  #notBefore = -Infinity;
  #isMeasuring = false;
  readonly #share: number;

  constructor(share = MOST_SHARE) {
    this.#share = share;
  }

  /** Measures these runs, and forgets all others; unless it is too early, or the measurement before is not finished. */
  async measure(runs: readonly MeasuredRun[], tell: (usages: RunUsage[]) => void): Promise<void> {
    const begun = performance.now();
    if (this.#isMeasuring || begun < this.#notBefore) return;
    this.#isMeasuring = true;
    let spent = 0;
    const found: ProcessUsage[] = [];
    for (const pid of pidsNow()) {
      const from = performance.now();
      const usage = readUsage(pid);
      if (usage !== null) found.push(usage);
      spent += performance.now() - from;
      await passTurn();
    }
    this.#notBefore = begun + spent / this.#share;
    tell(await this.#note(runs, found));
    this.#isMeasuring = false;
  }

  async #note(runs: readonly MeasuredRun[], found: readonly ProcessUsage[]): Promise<RunUsage[]> {
    const at = ticksNow();
    const usages = treeUsages(found, new Map(runs.map((run) => [run, run.root])));
    const measured: RunUsage[] = [];
    for (const [{ id, directory, gpu }, usage] of usages) {
      const known = this.#known.get(id) ?? { file: new UsageFile(directory), usage: null, at: 0 };
      const values = { ...valuesOf(usage, known, at), ...gpu };
      this.#known.set(id, Object.assign(known, { usage, at }));
      known.file.add(values, Date.now());
      measured.push({ id, values });
      await passTurn();
    }
    const ids = new Set(runs.map(({ id }) => id));
    for (const [id, { file }] of this.#known) {
      if (ids.has(id)) continue;
      file.flush();
      this.#known.delete(id);
    }
    return measured;
  }
}

function valuesOf(usage: TreeUsage, before: Known, at: number): SystemValues {
  return {
    [systemMetrics.cpu]: Math.round(10 * cpuPercent(usage, before, at)) / 10,
    [systemMetrics.memory]: Math.round(usage.memory),
  };
}

/**
 * Percent of one core since the measurement before; at the first one, since the run was started. Computing time of a process that
 * ends without its parent's waiting for it is lost, and less than nothing counts as nothing.
 */
function cpuPercent({ ticks, since }: TreeUsage, before: Known, at: number): number {
  const isSame = before.usage?.since === since;
  const [used, passed] = isSame ? [ticks - before.usage!.ticks, at - before.at] : [ticks, at - since];
  return (100 * Math.max(0, used)) / Math.max(TICKS_PER_SECOND / 10, passed);
}
