import type { Samples } from '../../../logs/samples.js';
import type { RunFilesPort } from '../../state/port.js';

/** How long the pane must be open before the samples are read, and the least time between two readings, ms. */
const REST = 40;
const PERIOD = 5000;
/** Share of the time that reading may take. */
const SHARE = 0.1;

type Reading = { samples: Samples | null | undefined; timer: NodeJS.Timeout };

/** Reads the samples of the shown runs while they are shown, again and again; never in answer to a key. */
export class SamplesReader {
  readonly #files: Pick<RunFilesPort, 'samples'>;
  readonly #changed: () => void;
  /** By directory of the run. */
  readonly #readings = new Map<string, Reading>();

  /** `changed` is called after something new was read. */
  constructor(files: Pick<RunFilesPort, 'samples'>, changed: () => void) {
    this.#files = files;
    this.#changed = changed;
  }

  /** Null: no samples are shown. */
  want(directories: readonly string[] | null): void {
    for (const [directory, { timer }] of this.#readings) {
      if (directories?.includes(directory) === true) continue;
      clearTimeout(timer);
      this.#readings.delete(directory);
    }
    for (const directory of directories ?? []) {
      if (this.#readings.has(directory)) continue;
      const reading = { samples: undefined, timer: this.#readLater(directory, REST) };
      this.#readings.set(directory, reading);
    }
  }

  /** Undefined until they have been read; null: they cannot be read from here. */
  samples(directory: string): Samples | null | undefined {
    return this.#readings.get(directory)?.samples;
  }

  close(): void {
    this.want(null);
  }

  #readLater(directory: string, wait: number): NodeJS.Timeout {
    return setTimeout(() => void this.#read(directory), wait).unref();
  }

  async #read(directory: string): Promise<void> {
    const begun = performance.now();
    const reading = this.#readings.get(directory);
    const read = (await this.#files.samples?.(directory).catch(() => null)) ?? null;
    // Another run may be shown by now.
    if (reading === undefined || this.#readings.get(directory) !== reading) return;
    // The same samples stay the same object, for which lines are laid out once.
    if (JSON.stringify(read) !== JSON.stringify(reading.samples)) {
      reading.samples = read;
      this.#changed();
    }
    if (read !== null)
      reading.timer = this.#readLater(directory, Math.max(PERIOD, (performance.now() - begun) / SHARE));
  }
}
