import { join } from 'node:path';
import { References } from '../analysis/compared.js';
import { runFiles } from '../contract/files.js';
import { parseJsonLine } from '../contract/json-line.js';
import { ReferenceFile } from '../contract/reference-file.js';
import { readIfThere } from '../files/run-record-file.js';

/** What `memrl ideal` wrote beside the runs of a sweep, then what it wrote in them; files that are no such are passed over. */
export function readReferences(directory: string, runs: readonly { readonly directory: string }[]): References {
  const folders = [directory, ...runs.map((run) => run.directory)];
  return new References(folders.flatMap((folder) => readReference(join(folder, runFiles.reference)) ?? []));
}

function readReference(path: string): ReferenceFile | null {
  const text = readIfThere(path);
  // Torn, or another program's, it is none.
  return text === null ? null : (ReferenceFile.safeParse(parseJsonLine(text)).data ?? null);
}
