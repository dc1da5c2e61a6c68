import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { ensureSupervisor } from '../../client/ensure-supervisor.js';
import { confirm } from '../act-on-runs.js';
import { exitCodes } from '../answers/exit-codes.js';
import { definedEnvironment, type LaunchOptions, runsDirectory } from '../options.js';
import { requestedSlots } from '../slot-options.js';
import { hasPerson, hasScreen, passingLine, print, remark } from '../terminal.js';
import { prepareWindow } from '../watch.js';
import { compared } from './compare.js';
import { isAgreed, skippedNote } from './confirm.js';
import { launchNotes, loggingNotes } from './notes.js';
import { leftOutNow, optionWords, planOf, type ReadPlan, type ReadSweep, readSweep, withLeftOut } from './read.js';
import { isAllOver, nothingToDo, planCount, show, showPlan } from './show.js';
import { keepText, programsFor, refuseImpossibleJobs, snapshotNotes, submit, surveysOf } from './submit.js';

/** `memrl-tui FILE`: starts the runs of a sweep that are not done, and shows it. Returns the exit code. */
export async function launch(file: string, options: LaunchOptions, command: readonly string[]): Promise<number> {
  // A plan is there at once, and is all that is printed.
  if (options.dryRun !== true) passingLine(`reading ${file} …`);
  const read = readSweep(file, command);
  return launchPlan(planOf(read, await keptOptions(read, options)), file);
}

/**
 * Launches a plan: compares it with the runs that are there, asks whether those may be changed, submits it, and shows its runs.
 * Returns the exit code.
 *
 * @param file The file of its text.
 */
export async function launchPlan(asRead: ReadPlan, file: string): Promise<number> {
  const { options, plan } = asRead;
  const directory = runsDirectory(options.runs);
  // Invalid options are refused at once, even if nothing is left to do.
  requestedSlots(options);
  const notes = launchNotes(asRead, file);
  await refuseImpossibleJobs(asRead);
  const surveys = await surveysOf(plan, directory, definedEnvironment());
  if (options.dryRun === true)
    return showPlan(asRead, [...notes, ...loggingNotes(asRead), ...snapshotNotes(plan, surveys)]);
  if (options.json === true) {
    throw new UserError('--json goes with --dry-run here.', 'For where the runs are, use `memrl-tui status --json`.');
  }
  const showsScreen = hasScreen() && options.plain !== true;
  if (!showsScreen && (await isAllOver(asRead))) return nothingToDo(asRead);
  if (options.detach !== true) prepareWindow(options);
  const count = planCount(asRead);
  passingLine(`${plan.sweep}: ${count} · connecting to the supervisor …`);
  const fleet = await ensureSupervisor(directory, programsFor(asRead), { takesOver: true });
  try {
    await fleet.ready();
    const comparison = compared(asRead, fleet);
    if (!(await isAgreed(comparison, fleet))) return exitCodes.refused;
    passingLine(`${plan.sweep}: submitting ${count} …`);
    await submit(fleet, comparison.plan, surveys);
    const unkept = keepText(comparison.plan, file);
    for (const note of unkept === null ? notes : [...notes, unkept]) remark(note);
    return await show(fleet, comparison.plan, { file, note: skippedNote(comparison.difference) });
  } finally {
    fleet.close();
  }
}

/**
 * The options, with those of the last launch that this one lacks if the user wants to keep them. Without them the same file has
 * another meaning than before, which may be unintended.
 */
async function keptOptions({ file: { name } }: ReadSweep, options: LaunchOptions): Promise<LaunchOptions> {
  const left = leftOutNow(join(runsDirectory(options.runs), name), options);
  if (left === null || options.dryRun === true || options.yes === true || !hasPerson()) return options;
  const words = optionWords(left);
  print([`${name} was launched with ${words} last, and now is without.`]);
  return (await confirm(`Keep ${words}?`)) ? withLeftOut(options, left) : options;
}
