import type { DiskUsage } from '../../../files/disk/disk-usage.js';
import type { RunFilesPort, UsageReading } from '../../state/port.js';

/** How long a run must stay open before it is measured, in ms. */
const REST = 200;
/** Pause between two parts of the work, in ms, so that a slow disk does not block the window. */
const BETWEEN = 5;

/** Measures the disk usage of the open run while its configuration is shown: once per visit, one part at a time. */
export class DiskUsageReader {
  readonly #files: Pick<RunFilesPort, 'usage'>;
  readonly #changed: () => void;
  #directory: string | null = null;
  #reading: UsageReading | null = null;
  #timer: NodeJS.Timeout | null = null;

  /** `changed` is called when the measurement is complete. */
  constructor(files: Pick<RunFilesPort, 'usage'>, changed: () => void) {
    this.#files = files;
    this.#changed = changed;
  }

  /** Null: no run is shown. */
  want(directory: string | null): void {
    if (directory === this.#directory) return;
    this.close();
    this.#directory = directory;
    if (directory !== null) this.#timer = setTimeout(() => this.#read(directory), REST);
  }

  /** Null: not measured yet. */
  usage(directory: string): DiskUsage | null {
    return directory === this.#directory && this.#reading?.isOver === true ? this.#reading.usage : null;
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#reading?.close();
    this.#timer = this.#reading = this.#directory = null;
  }

  #read(directory: string): void {
    this.#reading ??= this.#files.usage?.(directory) ?? null;
    if (this.#reading === null) return;
    this.#reading.step();
    if (this.#reading.isOver) this.#changed();
    else this.#timer = setTimeout(() => this.#read(directory), BETWEEN);
  }
}
