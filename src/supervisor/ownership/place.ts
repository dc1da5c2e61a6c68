import { statRegular } from '../../files/regular-file.js';
import { isMetricsName } from '../../metrics/metrics-file.js';
import { RunFolders } from '../../metrics/run-folders.js';

/** A file that may hold metrics. `born` null: the file system does not know. Unix ms. */
export type SeenFile = { readonly path: string; readonly born: number | null; readonly changed: number };

/** Folders that are looked into. */
const MOST_FOLDERS = 512;
/** Files of metrics that are kept up with. */
const MOST_FILES = 4096;
/** One that was there before all runs that are up is looked at again after so many looks: another may have taken its place. */
const LOOKS_APART = 16;

/** The files of metrics below a working directory, and below what its runs name beside it. */
export class Place {
  readonly #root: string;
  readonly #folders = new RunFolders(null, MOST_FOLDERS);
  #named: readonly string[] = [];
  #isNew = true;
  /** Files from before, and at which look that was seen. */
  readonly #old = new Map<string, number>();
  #looks = 0;

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * Looks what was made or changed since then, a step at a time.
   *
   * @param named Files and folders beside it. @param since Unix ms.
   */
  *look(named: readonly string[], since: number): Generator<SeenFile | null, void> {
    const isSame = named.length === this.#named.length && named.every((path, index) => path === this.#named[index]);
    // What is named comes first: below the working directory there may be more than is looked at.
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

/** Null: there is no file. */
export function seenFile(path: string): SeenFile | null {
  const there = statRegular(path);
  if (there.kind !== 'file') return null;
  const { birthtimeMs: born, mtimeMs } = there.stat;
  // A copy may keep the time of what it was copied from.
  return born > 0 ? { path, born, changed: Math.max(born, mtimeMs) } : { path, born: null, changed: mtimeMs };
}
