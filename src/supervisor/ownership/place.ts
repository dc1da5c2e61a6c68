import { statRegular } from '../../files/regular-file.js';
import { isMetricsName } from '../../metrics/metrics-file.js';
import { RunFolders } from '../../metrics/run-folders.js';

/** A file that may hold metrics. `born` null: the file system does not record it. Unix ms. */
export type SeenFile = { readonly path: string; readonly born: number | null; readonly changed: number };

/** Limit on the number of folders that are searched. */
const MOST_FOLDERS = 512;
/** Limit on the number of files that are followed. */
const MOST_FILES = 4096;
/** A file from before all live runs is checked again after so many looks, as another may have replaced it. */
const LOOKS_APART = 16;

/** The files of metrics below a working directory, and below the paths outside it that its runs name. */
export class Place {
  readonly #root: string;
  readonly #folders = new RunFolders(null, MOST_FOLDERS);
  #named: readonly string[] = [];
  #isNew = true;
  /** Older files, and the look at which each was checked. */
  readonly #old = new Map<string, number>();
  #looks = 0;

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * Looks for files that were created or changed since `since`, in steps.
   *
   * @param named Files and folders outside the working directory. @param since Unix ms.
   */
  *look(named: readonly string[], since: number): Generator<SeenFile | null, void> {
    const isSame = named.length === this.#named.length && named.every((path, index) => path === this.#named[index]);
    // Named paths come first, as the working directory may exceed the limits.
    if (this.#isNew || !isSame) this.#folders.place([...named, this.#root], []);
    this.#named = named;
    this.#isNew = false;
    this.#looks += 1;
    for (const steps = this.#folders.lookInSteps(); steps.next().done !== true;) yield null;
    const files = this.#folders.files.slice(0, MOST_FILES).map(({ path }) => path);
    for (const path of [...named, ...files]) if (isMetricsName(path)) yield this.#fileAt(path, since);
  }

  #fileAt(path: string, since: number): SeenFile | null {
    const lookedAt = this.#old.get(path);
    if (lookedAt !== undefined && this.#looks - lookedAt < LOOKS_APART) return null;
    const file = seenFile(path);
    const isOld = file !== null && file.changed < since;
    if (isOld) this.#old.set(path, this.#looks);
    else this.#old.delete(path);
    return isOld ? null : file;
  }
}

/** The times of a file; null: there is none. */
export function seenFile(path: string): SeenFile | null {
  const there = statRegular(path);
  if (there.kind !== 'file') return null;
  const { birthtimeMs: born, mtimeMs } = there.stat;
  // A copy may keep the modification time of its original.
  return born > 0 ? { path, born, changed: Math.max(born, mtimeMs) } : { path, born: null, changed: mtimeMs };
}
