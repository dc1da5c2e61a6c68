import { join } from 'node:path';
import { GpuIndex, gpuName } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import { lockOf } from '../../client/connection.js';
import { ensureSupervisor, type Programs } from '../../client/ensure-supervisor.js';
import type { Fleet } from '../../client/fleet.js';
import { otherOrigin, writeLaunchOverrides, writeSweepOrigin, writeSweepText } from '../../files/sweep-text.js';
import { nothingKnown } from '../../gpu/gpu.js';
import { readGpus } from '../../gpu/read-gpus.js';
import { confirm } from '../act-on-runs.js';
import { exitCodes } from '../answers/exit-codes.js';
import { hasEnded } from '../../base/run-words.js';
import { refuseImpossible } from '../../executors/registry.js';
import { demandOf } from '../../launch/demand.js';
import { usableCores } from '../../processes/usable-cores.js';
import { refuseNiceness } from '../../launch/niceness.js';
import { chooseSlots, refuseTooManyCores, type SlotChoice, visibleOf } from '../../launch/slot-choice.js';
import { keepLaunched } from '../plan/keep-launched.js';
import { supervisorPrograms } from '../open-fleet.js';
import { definedEnvironment, type LaunchOptions, projectOf, requestedSets, runsDirectory } from '../options.js';
import { requestedSlots } from '../slot-options.js';
import { snapshotNotes, type Surveys, surveysOf, withSnapshots } from '../plan/code-snapshots.js';
import { isEdited, isKnown, isOutdated } from '../plan/difference.js';
import { differenceLines, skippedNote } from '../plan/difference-lines.js';
import { exposedSecrets } from '../plan/hidden-secrets.js';
import { differenceFrom, editLines, estimateOf, fleetIfUp, timeOf } from '../plan/known-sweep.js';
import { planJson } from '../plan/plan-json.js';
import { planLines } from '../plan/plan-lines.js';
import { startWords } from '../plan/start-time.js';
import { leftOutNow, optionWords, saidBy, withLeftOut } from '../plan/said-at-launch.js';
import { allocationNote, packNote, slurmSlots } from '../plan/slurm-plan.js';
import { wandbNote } from '../plan/wandb-note.js';
import { at, localZone, own } from '../ports.js';
import { printReport } from '../print-report.js';
import { besideRows, readPlan, type ReadPlan } from '../read-plan.js';
import { hasPerson, hasScreen, outputWidth, passingLine, print, printAnswer, remark } from '../terminal.js';
import { countedRuns } from '../../text/numbers.js';
import { prepareWindow, watch } from '../watch.js';

/** `memrl-tui FILE`: starts the runs of a sweep that are not done, and shows it. Returns the exit code. */
export async function launch(file: string, options: LaunchOptions, command: readonly string[]): Promise<number> {
  // A plan is there at once, and is all that is printed.
  if (options.dryRun !== true) passingLine(`reading ${file} …`);
  const read = readPlan(file, options, command);
  const kept = await withKept(read, options);
  return kept === null ? launchPlan(read, file, options) : launchPlan(readPlan(file, kept, command), file, kept);
}

/**
 * The options, with those of the last launch that this one lacks if the user wants to keep them; null: unchanged. Without them the
 * same file has another meaning than before, which may be unintended.
 */
async function withKept(read: ReadPlan, options: LaunchOptions): Promise<LaunchOptions | null> {
  const left = leftOutNow(sweepDirectory(read, options), options);
  if (left === null || options.dryRun === true || options.yes === true || !hasPerson()) return null;
  const words = optionWords(left);
  print([`${read.plan.sweep} was launched with ${words} last, and now is without.`]);
  return (await confirm(`Keep ${words}?`)) ? withLeftOut(options, left) : null;
}

/** The same as a note, if nobody can be asked. */
function leftOutNote(read: ReadPlan, file: string, options: LaunchOptions): string | null {
  const left = leftOutNow(sweepDirectory(read, options), options);
  if (left === null) return null;
  const words = optionWords(left);
  return `${read.plan.sweep} was launched with ${words} last, and now is without. To keep it: memrl-tui ${file} ${words}`;
}

/** The W&B project that the command line sets for all runs; null: none. */
function requestedProject(options: LaunchOptions): string | null {
  return requestedSets(options).flatMap((set) => projectOf(set) ?? [])[0] ?? null;
}

/** Launches a plan that was read. @param file The file of its text. */
export async function launchPlan(asRead: ReadPlan, file: string, options: LaunchOptions): Promise<number> {
  // Invalid options are refused at once, even if nothing is left to do.
  requestedSlots(options);
  const warning = originWarning(asRead, file, options);
  const allocation = allocationNote(asRead.plan, definedEnvironment());
  await refuseImpossibleJobs(asRead.plan, options.perGpu);
  const surveys = await surveysOf(asRead.plan, runsDirectory(options.runs), definedEnvironment());
  if (options.dryRun === true) {
    const logging = wandbNote(asRead.plan.runs, definedEnvironment(), requestedProject(options));
    const notes = [warning, allocation, leftOutNote(asRead, file, options), logging];
    return showPlan(asRead, [...notes, ...snapshotNotes(asRead.plan, surveys)], options);
  }
  if (options.json === true) {
    throw new UserError('--json goes with --dry-run here.', 'For where the runs are, use `memrl-tui status --json`.');
  }
  const count = planCount(asRead);
  const showsScreen = hasScreen() && options.plain !== true;
  if (!showsScreen && (await isAllOver(asRead, options))) return nothingToDo(asRead, options);
  if (options.detach !== true) prepareWindow(options);
  passingLine(`${asRead.plan.sweep}: ${count} · connecting to the supervisor …`);
  const fleet = await ensureSupervisor(runsDirectory(options.runs), programsFor(asRead), { takesOver: true });
  try {
    await fleet.ready();
    const read = besideRows(asRead, fleet.runs);
    if (!(await isEditAgreed(read, fleet, options))) return exitCodes.refused;
    const leftOut = leftOutNote(read, file, options);
    const skipped = skippedNote(differenceFrom(read, fleet));
    passingLine(`${read.plan.sweep}: submitting ${count} …`);
    await submit(fleet, read, surveys, options);
    const directory = sweepDirectory(read, options);
    const unkept = keepLaunched(directory, () => {
      writeSweepText(directory, read.text, read.from.path);
      writeSweepOrigin(directory, at(file));
      writeLaunchOverrides(directory, { ...saidBy(options), fromSeeds: read.fromSeeds });
    });
    for (const note of [warning, allocation, leftOut, unkept]) if (note !== null) remark(note);
    return await left(fleet, read, { file, note: skipped }, options);
  } finally {
    fleet.close();
  }
}

function planCount({ plan: { runs, groups } }: ReadPlan): string {
  const prerequisites = new Set(groups.flatMap(({ name, prerequisite }) => (prerequisite === true ? [name] : [])));
  return countedRuns(runs.length, runs.filter(({ group }) => prerequisites.has(group)).length);
}

/** Refuses runs whose requirements no machine can meet, before anything is submitted, as they would wait for ever. */
function refuseImpossibleJobs({ runs, executor }: ReadPlan['plan'], perGpu: number | undefined): Promise<void> {
  const demands = runs.map((run) => ({ cwd: '/', ...demandOf(run, perGpu) }));
  return refuseImpossible(executor ?? 'local', demands, definedEnvironment());
}

/** The programs for a new supervisor, with the executor of this launch. */
function programsFor({ plan: { executor } }: ReadPlan): Programs {
  const programs = supervisorPrograms();
  if (executor === undefined) return programs;
  return { ...programs, environment: { ...programs.environment, MEMRL_EXECUTOR: executor } };
}

/**
 * Whether the changes of a known sweep may be made: they are shown, and confirmed if a user can be asked. Launching an unchanged
 * file again, or a new sweep, needs no confirmation.
 */
async function isEditAgreed(read: ReadPlan, fleet: Fleet, options: LaunchOptions): Promise<boolean> {
  const { plan, planned } = read;
  const isNew = !fleet.sweeps.has(plan.sweep) && planned.every(({ standing }) => standing.state === 'new');
  if (isNew) return true;
  const difference = differenceFrom(read, fleet);
  const isAsked = isEdited(difference);
  if (!isKnown(difference) || (!isAsked && !isOutdated(difference))) return true;
  print(editLines(difference, read, fleet, { width: outputWidth(), slots: options }));
  return !isAsked || options.yes === true || !hasPerson() || (await confirm('Proceed?'));
}

/** `note`: what the window says first. */
type Begun = { readonly file: string; readonly note: string | null };

/** After the submission: watches the runs, or leaves them alone if the user detaches. */
function left(fleet: Fleet, read: ReadPlan, { file, note }: Begun, options: LaunchOptions): Promise<number> {
  const { plan, fromTable } = read;
  const { sweep, source } = plan;
  if (options.detach !== true) return watch(fleet, sweep, options, { path: fromTable ? null : file, note });
  const count = source === undefined ? planCount(read) : 'its runs';
  print([
    `${sweep}: ${count} ${count === '1 run' ? 'is' : 'are'} supervised. \`memrl-tui attach ${sweep}\` shows them.`,
    ...startLine(fleet, sweep),
  ]);
  return Promise.resolve(0);
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
async function isAllOver({ plan, planned }: ReadPlan, options: LaunchOptions): Promise<boolean> {
  if (plan.source !== undefined || planned.some(({ standing }) => standing.state !== 'done')) return false;
  const directory = runsDirectory(options.runs);
  const fleet = await fleetIfUp(directory);
  if (fleet === null) return lockOf(directory) === null;
  const rows = plan.runs.flatMap(({ id }) => fleet.runs.get(id) ?? []);
  fleet.close();
  return rows.every(({ state }) => hasEnded(state));
}

async function showPlan(
  asRead: ReadPlan,
  notesOfLaunch: readonly (string | null)[],
  options: LaunchOptions,
): Promise<number> {
  const directory = runsDirectory(options.runs);
  const fleet = await fleetIfUp(directory);
  const read = fleet === null ? asRead : besideRows(asRead, fleet.runs);
  const secrets = exposedSecrets(read.plan.runs, definedEnvironment());
  const silence = fleet === null && lockOf(directory) !== null ? silentNote : null;
  const packs = read.plan.executor === 'slurm' ? packNote(read.plan.runs, options.perGpu) : null;
  const all = [...(read.plan.notes ?? []), ...notesOfLaunch, packs, secrets, silence];
  const notes = all.filter((note) => note !== null);
  const plan = { ...read.plan, notes };
  try {
    const slots = await slotsOf(read.plan, options, fleet);
    const cpuSlots = slots.filter((slot) => /^(cpu|slurm)/.test(slot)).length;
    const difference = differenceFrom(read, fleet);
    const room = { cpuSlots, gpus: slots.length - cpuSlots };
    const clock = { now: Date.now(), zone: localZone() };
    const estimate = estimateOf(difference, read, fleet, { room, now: clock.now });
    const time = timeOf(estimate, difference);
    const [width, verbose] = [outputWidth(), options.verbose ?? false];
    if (options.json === true) printAnswer('plan', planJson({ difference, estimate }, plan, { slots, now: clock.now }));
    else print(planLines(difference, plan, { width, verbose, slots, time, clock }));
  } finally {
    fleet?.close();
  }
  return 0;
}

async function nothingToDo(read: ReadPlan, options: LaunchOptions): Promise<number> {
  const { plan } = read;
  const difference = differenceFrom(read, null);
  const lines = isOutdated(difference)
    ? differenceLines(difference, { width: outputWidth(), leavesBroken: false })
    : [];
  print([`${plan.sweep}: nothing to do, all ${plan.runs.length} runs are done.`, ...lines, '']);
  await printReport(plan.sweep, options);
  return 0;
}

async function submit(
  fleet: Fleet,
  { plan, planned }: ReadPlan,
  surveys: Surveys,
  options: LaunchOptions,
): Promise<void> {
  const environment = definedEnvironment();
  const whole = await withSnapshots(plan, planned, surveys, { rows: fleet.runs, environment });
  const answer = await fleet.submit(whole, environment, requestedSlots(options));
  if (!answer.ok) throw new UserError(answer.message, answer.fix ?? 'Correct it and launch again.');
}

function sweepDirectory({ plan }: ReadPlan, options: LaunchOptions): string {
  return join(runsDirectory(options.runs), plan.sweep);
}

/** Warns of two files with the same sweep name, whose runs would be mixed, usually by mistake. */
function originWarning(read: ReadPlan, file: string, options: LaunchOptions): string | null {
  const directory = sweepDirectory(read, options);
  const other = otherOrigin(directory, at(file), read.text);
  if (other === null) return null;
  const { sweep } = read.plan;
  return `${sweep} was launched from another file before: ${other}. Its runs and those of ${file} are in one sweep, ${directory}, which keeps the text of both; give one of the files another \`name\` if they are two sweeps.`;
}

const silentNote =
  'The supervisor of the runs directory does not answer, or was killed: runs that are up are shown by what their directories say, as to be resumed. A launch finds them and lets them run.';

/**
 * The slots of the runs, `gpu 0` … and `cpu 0` …, by the supervisor, with the settings made while it ran; if none is up, by what it
 * would choose with nothing else running.
 *
 * @throws {UserError} If it would refuse the launch.
 */
async function slotsOf(
  { runs, executor }: ReadPlan['plan'],
  options: LaunchOptions,
  fleet: Fleet | null,
): Promise<string[]> {
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
