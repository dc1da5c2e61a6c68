import { expandSweep } from '../spec/expand/expand-sweep.js';
import { parseSweepFile } from '../spec/file/parse-sweep-file.js';
import type { Plan } from '../spec/planned-run.js';
import { doneTest } from '../spec/policy/done-rule.js';
import { completionOf } from '../spec/policy/completion.js';
import { readRunFacts } from '../files/completion-facts.js';
import { runsDirectory, type LaunchOptions } from './options.js';
import type { Planned } from './plan/planned.js';
import { readSweepText } from './read-sweep-text.js';

/** A sweep file as it would run here and now. */
export type ReadPlan = { readonly text: string; readonly plan: Plan; readonly planned: readonly Planned[] };

/**
 * Reads a sweep file, expands it, and looks up what is left to do of each run. Changes nothing.
 *
 * @throws {UserError} When the file cannot be read, or does not say what a sweep file says.
 */
export function readPlan(path: string, { runs, set, sweep }: LaunchOptions): ReadPlan {
  const text = readSweepText(path);
  const plan = expandSweep(parseSweepFile(text, path), {
    runsDirectory: runsDirectory(runs),
    cwd: process.cwd(),
    environment: process.env,
    ...(set === undefined ? {} : { set }),
    ...(sweep === undefined ? {} : { groups: sweep }),
  });
  const planned = plan.runs.map((run) => ({
    run,
    standing: completionOf(run, readRunFacts(run.directory, run.done, doneTest(run))),
  }));
  return { text, plan, planned };
}
