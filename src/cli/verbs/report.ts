import { join } from 'node:path';
import { buildReport } from '../../report/build-report.js';
import { reportJson } from '../../report/report-json.js';
import { runsDirectory, type LaunchOptions } from '../options.js';
import { printReport } from '../print-report.js';
import { print } from '../terminal.js';

/** `memrl-tui report SWEEP`: what a sweep came to, finished or not. */
export async function report([name]: readonly string[], options: LaunchOptions): Promise<number> {
  const sweep = name!;
  if (options.json === true) print([reportJson(buildReport(join(runsDirectory(options.runs), sweep)))]);
  else printReport(sweep, options);
  return 0;
}
