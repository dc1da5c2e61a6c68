import { addTo } from '../base/group-by.js';
import { pidsNow } from './process-usage.js';
import { type ProcessEntry, readProcess } from './process-table.js';
import { passTurn } from './turn.js';

/** The numbers of its processes, and the files that they have open for writing. */
export type AtWork = { readonly pids: Set<number>; readonly files: Set<string> };

/**
 * The processes of runs, by the directory of the run: those that carry its mark, and what they have started; and what they have
 * open for writing. Nothing where there is no /proc. Reads all processes of the machine, in turns.
 *
 * @param directories Of the runs that are asked for. @param isSuch Which files matter; asked before it costs more.
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

/** With the directory of its run. */
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
  // A map that grows while it is walked is walked to its end.
  for (const [{ pid }, directory] of members)
    for (const child of children.get(pid) ?? []) if (!members.has(child)) members.set(child, directory);
  return members;
}
