import type { Samples } from '../../../logs/samples.js';
import type { RunFilesPort } from '../../state/port.js';

/** How long the pane must be open before the samples are read, and the least time between two readings, ms. */
const REST = 40;
const PERIOD = 5000;
/** Share of the time that reading may take. */
const SHARE = 0.1;

/** Reads the samples of the open run while they are shown, again and again; never in answer to a key. */
export class SamplesReader {
  readonly #files: Pick<RunFilesPort, 'samples'>;
  readonly #changed: () => void;
  #directory: string | null = null;
  #samples: Samples | null | undefined;
  #timer: NodeJS.Timeout | null = null;

  /** `changed` is called after something new was read. */
  constructor(files: Pick<RunFilesPort, 'samples'>, changed: () => void) {
    this.#files = files;
    this.#changed = changed;
  }

  /** Null: no samples are shown. */
  want(directory: string | null): void {
    if (directory === this.#directory) return;
    this.close();
    this.#samples = undefined;
    this.#directory = directory;
    if (directory !== null) this.#readLater(directory, REST);
  }

  /** Undefined until they have been read; null: they cannot be read from here. */
  samples(directory: string): Samples | null | undefined {
    return directory === this.#directory ? this.#samples : undefined;
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = this.#directory = null;
  }

  #readLater(directory: string, wait: number): void {
    this.#timer = setTimeout(() => void this.#read(directory), wait).unref();
  }

  async #read(directory: string): Promise<void> {
    const begun = performance.now();
    const read = (await this.#files.samples?.(directory)) ?? null;
    if (directory !== this.#directory) return;
    // The same samples stay the same object, for which lines are laid out once.
    if (JSON.stringify(read) !== JSON.stringify(this.#samples)) {
      this.#samples = read;
      this.#changed();
    }
    if (read !== null) this.#readLater(directory, Math.max(PERIOD, (performance.now() - begun) / SHARE));
  }
}
