import { basename, dirname } from 'node:path';
import type { RunId } from '../../base/ids.js';

/** The files that runs keep open for writing in their working directories: logs, event files and metrics. */
export class OpenFiles {
  readonly #ofRun = new Map<RunId, Map<string, string>>();
  readonly #paths = new Map<RunId, Set<string>>();

  note(id: RunId, path: string): void {
    const known = this.#ofRun.get(id) ?? new Map<string, string>();
    this.#ofRun.set(id, known.set(basename(path), dirname(path)));
    this.#paths.set(id, (this.#paths.get(id) ?? new Set()).add(path));
  }

  /** Those of the runs that had another file open whose name differs from this one's only in numbers, which is then theirs. */
  holdersBeside(path: string, ids: readonly RunId[]): RunId[] {
    const name = withoutNumbers(path);
    const isLike = (each: string) => each !== path && withoutNumbers(each) === name;
    return ids.filter((id) => [...(this.#paths.get(id) ?? [])].some(isLike));
  }

  forget(id: RunId): void {
    this.#ofRun.delete(id);
    this.#paths.delete(id);
  }

  /**
   * The run whose own folder contains a file, of those that may have written it: it keeps a file open in that folder or one above,
   * and each of the others keeps one of the same name open elsewhere. Null: there is no such run.
   *
   * @param below Folders that belong to no single run.
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

function withoutNumbers(path: string): string {
  return basename(path).replace(/\d+/g, '0');
}
