import { timeLeft } from '../analysis/forecast/forecast.js';
import type { TimeRange } from '../analysis/forecast/time-range.js';
import { healthText, healthWord } from '../analysis/health/finding.js';
import { hasEnded, isUnhealthy } from '../base/run-words.js';
import type { Fleet, RunSummary } from '../client/fleet.js';
import { displayText } from '../text/display-text.js';
import { durationWords, timeStamp } from '../text/duration.js';
import { exitCodes } from './answers/exit-codes.js';
import { LAST_ROWS_MS, recalled } from './open-fleet.js';
import type { LaunchOptions } from './options.js';
import { finalLine, isGrowing, isOver, leftWords, progressLine, type WatchedRun } from './plain/watched-run.js';
import { own } from './ports.js';
import { hasPerson, hasScreen, print, remark } from './terminal.js';

/** Interval of updates when nothing is published, ms, as the progress line must still appear. */
const LOOK_MS = 1000;

/**
 * Shows a sweep until it is over or the user leaves: in the window on a terminal, else with a line per event.
 *
 * @param sweep Null: all sweeps of the supervisor.
 * @param launched `path`: of the sweep file if it is being launched; null: an earlier launch is shown. `note`: what the window says
 *   first.
 * @returns The exit code: 0 when all runs are done, or the user left; 3 when some are not done.
 */
export async function watch(
  fleet: Fleet,
  sweep: string | null,
  options: LaunchOptions,
  { path, note }: { readonly path: string | null; readonly note: string | null } = { path: null, note: null },
): Promise<number> {
  await fleet.ready();
  if (!hasScreen() || options.plain === true) {
    // Not for a file or a pipe, whose reader needs no explanation.
    if (hasPerson() && options.plain !== true)
      remark('TERM is dumb: the window cannot be drawn, so events are printed as lines.');
    return tellLines(fleet, sweep, options);
  }
  const { showSweep } = await import('./sweep-window.js');
  const outcome = await showSweep(fleet, sweep, { options, path, note, onReady: loadReport });
  if (outcome !== 'detached') return end(runsOf(fleet, sweep), sweep, options);
  sayGoodbye(sweep);
  return 0;
}

/** Starts to load the window if it will be shown, while the supervisor is being contacted. */
export function prepareWindow({ plain }: LaunchOptions): void {
  if (!hasScreen() || plain === true) return;
  // The error occurs again, and is reported, when the window is opened.
  const window = import('../tui/app/mount-app.js').then(({ loadScreens }) => loadScreens());
  for (const part of [import('./sweep-window.js'), window]) part.catch(() => undefined);
}

async function tellLines(fleet: Fleet, sweep: string | null, options: LaunchOptions): Promise<number> {
  loadReport();
  let said = beginPlain(Date.now());
  const tell = () => {
    const [runs, now] = [runsOf(fleet, sweep), Date.now()];
    const { state, lines } = plainLines(said, runs, now, () => timeLeft(fleet, runs.values(), now));
    said = state;
    print(lines);
  };
  const leave = new Promise<'left'>((resolve) => own().once('SIGINT', () => resolve('left')));
  tell();
  const unsubscribe = fleet.subscribe(tell);
  const timer = setInterval(tell, LOOK_MS);
  const how = await Promise.race([leave, fleet.until(() => isSweepOver(fleet, sweep))]);
  clearInterval(timer);
  unsubscribe();
  if (how === 'left') {
    sayGoodbye(sweep);
    return exitCodes.interrupted;
  }
  // Marks of runs are known once their last rows have been read.
  await recalled(fleet, LAST_ROWS_MS);
  tell();
  print([plainEnd(said, runsOf(fleet, sweep), Date.now()).line]);
  return end(runsOf(fleet, sweep), sweep, options);
}

/** Loads the report early, as an update may have replaced the program's files by the end. */
function loadReport(): void {
  import('./print-report.js').catch(() => undefined);
}

function sayGoodbye(sweep: string | null): void {
  print([`The runs keep running. \`memrl-tui attach${sweep === null ? '' : ` ${sweep}`}\` shows them again.`]);
}

async function end(
  runs: ReadonlyMap<string, RunSummary>,
  sweep: string | null,
  options: LaunchOptions,
): Promise<number> {
  if (sweep !== null) {
    print(['']);
    const { printReport } = await import('./print-report.js');
    await printReport(sweep, options);
  }
  return [...runs.values()].every(({ state }) => state === 'done') ? exitCodes.done : exitCodes.undone;
}

function isSweepOver(fleet: Fleet, sweep: string | null): boolean {
  return !isGrowing(fleet, sweep) && isOver(fleet, eachRunOf(fleet, sweep));
}

function runsOf(fleet: Fleet, sweep: string | null): ReadonlyMap<string, RunSummary> {
  return new Map(Array.from(eachRunOf(fleet, sweep), (run) => [run.id, run]));
}

function* eachRunOf({ runs }: Fleet, sweep: string | null): Generator<RunSummary> {
  for (const run of runs.values()) if (sweep === null || run.sweep === sweep) yield run;
}

/** Interval of lines that only show the progress. */
const PROGRESS_EVERY_MS = 10_000;

/** What was printed so far. It contains no run summaries, which the caller may change in place. Times: Unix ms. */
export type PlainState = {
  readonly startedAt: number;
  readonly seen: ReadonlyMap<string, Seen>;
  /** Time of the last progress line; null before the first. */
  readonly progressAt: number | null;
};

export function beginPlain(now: number): PlainState {
  return { startedAt: now, seen: new Map(), progressAt: null };
}

/**
 * The lines for what has happened since the last call: one per event, and a progress line at once and then at most every 10 seconds
 * until everything is over. Pure: call it when runs change, and about once a second.
 *
 * @param runs All runs to report on, by id.
 * @param timeLeft Returns the time until the last of them has ended; called only for a progress line.
 */
export function plainLines(
  state: PlainState,
  runs: ReadonlyMap<string, WatchedRun>,
  now: number,
  timeLeft: () => TimeRange | null,
): { state: PlainState; lines: string[] } {
  const all = [...runs.values()];
  const isFirst = state.progressAt === null;
  // Runs that ended before are only counted in the first progress line.
  const told = [...runs].filter(([, run]) => !(isFirst && hasEnded(run.state)));
  const events = told.flatMap(([id, run]) => runEventLines(state.seen.get(id), run, now));
  const isDue = isFirst || now - state.progressAt >= PROGRESS_EVERY_MS;
  const progress =
    isDue && all.some((run) => !hasEnded(run.state)) ? [[progressLine(all), ...leftWords(timeLeft())].join(' · ')] : [];
  const stamp = timeStamp(now - state.startedAt);
  return {
    state: {
      startedAt: state.startedAt,
      seen: new Map(
        [...runs].map(([id, { state, attempt, health, warning }]) => [id, { state, attempt, health, warning }]),
      ),
      progressAt: isDue && all.length > 0 ? now : state.progressAt,
    },
    lines: [...events, ...progress].map((line) => `${stamp}  ${line}`),
  };
}

/** The last line, and the exit code: 0 only if every run is done. */
export function plainEnd(
  state: PlainState,
  runs: ReadonlyMap<string, WatchedRun>,
  now: number,
): { line: string; exitCode: number } {
  const all = [...runs.values()];
  const exitCode = all.every((run) => run.state === 'done') ? exitCodes.done : exitCodes.undone;
  return { line: `${timeStamp(now - state.startedAt)}  ${finalLine(all)}`, exitCode };
}

/** The state of a run at the last call, to notice changes. */
type Seen = Pick<WatchedRun, 'state' | 'attempt' | 'health' | 'warning'>;

/** The events of a run since the last call: a line for its state, one for its health, one for a warning. Without a time. */
function runEventLines(before: Seen | undefined, run: WatchedRun, now: number): string[] {
  return [stateLine(before, run, now), healthLine(before, run), warningLine(before, run)].filter(
    (line) => line !== null,
  );
}

function warningLine(before: Seen | undefined, { name, warning }: WatchedRun): string | null {
  return warning == null || warning === before?.warning ? null : `WARNING  ${name}: ${displayText(warning)}`;
}

/** Null: the run has no new problem. */
function healthLine(before: Seen | undefined, run: WatchedRun): string | null {
  const known = before?.attempt === run.attempt && isUnhealthy(before) ? before.health : 'ok';
  const text = isUnhealthy(run) ? healthText(run) : null;
  if (text !== null) return run.health === known ? null : `WARNING  ${run.name}: ${displayText(text)}`;
  return run.state === 'running' && known !== 'ok' ? `well     ${run.name}: no longer ${healthWord(known)}` : null;
}

/** Null: there is nothing to report. */
function stateLine(before: Seen | undefined, run: WatchedRun, now: number): string | null {
  if (before?.state === run.state && before.attempt === run.attempt) return null;
  return lineOf[run.state](run, { before, now });
}

type Context = { before: Seen | undefined; now: number };

const lineOf: Record<WatchedRun['state'], (run: WatchedRun, context: Context) => string | null> = {
  starting: () => null,
  running: (run, { before }) => {
    if (before?.state === 'paused') return `continued ${run.name}`;
    return before?.state === 'stopping' ? null : started(run);
  },
  paused: (run) => `paused   ${run.name}${because(run)}`,
  // Runs that are queued from the beginning are summarised together.
  queued: (run, { before }) => (before === undefined ? null : `queued   ${run.name}${because(run)}`),
  held: (run) => `held     ${run.name}${because(run)}`,
  stopping: (run, { now }) => `stopping ${run.name}${deadline(run, now)}`,
  done: (run) => ended('done    ', run),
  failed: (run) => ended('FAILED  ', run),
  killed: (run) => ended('killed  ', run),
  lost: (run) => ended('LOST    ', run),
};

function ended(word: string, run: WatchedRun): string {
  return `${word} ${run.name}${lasted(run)}${because(run)}`;
}

function started({ name, slot, pid, attempt }: WatchedRun): string {
  const where = [slot, pid === null ? null : `pid ${pid}`].filter((part) => part !== null).join(', ');
  return `started  ${name}${where === '' ? '' : ` on ${where}`}${attempt > 1 ? `, attempt ${attempt}` : ''}`;
}

function lasted({ startedAt, endedAt }: WatchedRun): string {
  return startedAt === null || endedAt === null ? '' : ` after ${durationWords(endedAt - startedAt)}`;
}

function because({ reason }: WatchedRun): string {
  return reason === null || reason === '' ? '' : `: ${displayText(reason)}`;
}

function deadline({ killAt }: WatchedRun, now: number): string {
  return killAt === null ? '' : `, SIGKILL in ${durationWords(killAt - now)} if it does not end`;
}
