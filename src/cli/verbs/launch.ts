import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { ensureSupervisor } from '../../client/ensure-supervisor.js';
import type { Fleet } from '../../client/fleet.js';
import { otherOrigin, writeSweepOrigin, writeSweepText } from '../../files/sweep-text.js';
import { readGpus } from '../../gpu/read-gpus.js';
import { supervisorPrograms } from '../open-fleet.js';
import { definedEnvironment, type LaunchOptions, requestedSlots, runsDirectory } from '../options.js';
import { exposedSecrets, withoutSecrets } from '../plan/hidden-secrets.js';
import { planJson } from '../plan/plan-json.js';
import { planLines } from '../plan/plan-lines.js';
import { printReport } from '../print-report.js';
import { readPlan, type ReadPlan } from '../read-plan.js';
import { hasScreen, outputWidth, print, printJson, remark } from '../terminal.js';
import { prepareWindow, watch } from '../watch.js';

/** `memrl-tui FILE`: starts what of a sweep is not done yet, and shows it. Gives the exit code. */
export async function launch(file: string, options: LaunchOptions, command: readonly string[]): Promise<number> {
  return launchPlan(readPlan(file, options, command), file, options);
}

/** The same for a plan that was read. @param file Where its text is from. */
export async function launchPlan(read: ReadPlan, file: string, options: LaunchOptions): Promise<number> {
  // Refused at once, also where there is nothing left to do.
  requestedSlots(options);
  const warning = originWarning(read, file, options);
  if (options.dryRun === true) return showPlan(withNote(read, warning), options);
  if (options.json === true) {
    throw new UserError('--json goes with --dry-run here.', 'For where the runs are, use `memrl-tui status --json`.');
  }
  const { plan } = read;
  const showsScreen = hasScreen() && options.plain !== true;
  if (!showsScreen && isAllDone(read)) return nothingToDo(read, options);
  if (options.detach !== true) prepareWindow(options);
  const fleet = await ensureSupervisor(runsDirectory(options.runs), supervisorPrograms(), { takesOver: true });
  try {
    await submit(fleet, read, options);
    writeSweepOrigin(sweepDirectory(read, options), resolve(file));
    if (warning !== null) remark(warning);
    if (options.detach === true) return left(plan);
    return await watch(fleet, plan.sweep, options, read.fromTable ? null : file);
  } finally {
    fleet.close();
  }
}

/** The runs are on their own. */
function left({ sweep, runs, source }: ReadPlan['plan']): number {
  const count = source === undefined ? `${runs.length} runs are` : 'its runs are';
  print([`${sweep}: ${count} supervised. \`memrl-tui attach ${sweep}\` shows them.`]);
  return 0;
}

/** Whether there is nothing to launch. Of an open sweep nobody knows before the supervisor does. */
function isAllDone({ plan, planned }: ReadPlan): boolean {
  return plan.source === undefined && planned.every(({ standing }) => standing.state === 'done');
}

async function showPlan({ plan: read, planned: whole }: ReadPlan, options: LaunchOptions): Promise<number> {
  const planned = withoutSecrets(whole, definedEnvironment());
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
  const answer = await fleet.submit(plan, definedEnvironment(), requestedSlots(options));
  if (!answer.ok) throw new UserError(answer.message, answer.fix ?? 'Correct it and launch again.');
  // For the reader of the runs directory; what each run was given stands in its own run.json.
  writeSweepText(join(runsDirectory(options.runs), plan.sweep), text);
}

function sweepDirectory({ plan }: ReadPlan, options: LaunchOptions): string {
  return join(runsDirectory(options.runs), plan.sweep);
}

/** Two files of one sweep's name: their runs come together, which is seldom meant. */
function originWarning(read: ReadPlan, file: string, options: LaunchOptions): string | null {
  const directory = sweepDirectory(read, options);
  const other = otherOrigin(directory, resolve(file), read.text);
  if (other === null) return null;
  const { sweep } = read.plan;
  return `${sweep} was launched from another file before: ${other}. Its runs and those of ${file} are in one sweep, ${directory}, which keeps the text of both; give one of the files another \`name\` if they are two sweeps.`;
}

function withNote(read: ReadPlan, note: string | null): ReadPlan {
  if (note === null) return read;
  return { ...read, plan: { ...read.plan, notes: [...(read.plan.notes ?? []), note] } };
}

/** Where runs would go on this machine: `gpu 0` … and `cpu 0` …, as the supervisor would grant them with nothing else running. */
async function machineSlots(options: LaunchOptions): Promise<string[]> {
  const wish = requestedSlots(options);
  const gpus = wish.gpus === undefined ? await presentGpus() : wish.gpus === 'none' ? [] : wish.gpus;
  const cpus = Array.from({ length: wish.slots ?? availableParallelism() }, (_, index) => `cpu ${index}`);
  return [...gpus.map((index) => `gpu ${index}`), ...cpus];
}

async function presentGpus(): Promise<number[]> {
  const reading = await readGpus(process.env);
  return reading.kind === 'gpus' ? reading.gpus.map(({ index }) => index) : [];
}
