import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { sweepFiles } from '../../contract/files.js';
import { buildReport } from '../../report/build-report.js';
import { parseObjective, parseRule, wouldStop, wouldStopLines } from '../../report/early-stop-replay.js';
import { reportReplacer } from '../../report/report.js';
import type { Objective } from '../../spec/planned-run.js';
import { type CommonOptions, runsDirectory } from '../options.js';
import { printReport, unstartedRuns } from '../print-report.js';
import { readPlan } from '../read-plan.js';
import { sweepDirectory } from '../sweep-directory.js';
import { outputWidth, print, printJson } from '../terminal.js';

export type ReportOptions = CommonOptions & { ascii?: boolean; wouldStop?: string; metric?: string };

/** `memrl-tui report SWEEP`: the results of a sweep, finished or not. `--would-stop`: what a rule would have ended in it. */
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

/**
 * What a sweep that was launched tries to make large or small, by the file kept beside its runs.
 *
 * @throws {UserError} When the file says nothing of it.
 */
function sweepObjective(sweep: string, { runs }: CommonOptions): Objective {
  const objective = objectiveIn(join(runsDirectory(runs), sweep, sweepFiles.text), runs);
  if (objective !== null) return objective;
  throw new UserError(`The sweep file of ${sweep} has no \`metric\`.`, "Name one: --metric 'minimize test/loss'.");
}

function objectiveIn(path: string, runs: string | undefined): Objective | null {
  try {
    const { plan } = readPlan(path, runs === undefined ? {} : { runs });
    return plan.runs.find(({ objective }) => objective !== null)?.objective ?? null;
  } catch (error) {
    // An older file, or none: the person can still say it.
    if (error instanceof UserError) return null;
    throw error;
  }
}
