import { UserError } from '../../base/user-error.js';
import { buildReport } from '../../report/build-report.js';
import { parseObjective, parseRule, wouldStop, wouldStopLines } from '../../report/early-stop-replay.js';
import { reportReplacer } from '../../report/report.js';
import type { Spread } from '../../report/spread.js';
import { type CommonOptions, runsDirectory } from '../options.js';
import { printReport, supervisedRuns } from '../print-report.js';
import { knownObjective, runValueOf, sweepObjective } from '../run-value.js';
import { sweepDirectory } from '../sweep-directory.js';
import { outputWidth, print, printAnswer } from '../terminal.js';
import { foundRuns, viewedPaths } from '../viewed-paths.js';
import type { ViewedPath } from '../../view/folder-fleet.js';

type ReportOptions = CommonOptions & {
  ascii?: boolean;
  wouldStop?: string;
  metric?: string;
  value?: string;
  spread?: Spread;
  html?: string;
  figures?: string;
  png?: boolean;
  tests?: boolean;
  against?: string;
};

/** `memrl-tui report SWEEP`: the results of a sweep, finished or not. `--would-stop`: which runs a rule would have ended. */
export async function report([name]: readonly string[], options: ReportOptions): Promise<number> {
  const sweep = name!;
  const viewed = viewedPaths([sweep], options);
  if (viewed.paths.length > 0) return reportFound(viewed.paths[0]!, options);
  const directory = sweepDirectory(runsDirectory(options.runs), sweep);
  if (options.wouldStop !== undefined) return replay(sweep, { ...options, rule: options.wouldStop, directory });
  refuseAlone(options);
  const objective = options.metric === undefined ? undefined : parseObjective(options.metric);
  const value = runValueOf(options.value, sweep, { ...options, objective });
  if (options.html !== undefined || options.figures !== undefined) {
    const { writePage } = await import('../write-page.js');
    await writePage(sweep, { ...options, directory, value, objective: objective ?? knownObjective(sweep, options) });
  } else if (options.json === true) {
    const known = await supervisedRuns(runsDirectory(options.runs), sweep);
    printAnswer('report', await buildReport(directory, { known, value }), reportReplacer);
  } else await printReport(sweep, { ...options, value });
  return 0;
}

/** The report of the runs in a folder of any program. */
async function reportFound(path: ViewedPath, options: ReportOptions): Promise<number> {
  if (options.wouldStop !== undefined)
    throw new UserError('--would-stop is for sweeps that were launched.', 'Leave it out for a folder.');
  refuseAlone(options);
  const objective = options.metric === undefined ? undefined : parseObjective(options.metric);
  const value = runValueOf(options.value, path.path, { ...options, objective });
  const sweep = { directory: path.path, found: await foundRuns([path]) };
  if (options.html !== undefined || options.figures !== undefined) {
    const { writePage } = await import('../write-page.js');
    await writePage(path.label, { ...options, ...sweep, value, objective: objective ?? null });
  } else if (options.json === true) {
    printAnswer('report', await buildReport(path.path, { found: sweep.found, value }), reportReplacer);
  } else await printReport(path.label, { ...options, ...sweep, value });
  return 0;
}

/** @throws {UserError} For options that need another option. */
function refuseAlone({ metric, value, png, figures, tests, against }: ReportOptions): void {
  if (metric !== undefined && value !== 'best') {
    throw new UserError(
      '--metric goes with --would-stop or --value best here.',
      "Write for example --would-stop 'asha eta=3 min_iter=5'.",
    );
  }
  if (against !== undefined && tests !== true)
    throw new UserError('--against goes with --tests.', `Write --tests --against '${against}'.`);
  if (png === true && figures === undefined)
    throw new UserError('--png goes with --figures.', 'Say where to write them: --figures FOLDER --png.');
}

type Replay = ReportOptions & { readonly rule: string; readonly directory: string };

function replay(sweep: string, { rule, directory, runs, json, ascii, metric }: Replay): number {
  const parsed = parseRule(rule);
  const objective =
    metric === undefined ? sweepObjective(sweep, runs === undefined ? {} : { runs }) : parseObjective(metric);
  const result = wouldStop(directory, parsed, objective);
  if (json === true) printAnswer('report-would-stop', result);
  else print(wouldStopLines(result, { width: outputWidth(), ascii: ascii ?? false }));
  return 0;
}
