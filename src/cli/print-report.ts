import { join } from 'node:path';
import { buildReport } from '../report/build-report.js';
import type { Pause } from '../report/read-to-end.js';
import { reportLines } from '../report/report-lines.js';
import { runsDirectory, type LaunchOptions } from './options.js';
import { outputWidth, print } from './terminal.js';
import { unstartedRuns } from './unstarted-runs.js';

/** Reads what a sweep has come to. Gives what lays it out as lines of so many columns. */
export async function readReport(
  sweep: string,
  { runs, ascii }: LaunchOptions,
  pause?: Pause,
): Promise<(width: number) => string[]> {
  const directory = runsDirectory(runs);
  // The window has them in its list, and is drawn anew many times.
  const report = await buildReport(
    join(directory, sweep),
    pause,
    pause === undefined ? await unstartedRuns(directory, sweep) : [],
  );
  return (width) => reportLines(report, { width, ascii: ascii ?? false });
}

/** Prints what a sweep has come to. */
export async function printReport(sweep: string, options: LaunchOptions): Promise<void> {
  const lay = await readReport(sweep, options);
  print(lay(outputWidth()));
}
