import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { ensureSupervisor } from '../../client/ensure-supervisor.js';
import type { Fleet } from '../../client/fleet.js';
import { writeSweepText } from '../../store/sweep-text.js';
import { definedEnvironment } from '../environment.js';
import { machineSlots } from '../machine-slots.js';
import { runsDirectory, slotWish, type LaunchOptions } from '../options.js';
import { exposedSecrets } from '../plan/exposed-secrets.js';
import { planJson } from '../plan/plan-json.js';
import { planLines } from '../plan/plan-lines.js';
import { readPlan, type ReadPlan } from '../read-plan.js';
import { printReport } from '../print-report.js';
import { supervisorPrograms } from '../supervisor-programs.js';
import { hasScreen, outputWidth, print, printJson } from '../terminal.js';
import { prepareWindow, watch } from '../watch.js';

/** `memrl-tui FILE`: starts what of a sweep is not done yet, and shows it. Gives the exit code. */
export async function launch(file: string, options: LaunchOptions): Promise<number> {
  // Refused at once, also where there is nothing left to do.
  slotWish(options);
  const read = readPlan(file, options);
  if (options.dryRun === true) return showPlan(read, options);
  if (options.json === true) {
    throw new UserError('--json goes with --dry-run here.', 'For where the runs are, use `memrl-tui status --json`.');
  }
  const { plan, planned } = read;
  const showsScreen = hasScreen() && options.plain !== true;
  if (!showsScreen && planned.every(({ standing }) => standing.state === 'done')) return nothingToDo(read, options);
  if (options.detach !== true) prepareWindow(options);
  const fleet = await ensureSupervisor(runsDirectory(options.runs), supervisorPrograms(), { takesOver: true });
  try {
    await submit(fleet, read, options);
    if (options.detach === true) {
      print([
        `${plan.sweep}: ${plan.runs.length} runs are looked after. \`memrl-tui attach ${plan.sweep}\` shows them.`,
      ]);
      return 0;
    }
    return await watch(fleet, plan.sweep, options, file);
  } finally {
    fleet.close();
  }
}

async function showPlan({ plan: read, planned }: ReadPlan, options: LaunchOptions): Promise<number> {
  const secrets = exposedSecrets(read.runs, definedEnvironment());
  const plan = { ...read, notes: [...(read.notes ?? []), ...(secrets === null ? [] : [secrets])] };
  const slots = await machineSlots(options);
  if (options.json === true) printJson(planJson(planned, plan, slots));
  else print(planLines(planned, plan, { width: outputWidth(), verbose: options.verbose ?? false, slots }));
  return 0;
}

async function nothingToDo({ plan }: ReadPlan, options: LaunchOptions): Promise<number> {
  print([`${plan.sweep}: nothing to do, all ${plan.runs.length} runs are done.`, '']);
  await printReport(plan.sweep, options);
  return 0;
}

async function submit(fleet: Fleet, { plan, text }: ReadPlan, options: LaunchOptions): Promise<void> {
  await fleet.ready();
  const answer = await fleet.submit(plan, definedEnvironment(), slotWish(options));
  if (!answer.ok) throw new UserError(answer.message, answer.fix ?? 'Correct it and launch again.');
  // For the reader of the runs directory; what each run was given stands in its own run.json.
  writeSweepText(join(runsDirectory(options.runs), plan.sweep), text);
}
