import { join } from 'node:path';
import { buildReport } from '../report/build-report.js';
import { reportLines } from '../report/view/report-lines.js';
import { runsDirectory, type LaunchOptions } from './options.js';
import { outputWidth, print } from './terminal.js';

/** What a sweep has come to, as text. `width` in columns. */
export function reportText(sweep: string, { runs, ascii }: LaunchOptions, width: number): string[] {
  return reportLines(buildReport(join(runsDirectory(runs), sweep)), { width, ascii: ascii ?? false });
}

export function printReport(sweep: string, options: LaunchOptions): void {
  print(reportText(sweep, options, outputWidth()));
}
