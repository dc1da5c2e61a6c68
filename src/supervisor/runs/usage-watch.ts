import type { RunId } from '../../base/ids.js';
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
import type { SchedulerState } from '../../scheduler/state.js';
import type { EventLoop } from '../core/event-loop.js';
import { passTurn } from '../../processes/turn.js';

/** What the processes of a run use together; null: not known. */
type RunUsage = {
  /** Percent of one core, over the last few seconds. */
  readonly cpu: number | null;
  /** MiB in RAM. */
  readonly memory: number | null;
};

const unknown: RunUsage = { cpu: null, memory: null };

/** Between looks, ms. */
const LOOK_MS = 5000;

type UsageWatchTools = {
  state: Pick<SchedulerState, 'active'>;
  executor: Pick<Executor, 'rootOf'>;
  loop: Pick<EventLoop, 'changed'>;
  /** Whether anybody is there to see it. */
  isWatched: () => boolean;
  everyMs?: number;
};

type Sample = { readonly usage: TreeUsage; readonly at: number };

/**
 * Looks every few seconds what each run uses of the machine, while somebody is there to see it; an observer of the event loop.
 * All processes of the machine are read for that, in short turns.
 */
export class UsageWatch {
  readonly #tools: UsageWatchTools;
  readonly #shown = new Map<RunId, RunUsage>();
  #samples: ReadonlyMap<RunId, Sample> = new Map();
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;
  #isClosed = false;

  constructor(tools: UsageWatchTools) {
    this.#tools = tools;
  }

  of(id: RunId): RunUsage {
    return this.#tools.state.active.has(id) ? (this.#shown.get(id) ?? unknown) : unknown;
  }

  follow(): void {
    if (this.#tools.state.active.size > 0) this.#lookLater(this.#samples.size === 0 ? 500 : undefined);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #lookLater(wait = this.#tools.everyMs ?? LOOK_MS): void {
    if (this.#timer !== null || this.#isLooking || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#look();
    }, wait).unref();
  }

  async #look(): Promise<void> {
    const { isWatched } = this.#tools;
    this.#isLooking = true;
    if (isWatched()) await this.#measure();
    this.#isLooking = false;
    if (this.#tools.state.active.size > 0) this.#lookLater();
  }

  async #measure(): Promise<void> {
    const { state, executor, loop } = this.#tools;
    const roots = new Map<RunId, number>();
    for (const id of state.active) {
      const pid = executor.rootOf(id);
      if (pid !== null) roots.set(id, pid);
    }
    if (roots.size === 0) return;
    const processes = await readInTurns();
    if (this.#isClosed) return;
    const at = ticksNow();
    const before = this.#samples;
    const usages = treeUsages(processes, roots);
    this.#samples = new Map([...usages].map(([id, usage]) => [id, { usage, at }]));
    for (const id of this.#shown.keys()) if (!usages.has(id)) this.#shown.delete(id);
    loop.changed([...usages].filter(([id, usage]) => this.#show(id, usage, before.get(id), at)).map(([id]) => id));
  }

  /** Whether it is anything new. */
  #show(id: RunId, usage: TreeUsage, before: Sample | undefined, at: number): boolean {
    const shown = { cpu: Math.round(cpuPercent(usage, before, at)), memory: roundedMemory(usage.memory) };
    const last = this.#shown.get(id);
    if (last?.cpu === shown.cpu && last.memory === shown.memory) return false;
    this.#shown.set(id, shown);
    return true;
  }
}

async function readInTurns(): Promise<ProcessUsage[]> {
  const found: ProcessUsage[] = [];
  for (const pid of pidsNow()) {
    const usage = readUsage(pid);
    if (usage !== null) found.push(usage);
    await passTurn();
  }
  return found;
}

/**
 * Percent of one core since the look before; at the first one, since the run was started. Computing time of a process that ends
 * without its parent's waiting for it is lost, and less than nothing is shown as nothing.
 */
function cpuPercent({ ticks, since }: TreeUsage, before: Sample | undefined, at: number): number {
  const isSame = before?.usage.since === since;
  const [used, passed] = isSame ? [ticks - before.usage.ticks, at - before.at] : [ticks, at - since];
  return (100 * Math.max(0, used)) / Math.max(TICKS_PER_SECOND / 10, passed);
}

/** To two digits or so: what a list shows of it. A row whose memory moves by a page is not sent again. */
function roundedMemory(mebibytes: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, mebibytes))) - 1);
  return Math.round(mebibytes / step) * step;
}
