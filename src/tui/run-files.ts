import { dirname, join } from 'node:path';
import { packageCount, readRunRecord } from '../files/run-record-file.js';
import { fileSource, lastLines } from '../logs/log-source.js';
import { OutlinedLog } from '../metrics/outlined-log.js';
import type { RunDetails, RunFilesPort } from './port.js';

/** Names of the files in a run directory (`contract/files.ts`, which this part does not import; a test compares them). */
export const names = { metrics: 'metrics.jsonl', log: 'output.log' } as const;

/** The run directories on this machine. */
export const runFiles: RunFilesPort = {
  metrics: (directory) => new OutlinedLog(join(directory, names.metrics)),
  logTail: (directory, count) => lastLines(join(directory, names.log), count),
  openLog: (directory) => fileSource(join(directory, names.log)),
  dossier: readDossier,
};

/** The files about the code lie in the directory of the sweep. */
function readDossier(directory: string): RunDetails | null {
  const record = readRunRecord(directory);
  if (record === null) return null;
  const { packages } = record;
  return { record, packages: typeof packages === 'string' ? packageCount(join(dirname(directory), packages)) : null };
}
