import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { buildReport } from '../../report/build-report.js';
import { reportReplacer } from '../../report/report-json.js';
import { parseObjective, parseRule, wouldStop } from '../../report/would-stop.js';
import { wouldStopLines } from '../../report/would-stop-lines.js';
import { runsDirectory, type CommonOptions } from '../options.js';
import { printReport } from '../print-report.js';
import { sweepObjective } from '../sweep-objective.js';
import { outputWidth, print, printJson } from '../terminal.js';

export type ReportOptions = CommonOptions & { ascii?: boolean; wouldStop?: string; metric?: string };

/** `memrl-tui report SWEEP`: what a sweep came to, finished or not. `--would-stop`: what a rule would have ended in it. */
export async function report([name]: readonly string[], options: ReportOptions): Promise<number> {
  const sweep = name!;
  if (options.wouldStop !== undefined) return replay(sweep, options.wouldStop, options);
  if (options.metric !== undefined) {
    throw new UserError(
      '--metric goes with --would-stop here.',
      "Write for example --would-stop 'asha eta=3 min_iter=5'.",
    );
  }
  if (options.json === true) printJson(await buildReport(join(runsDirectory(options.runs), sweep)), reportReplacer);
  else await printReport(sweep, options);
  return 0;
}

function replay(sweep: string, rule: string, { runs, json, ascii, metric }: ReportOptions): number {
  const parsed = parseRule(rule);
  const objective =
    metric === undefined ? sweepObjective(sweep, { ...(runs === undefined ? {} : { runs }) }) : parseObjective(metric);
  const result = wouldStop(join(runsDirectory(runs), sweep), parsed, objective);
  if (json === true) printJson(result);
  else print(wouldStopLines(result, { width: outputWidth(), ascii: ascii ?? false }));
  return 0;
}
