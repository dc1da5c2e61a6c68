import { readOrWait, type RunFilesPort } from '../state/port.js';

const none: readonly string[] = [];

/** The parameters that a sweep computes from seeds, read once for the sweep that is shown. */
export class SeedNames {
  readonly #files: Pick<RunFilesPort, 'fromSeeds'>;
  readonly #changed: () => void;
  #known: { readonly directory: string; readonly names: readonly string[] } | null = null;

  /** @param changed Called when names have arrived that were not there yet. */
  constructor(files: Pick<RunFilesPort, 'fromSeeds'>, changed: () => void) {
    this.#files = files;
    this.#changed = changed;
  }

  /** Returns the same list while the sweep is the same. @param directory That of the sweep; undefined: there is none. */
  of(directory: string | undefined): readonly string[] {
    if (directory === undefined) return none;
    if (this.#known?.directory !== directory) {
      const names = readOrWait(() => this.#files.fromSeeds?.(directory) ?? none, this.#changed);
      if (names === undefined) return none;
      this.#known = { directory, names };
    }
    return this.#known.names;
  }
}
