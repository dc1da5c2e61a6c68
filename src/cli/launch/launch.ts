import { join } from 'node:path';
import { GpuIndex, gpuName } from '../../base/ids.js';
import { hasEnded } from '../../base/run-words.js';
import { UserError } from '../../base/user-error.js';
import { ensureSupervisor, lockOf } from '../../client/ensure-supervisor.js';
import type { Fleet } from '../../client/fleet.js';
import { nothingKnown } from '../../gpu/gpu.js';
import { readGpus } from '../../gpu/read-gpus.js';
import { refuseNiceness } from '../../launch/niceness.js';
import { chooseSlots, refuseTooManyCores, type SlotChoice, visibleOf } from '../../launch/slot-choice.js';
import { usableCores } from '../../processes/usable-cores.js';
import type { Plan } from '../../spec/planned-run.js';
import { policyWords } from '../../spec/policy/policy-words.js';
import { countedRuns } from '../../text/numbers.js';
import { confirm } from '../act-on-runs.js';
import { exitCodes } from '../answers/exit-codes.js';
import type { Answers } from '../answers/schemas.js';
import { fleetIfUp } from '../open-fleet.js';
import { definedEnvironment, type LaunchOptions, requestedSlots, runsDirectory } from '../options.js';
import { localZone, own } from '../ports.js';
import { printReport } from '../print-report.js';
import { isoTime } from '../show/run-table.js';
import { hasPerson, hasScreen, outputWidth, passingLine, print, printAnswer, remark } from '../terminal.js';
import { prepareWindow, watch } from '../watch.js';
import { type Change, compared, type Difference, isOutdated, resumes } from './compare.js';
import { differenceLines, isAgreed, skippedNote } from './confirm.js';
import { launchNotes, loggingNotes, runNotes, slurmSlots } from './notes.js';
import { leftOutNow, optionWords, planOf, type ReadPlan, type ReadSweep, readSweep, withLeftOut } from './read.js';
import { keepText, programsFor, refuseImpossibleJobs, snapshotNotes, submit, surveysOf } from './submit.js';
import { type Estimate, estimateOf, timeOf } from './estimate.js';
import { planLines } from './plan-lines.js';
import { plannedStart, startWords } from './start-time.js';

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

/** `note`: what the window says first. */
type Begun = { readonly file: string; readonly note: string | null };

/** After the submission: watches the runs, or leaves them alone if the user detaches. Returns the exit code. */
async function show(fleet: Fleet, read: ReadPlan, { file, note }: Begun): Promise<number> {
  const { plan, options } = read;
  const { sweep, source } = plan;
  const path = read.read.from === 'table' ? null : file;
  if (options.detach !== true) return watch(fleet, sweep, options, { path, note });
  const count = source === undefined ? planCount(read) : 'its runs';
  print([
    `${sweep}: ${count} ${count === '1 run' ? 'is' : 'are'} supervised. \`memrl-tui attach ${sweep}\` shows them.`,
    ...startLine(fleet, sweep),
  ]);
  return 0;
}

/** `48 runs + 5 prerequisites` */
function planCount({ plan: { runs, groups } }: ReadPlan): string {
  const prerequisites = new Set(groups.flatMap(({ name, prerequisite }) => (prerequisite === true ? [name] : [])));
  return countedRuns(runs.length, runs.filter(({ group }) => prerequisites.has(group)).length);
}

/** When the first of the runs starts that wait for that; empty: none does. */
function startLine({ runs }: Fleet, sweep: string): string[] {
  const times = [...runs.values()].flatMap((run) => (run.sweep === sweep ? (run.startsAt ?? []) : []));
  if (times.length === 0) return [];
  const first = times.reduce((one, other) => Math.min(one, other));
  const more = times.every((time) => time === first) ? '' : ' or later';
  const which = times.length === 1 ? '1 run starts' : `${times.length} runs start`;
  return [`${which} ${startWords(first, Date.now(), localZone())}${more}; \`memrl-tui release\` starts them before.`];
}

/**
 * Whether there is nothing to launch and nothing to watch: all runs are done by their directories, and none is up. A run may write
 * what makes it done before it ends, and the end of a job of Slurm is known some seconds later; a killed supervisor leaves runs
 * whose end nobody has seen. For an open sweep only the supervisor knows.
 */
async function isAllOver({ plan, planned, options }: ReadPlan): Promise<boolean> {
  if (plan.source !== undefined || planned.some(({ standing }) => standing.state !== 'done')) return false;
  const directory = runsDirectory(options.runs);
  const fleet = await fleetIfUp(directory);
  if (fleet === null) return lockOf(directory) === null;
  const rows = plan.runs.flatMap(({ id }) => fleet.runs.get(id) ?? []);
  fleet.close();
  return rows.every(({ state }) => hasEnded(state));
}

/** Tells that there is nothing to launch, and reports on what is done. Returns the exit code. */
async function nothingToDo(read: ReadPlan): Promise<number> {
  const { plan, options } = read;
  const { difference } = compared(read, null);
  const lines = isOutdated(difference)
    ? differenceLines(difference, { width: outputWidth(), leavesBroken: false })
    : [];
  print([`${plan.sweep}: nothing to do, all ${plan.runs.length} runs are done.`, ...lines, '']);
  await printReport(plan.sweep, options);
  return 0;
}

/** Shows what a launch would do, and starts and writes nothing. @param notes Those of its launch. Returns the exit code. */
async function showPlan(asRead: ReadPlan, notes: readonly string[]): Promise<number> {
  const { options } = asRead;
  const directory = runsDirectory(options.runs);
  const fleet = await fleetIfUp(directory);
  try {
    const { plan: read, difference } = compared(asRead, fleet);
    const silence = fleet === null && lockOf(directory) !== null ? [silentNote] : [];
    const all = [...(read.plan.notes ?? []), ...notes, ...runNotes(read), ...silence];
    const plan = { ...read.plan, notes: all };
    const slots = await slotsOf(read, fleet);
    const cpuSlots = slots.filter((slot) => /^(cpu|slurm)/.test(slot)).length;
    const room = { cpuSlots, gpus: slots.length - cpuSlots };
    const clock = { now: Date.now(), zone: localZone() };
    const estimate = estimateOf(difference, plan, fleet, { room, now: clock.now });
    const time = timeOf(estimate, difference);
    const [width, verbose] = [outputWidth(), options.verbose ?? false];
    if (options.json === true) printAnswer('plan', planJson({ difference, estimate }, plan, { slots, now: clock.now }));
    else print(planLines(difference, plan, { width, verbose, slots, time, clock }));
    return 0;
  } finally {
    fleet?.close();
  }
}

const silentNote =
  'The supervisor of the runs directory does not answer, or was killed: runs that are up are shown by what their directories say, as to be resumed. A launch finds them and lets them run.';

/**
 * The slots of the runs, `gpu 0` … and `cpu 0` …, by the supervisor, with the settings made while it ran; if none is up, by what it
 * would choose with nothing else running.
 *
 * @throws {UserError} If it would refuse the launch.
 */
async function slotsOf({ plan: { runs, executor }, options }: ReadPlan, fleet: Fleet | null): Promise<string[]> {
  // Slurm decides how many are up at a time.
  if (executor === 'slurm') return slurmSlots(runs, options.slots ?? runs.length, options.perGpu);
  const reading = await readGpus(own().env);
  const view = reading.kind === 'gpus' ? { ...nothingKnown, gpus: reading.gpus, at: 0 } : nothingKnown;
  const room = { cores: usableCores(), view, visible: visibleOf(view, definedEnvironment()) };
  const slots = chooseSlots(requestedSlots(options), fleet === null ? null : grantedBy(fleet), room);
  refuseTooManyCores(runs, slots);
  await refuseNiceness(runs, definedEnvironment());
  const cpus = Array.from({ length: slots.cpus }, (_, index) => `cpu ${index}`);
  return [...slots.gpus.map(({ index }) => `gpu ${gpuName(index)}`), ...cpus];
}

function grantedBy({ status }: Fleet): SlotChoice {
  const granted = status.gpus.filter(({ drained, leasedBy }) => !drained && leasedBy === null);
  const gpus = granted.map(({ index }) => ({ index: GpuIndex.parse(index), uuid: null, memory: null }));
  return { cpus: status.cpu.slots, gpus };
}

/** The changes and the duration of a launch, as far as known. */
type LaunchEffect = { readonly difference: Difference; readonly estimate: Estimate };

/** `now`: Unix ms. */
type Launching = { readonly slots: readonly string[]; readonly now: number };

/** The plan for scripts: `--dry-run --json`. */
export function planJson(
  { difference, estimate }: LaunchEffect,
  plan: Plan,
  { slots, now }: Launching,
): Answers['plan'] {
  return {
    sweep: plan.sweep,
    slots,
    notes: plan.notes ?? [],
    groups: plan.groups,
    changes: countsOf(difference),
    absent: difference.absent.map(({ name, group, state }) => ({ name, group, state })),
    estimate: estimate === null ? null : { totalSeconds: estimate.total, addedSeconds: estimate.added },
    runs: difference.changes.map(({ run, standing, row, kind, settings, ...change }) => ({
      name: run.name,
      nameByFile: change.nameByFile ?? run.name,
      group: run.group,
      subgroup: run.subgroup,
      parameters: run.parameters,
      argv: run.argv,
      env: run.env,
      cwd: run.cwd,
      directory: run.directory,
      needs: run.needs,
      neededRuns: run.neededRuns ?? [],
      policy: policyWords(run),
      startsAt: isoTime(row === null || hasEnded(row.state) ? plannedStart(run, now) : (row.startsAt ?? null)),
      state: standing.state,
      reason: standing.reason,
      live: row?.state ?? null,
      change: kind,
      growth: change.growth,
      settings,
      changedSince: change.changedSince,
      resumeArgs: resumes({ kind, row, standing }) ? run.resumeArgs : [],
    })),
  };
}

/** Counts of runs by change; those with a larger budget by state. */
function countsOf({ changes }: Difference): Answers['plan']['changes'] {
  const count = (kind: Change['kind']) => changes.filter((change) => change.kind === kind).length;
  const longer: Record<string, number> = {};
  for (const { kind, state } of changes) {
    if (kind === 'longer') longer[state ?? 'unfinished'] = (longer[state ?? 'unfinished'] ?? 0) + 1;
  }
  return { new: count('new'), longer, again: count('again'), same: count('same') };
}
