import type { DiskUsage } from '../../../files/disk/disk-usage.js';
import type { RunFilesPort, UsageReading } from '../../state/port.js';

/** Who passes by does not have it measured, ms. */
const REST = 200;
/** Between two parts of the work, ms: on a disk that is far away the window has to go on meanwhile. */
const BETWEEN = 5;

/** Measures what the open run takes on its disk while its configuration is looked at: once each time, a part at a time. */
export class DiskUsageReader {
  readonly #files: Pick<RunFilesPort, 'usage'>;
  readonly #changed: () => void;
  #directory: string | null = null;
  #reading: UsageReading | null = null;
  #timer: NodeJS.Timeout | null = null;

  /** `changed` is called once it is measured. */
  constructor(files: Pick<RunFilesPort, 'usage'>, changed: () => void) {
    this.#files = files;
    this.#changed = changed;
  }

  /** Null: none is looked at. */
  want(directory: string | null): void {
    if (directory === this.#directory) return;
    this.close();
    this.#directory = directory;
    if (directory !== null) this.#timer = setTimeout(() => this.#read(directory), REST);
  }

  /** Null: it is not measured yet. */
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
