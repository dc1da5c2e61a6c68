import { UserError } from '../../base/user-error.js';
import { buildReport } from '../../report/build-report.js';
import { reportReplacer } from '../../report/report-json.js';
import { parseObjective, parseRule, wouldStop } from '../../report/early-stop-replay.js';
import { wouldStopLines } from '../../report/early-stop-lines.js';
import { runsDirectory, type CommonOptions } from '../options.js';
import { printReport } from '../print-report.js';
import { sweepDirectory } from '../sweep-directory.js';
import { sweepObjective } from '../sweep-objective.js';
import { unstartedRuns } from '../unstarted-runs.js';
import { outputWidth, print, printJson } from '../terminal.js';

export type ReportOptions = CommonOptions & { ascii?: boolean; wouldStop?: string; metric?: string };

/** `memrl-tui report SWEEP`: what a sweep came to, finished or not. `--would-stop`: what a rule would have ended in it. */
export async function report([name]: readonly string[], options: ReportOptions): Promise<number> {
  const sweep = name!;
  const directory = sweepDirectory(runsDirectory(options.runs), sweep);
  if (options.wouldStop !== undefined) return replay(sweep, { ...options, rule: options.wouldStop, directory });
  if (options.metric !== undefined) {
    throw new UserError(
      '--metric goes with --would-stop here.',
      "Write for example --would-stop 'asha eta=3 min_iter=5'.",
    );
  }
  if (options.json === true) {
    const waiting = await unstartedRuns(runsDirectory(options.runs), sweep);
    printJson(await buildReport(directory, undefined, waiting), reportReplacer);
  } else await printReport(sweep, options);
  return 0;
}

type Replay = ReportOptions & { readonly rule: string; readonly directory: string };

function replay(sweep: string, { rule, directory, runs, json, ascii, metric }: Replay): number {
  const parsed = parseRule(rule);
  const objective =
    metric === undefined ? sweepObjective(sweep, { ...(runs === undefined ? {} : { runs }) }) : parseObjective(metric);
  const result = wouldStop(directory, parsed, objective);
  if (json === true) printJson(result);
  else print(wouldStopLines(result, { width: outputWidth(), ascii: ascii ?? false }));
  return 0;
}
