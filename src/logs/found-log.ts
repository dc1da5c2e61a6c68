import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../contract/files.js';
import { hydraLog } from '../files/hydra-log.js';
import { statRegular } from '../files/regular-file.js';

/** Where programs keep what a run prints, the likely first: our own, sacred's, guild's, W&B's, the tinker-cookbook's. */
const usual = [
  runFiles.log,
  'cout.txt',
  '.guild/output',
  'files/output.log',
  'logs.log',
  'log.txt',
  'stdout.txt',
  'train.log',
];
const MOST_ENTRIES = 1024;

/** Path of the log in the directory of a run of any program: a usual name, the one that Hydra gives it, else the only file that is called `….log` (`….out`, `….err`). */
export function foundLog(directory: string): string {
  const [own, ...others] = usual.map((name) => join(directory, name));
  const named = [own!, hydraLog(directory) ?? own!, ...others].find((path) => statRegular(path).kind === 'file');
  if (named !== undefined) return named;
  const logs = logsIn(directory);
  return logs.length === 1 ? join(directory, logs[0]!) : join(directory, runFiles.log);
}

function logsIn(directory: string): string[] {
  try {
    const names = readdirSync(directory).slice(0, MOST_ENTRIES);
    const logs = names.filter((name) => /\.log$/i.test(name));
    return logs.length > 0 ? logs : names.filter((name) => /\.(out|err)$/i.test(name));
  } catch {
    return [];
  }
}
