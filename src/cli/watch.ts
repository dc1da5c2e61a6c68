import { timeLeft } from '../analysis/forecast/forecast.js';
import type { Fleet, RunSummary } from '../client/fleet.js';
import { exitCodes } from './answers/exit-codes.js';
import type { LaunchOptions } from './options.js';
import { beginPlain, plainEnd, plainLines } from './plain/plain-lines.js';
import { LAST_ROWS_MS, recalled } from './open-fleet.js';
import { isGrowing, isOver } from './plain/watched-run.js';
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
