import { dirname, join } from 'node:path';
import { runFiles as files } from '../contract/files.js';
import { packageCount, readRunRecord } from '../files/run-record-file.js';
import { fileSource, lastLines } from '../logs/log-source.js';
import { openOutlinedMetrics } from '../metrics/outlined-metrics.js';
import type { RunDetails, RunFilesPort } from './port.js';

/** The run directories on this machine. */
export const runFiles: RunFilesPort = {
  metrics: openOutlinedMetrics,
  logTail: (directory, count) => lastLines(join(directory, files.log), count),
  openLog: (directory) => fileSource(join(directory, files.log)),
  dossier: readDossier,
};

/** The files about the code lie in the directory of the sweep. */
function readDossier(directory: string): RunDetails | null {
  const record = readRunRecord(directory);
  if (record === null) return null;
  const { packages } = record;
  return { record, packages: typeof packages === 'string' ? packageCount(join(dirname(directory), packages)) : null };
}
