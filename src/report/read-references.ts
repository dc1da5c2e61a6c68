import { join } from 'node:path';
import { References } from '../analysis/compared.js';
import { runFiles } from '../contract/files.js';
import { parseJsonLine } from '../contract/json-line.js';
import { ReferenceFile } from '../contract/reference-file.js';
import { readIfThere } from '../files/run-record-file.js';

/** The files of `memrl ideal` beside the runs of a sweep, then those in the runs; invalid ones are skipped. */
export function readReferences(directory: string, runs: readonly { readonly directory: string }[]): References {
  const folders = [directory, ...runs.map((run) => run.directory)];
  return new References(folders.flatMap((folder) => readReference(join(folder, runFiles.reference)) ?? []));
}

function readReference(path: string): ReferenceFile | null {
  const text = readIfThere(path);
  // An incomplete or foreign file is skipped.
  return text === null ? null : (ReferenceFile.safeParse(parseJsonLine(text)).data ?? null);
}
