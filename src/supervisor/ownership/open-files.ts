import { basename, dirname } from 'node:path';
import { addTo } from '../../base/group-by.js';
import type { RunId } from '../../base/ids.js';
import { type ProcessEntry, readProcess } from '../../processes/process-table.js';
import { pidsNow } from '../../processes/process-usage.js';
import { passTurn } from '../../processes/turn.js';

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

/** The pids of a run's processes, and the files that these have open for writing. */
type AtWork = { readonly pids: Set<number>; readonly files: Set<string> };

/**
 * The processes of runs, by the run's directory: those with its mark and their descendants; and the files that they have open for
 * writing. Empty if there is no /proc. Reads all processes of the machine, in several turns.
 *
 * @param directories Directories of the requested runs.
 * @param isSuch Which files matter; checked before more expensive tests.
 */
export async function runsAtWork(
  directories: ReadonlySet<string>,
  isSuch: (path: string, directory: string) => boolean,
): Promise<Map<string, AtWork>> {
  const runs = new Map<string, AtWork>();
  for (const [entry, directory] of await processesOf(directories)) {
    const { pids, files } = runs.get(directory) ?? { pids: new Set(), files: new Set() };
    runs.set(directory, { pids: pids.add(entry.pid), files });
    for (const path of entry.written((each) => isSuch(each, directory))) files.add(path);
    await passTurn();
  }
  return runs;
}

/** The processes of runs, with the run's directory. */
async function processesOf(directories: ReadonlySet<string>): Promise<Map<ProcessEntry, string>> {
  const members = new Map<ProcessEntry, string>();
  const children = new Map<number, ProcessEntry[]>();
  for (const pid of pidsNow()) {
    const entry = readProcess(pid);
    await passTurn();
    if (entry === null) continue;
    const mark = entry.mark();
    if (mark !== null && directories.has(mark)) members.set(entry, mark);
    if (mark === null) addTo(children, entry.parent, entry);
  }
  // The iteration includes entries that are added meanwhile.
  for (const [{ pid }, directory] of members)
    for (const child of children.get(pid) ?? []) if (!members.has(child)) members.set(child, directory);
  return members;
}
