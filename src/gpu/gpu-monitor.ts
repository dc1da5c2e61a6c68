import type { RunId } from '../base/ids.js';
import type { Tree } from '../processes/process-tree.js';
import { GpuAccounting } from './gpu-accounting.js';
import { type Gpu, type GpuReading, type GpuView, nothingKnown } from './gpu.js';
import { allowedGpus, readGpus } from './read-gpus.js';

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
