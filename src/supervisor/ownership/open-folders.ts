import { basename, dirname } from 'node:path';
import type { RunId } from '../../base/ids.js';

/** In which folders runs keep files open for writing, by the names of the files: a log, a file of events. */
export class OpenFolders {
  readonly #ofRun = new Map<RunId, Map<string, string>>();

  note(id: RunId, path: string): void {
    const known = this.#ofRun.get(id) ?? new Map<string, string>();
    this.#ofRun.set(id, known.set(basename(path), dirname(path)));
  }

  forget(id: RunId): void {
    this.#ofRun.delete(id);
  }

  /**
   * Of runs that may have written a file, the one whose own folder it lies in: it keeps a file open there, or in a folder above,
   * and each of the others one of the same name somewhere else. Null: that cannot be said of any.
   *
   * @param below Folders that are no run's own.
   */
  ownerOf(path: string, ids: readonly RunId[], below: readonly string[]): RunId | null {
    for (let folder = dirname(path); folder.length > 1 && !below.includes(folder); folder = dirname(folder)) {
      const holders = ids.filter((id) => this.#namesIn(id, folder).length > 0);
      if (holders.length > 1) return null;
      const [holder] = holders;
      if (holder === undefined) continue;
      const names = this.#namesIn(holder, folder);
      const isElsewhere = (id: RunId) => names.some((name) => this.#ofRun.get(id)?.has(name) === true);
      return ids.every((id) => id === holder || isElsewhere(id)) ? holder : null;
    }
    return null;
  }

  #namesIn(id: RunId, folder: string): string[] {
    return [...(this.#ofRun.get(id) ?? [])].filter(([, each]) => each === folder).map(([name]) => name);
  }
}
