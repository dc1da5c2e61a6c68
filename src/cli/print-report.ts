import { join } from 'node:path';
import { buildReport } from '../report/build-report.js';
import { reportLines } from '../report/view/report-lines.js';
import { runsDirectory, type LaunchOptions } from './options.js';
import { outputWidth, print } from './terminal.js';

/** Prints what a sweep has come to. */
export async function printReport(sweep: string, { runs, ascii }: LaunchOptions): Promise<void> {
  const report = await buildReport(join(runsDirectory(runs), sweep));
  print(reportLines(report, { width: outputWidth(), ascii: ascii ?? false }));
}
