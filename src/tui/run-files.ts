import { join } from 'node:path';
import { lastLines } from '../store/log-tail.js';
import { MetricLog } from '../store/metric-log.js';
import { type RunFilesPort } from './port.js';

/** Names of the files in a run directory (`contract/files.ts`, which this part does not import; a test compares them). */
export const names = { metrics: 'metrics.jsonl', log: 'output.log' } as const;

/** The run directories on this machine. */
export const runFiles: RunFilesPort = {
  metrics: (directory) => new MetricLog(join(directory, names.metrics)),
  logTail: (directory, count) => lastLines(join(directory, names.log), count),
};
