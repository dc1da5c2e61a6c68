import type { RunId } from '../../base/ids.js';
import { systemMetrics } from '../../contract/metric-names.js';
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
import { type SystemValues, UsageFile } from '../reading/usage-file.js';

/** A run whose use of the machine is measured. `root`: pid of its first process. `gpu`: what is known of its GPUs. */
export type MeasuredRun = {
  readonly id: RunId;
  readonly directory: string;
  readonly root: number;
  readonly gpu: SystemValues;
};

/** What a run uses of the machine, by system metric. */
export type RunUsage = { readonly id: RunId; readonly values: SystemValues };

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
