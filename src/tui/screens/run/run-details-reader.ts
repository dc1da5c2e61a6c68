import { type RunDetails, type RunFilesPort, readOrWait } from '../../state/port.js';

/** How long a run must stay open before its details are read, in ms. */
const REST = 40;
/** Time between two readings, in ms, because the supervisor writes the details slightly after reporting a change. */
const PERIOD = 2000;

/** Reads the details of the open run repeatedly while it is open; never in answer to a key. */
export class RunDetailsReader {
  readonly #files: RunFilesPort;
  readonly #changed: () => void;
  #directory: string | null = null;
  #text = '';
  #details: RunDetails | null | undefined;
  #timer: NodeJS.Timeout | null = null;

  /** `changed` is called after something new was read. */
  constructor(files: RunFilesPort, changed: () => void) {
    this.#files = files;
    this.#changed = changed;
  }

  /** Null: no run is open. */
  want(directory: string | null): void {
    if (directory === this.#directory) return;
    this.#directory = directory;
    this.#text = '';
    this.#details = undefined;
    this.#schedule(directory === null ? null : REST);
  }

  /** Undefined until they have been read; null: there are none. */
  details(directory: string): RunDetails | null | undefined {
    return directory === this.#directory ? this.#details : undefined;
  }

  close(): void {
    this.#directory = null;
    this.#schedule(null);
  }

  #schedule(delay: number | null): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = delay === null ? null : setTimeout(() => this.#read(), delay);
  }

  #read(): void {
    const directory = this.#directory;
    if (directory === null) return;
    const arrived = () => void (directory === this.#directory && this.#schedule(0));
    const read = readOrWait(() => this.#files.runDetails(directory), arrived);
    if (read === undefined) return;
    const text = JSON.stringify(read);
    const isNews = text !== this.#text;
    this.#text = text;
    if (isNews) this.#details = read;
    this.#schedule(PERIOD);
    if (isNews) this.#changed();
  }
}
