import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ReportedRun } from '../analysis/analysed-run.js';
import type { RunValue } from '../analysis/run-value.js';
import { connect, ensureSupervisor } from '../client/ensure-supervisor.js';
import type { Fleet } from '../client/fleet.js';
import { supervisorFiles } from '../contract/files.js';
import { textOrNull } from '../files/regular-file.js';
import { buildReport } from '../report/build-report.js';
import type { Pause } from '../metrics/run-metrics.js';
import { type Page, reportLines } from '../report/report-lines.js';
import type { Spread } from '../report/spread.js';
import { type LaunchOptions, runsDirectory } from './options.js';
import { supervisorPrograms } from './open-fleet.js';
import { parsePlan } from '../spec/plan-text.js';
import { outputWidth, print } from './terminal.js';
import { runsOf } from './plain/watched-run.js';

/** `value`: which value stands for a run in tables of metrics; `spread`: how the seeds of one setting are summarised; `tests`: with intervals, `against`: of which rows; `hasAnswers`, `hasStudies`: false where the window says them elsewhere. */
type ReportChoice = Pick<LaunchOptions, 'runs' | 'ascii'> & {
  value?: RunValue;
  spread?: Spread;
  tests?: boolean;
  against?: string;
  hasAnswers?: boolean;
  hasStudies?: boolean;
} & Partial<FoundSweep>;

/** Runs of a folder of any program, in place of those of a sweep in the runs directory. */
export type FoundSweep = { readonly directory: string; readonly found: readonly ReportedRun[] | undefined };

/** Reads the results of a sweep. Returns a function that lays them out for a width in columns. */
export async function readReport(
  sweep: string,
  { runs, value, found, directory: place, ...choice }: ReportChoice,
  live?: { readonly fleet?: Pick<Fleet, 'runs'>; readonly pause: Pause },
): Promise<(width: number) => string[]> {
  const directory = runsDirectory(runs);
  const fleet = live?.fleet;
  const isSupervised = fleet === undefined && found === undefined;
  const known = isSupervised ? await supervisedRuns(directory, sweep) : fleet ? reportedRuns(fleet, sweep) : [];
  const report = await buildReport(place ?? join(directory, sweep), { pause: live?.pause, value, known, found });
  const shown = choice.hasStudies === false ? { ...report, studies: [] } : report;
  const look = lookOf(choice);
  return (width) => reportLines(shown, { width, ...look });
}

function lookOf({ ascii = false, hasAnswers = true, spread, ...asked }: ReportChoice): Omit<Page, 'width'> {
  return { ascii, tests: testsOf(asked), hasAnswers, ...(spread === undefined ? {} : { spread }) };
}

function testsOf({
  tests = false,
  against,
}: Pick<ReportChoice, 'tests' | 'against'>): NonNullable<Page['tests']> | null {
  return tests ? { against: against ?? null } : null;
}

/** Prints the results of a sweep. */
export async function printReport(sweep: string, options: ReportChoice): Promise<void> {
  const lay = await readReport(sweep, options);
  print(lay(outputWidth(Infinity)));
}

/** Time limit for the supervisor's answer, ms, as a report is mostly about files. */
const PATIENCE_MS = 1000;
/** The same for one that has just been started. */
const START_PATIENCE_MS = 10_000;
/** Largest plan that is read, in bytes. */
const MOST_PLAN = 1 << 28;

/**
 * The runs of a sweep as its supervisor knows them, with their states, including runs that have written nothing. Where none is up,
 * one is started only if some runs never began, as nobody else knows their states. Empty if no supervisor answers.
 */
export async function supervisedRuns(runsDirectory: string, sweep: string): Promise<ReportedRun[]> {
  const end = performance.now() + PATIENCE_MS;
  try {
    const fleet = await connect(runsDirectory, PATIENCE_MS);
    if (fleet !== null) return await ask(fleet, sweep, end - performance.now());
    if (!hasUnstartedRuns(runsDirectory, sweep)) return [];
    return await ask(await ensureSupervisor(runsDirectory, supervisorPrograms()), sweep, START_PATIENCE_MS);
  } catch {
    return [];
  }
}

/** Whether a launch has planned runs of the sweep that have no directory. */
function hasUnstartedRuns(runsDirectory: string, sweep: string): boolean {
  const plans = join(runsDirectory, supervisorFiles.directory, supervisorFiles.plans);
  if (!existsSync(plans)) return false;
  return readdirSync(plans).some((name) => {
    const text = textOrNull(join(plans, name), MOST_PLAN);
    const plan = text === null ? null : parsePlan(text);
    return plan?.sweep === sweep && plan.runs.some((run) => !existsSync(join(runsDirectory, sweep, run.name)));
  });
}

/** Closes the connection after the time limit, as it would keep the program from ending. */
async function ask(fleet: Fleet, sweep: string, patienceMs: number): Promise<ReportedRun[]> {
  let timer: NodeJS.Timeout | undefined;
  const timeIsUp = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), patienceMs)));
  try {
    const isReady = await Promise.race([fleet.ready().then(() => true), timeIsUp]);
    return isReady ? reportedRuns(fleet, sweep) : [];
  } finally {
    clearTimeout(timer);
    fleet.close();
  }
}

function reportedRuns(fleet: Pick<Fleet, 'runs'>, sweep: string): ReportedRun[] {
  return runsOf(fleet, sweep).map(({ name, group, subgroup, directory, parameters, state, startedAt, endedAt }) => {
    return { name, group, subgroup, directory, parameters, state, times: { startedAt, endedAt }, config: {} };
  });
}
