import { addTo } from '../base/group-by.js';
import { pidsNow } from './process-usage.js';
import { type ProcessEntry, readProcess } from './process-table.js';
import { passTurn } from './turn.js';

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
