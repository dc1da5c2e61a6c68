import { setImmediate as turn } from 'node:timers/promises';
import { timeLeft } from '../analysis/forecast/forecast.js';
import type { Fleet, RunSummary } from '../client/fleet.js';
import { PreferencesFile, preferencesPath } from '../files/preferences.js';
import { openWindow } from '../tui/app/open-window.js';
import { preferencesIn } from '../tui/app/preferences.js';
import type { SummaryPort } from '../tui/state/port.js';
import { LazyEditor } from './editor/lazy-editor.js';
import { readOnlyEditor } from './editor/read-only-editor.js';
import type { Launched } from './editor/sweep-source.js';
import type { LaunchOptions } from './options.js';
import { beginPlain, plainEnd, plainLines } from './plain/plain-lines.js';
import { recalled } from './open-fleet.js';
import type { readReport } from './print-report.js';
import { isGrowing, isOver } from './plain/watched-run.js';
import { hasPerson, hasScreen, print, remark } from './terminal.js';

/** Interval of updates when nothing is published, ms, as the progress line must still appear. */
const LOOK_MS = 1000;

/**
 * Shows a sweep until it is over or the user leaves: in the window on a terminal, else with a line per event.
 *
 * @param sweep Null: all sweeps of the supervisor.
 * @param path Path of the sweep file if it is being launched; null: an earlier launch is shown.
 * @returns The exit code: 0 when all runs are done, or the user left; 3 when some are not done.
 */
export async function watch(
  fleet: Fleet,
  sweep: string | null,
  options: LaunchOptions,
  path: string | null = null,
): Promise<number> {
  await fleet.ready();
  if (!hasScreen() || options.plain === true) {
    // Not for a file or a pipe, whose reader needs no explanation.
    if (hasPerson() && options.plain !== true)
      remark('TERM is dumb: the window cannot be drawn, so events are printed as lines.');
    return tellLines(fleet, sweep, options);
  }
  return showWindow(fleet, sweep, { options, path });
}

/** Starts to load the window if it will be shown, while the supervisor is being contacted. */
export function prepareWindow({ plain }: LaunchOptions): void {
  // The error occurs again, and is reported, when the window is opened.
  if (hasScreen() && plain !== true) import('../tui/app/mount-app.js').catch(() => undefined);
}

async function showWindow(fleet: Fleet, sweep: string | null, launched: Launched): Promise<number> {
  const { options } = launched;
  const editor = new LazyEditor(fleet, launched);
  const desk = options.readOnly === true ? readOnlyEditor(editor) : editor;
  const outcome = await openWindow({
    ...windowSurroundings(options),
    fleet,
    desk,
    onReady: () => {
      editor.load();
      loadReport();
    },
    summary: (name) => sweepSummary((report) => report.readReport(name, options, { fleet, pause: () => turn() })),
    ...(sweep === null ? {} : { sweep }),
  });
  if (outcome === 'detached') {
    sayGoodbye(sweep);
    return 0;
  }
  return end(runsOf(fleet, sweep), sweep, options);
}

/** What any window of this program has around it. */
export function windowSurroundings({ ascii }: Pick<LaunchOptions, 'ascii'>) {
  const preferences = preferencesIn(new PreferencesFile(preferencesPath(process.env)));
  return { stdout: process.stdout, stdin: process.stdin, environment: process.env, ascii, preferences };
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
  const leave = new Promise<'left'>((resolve) => process.once('SIGINT', () => resolve('left')));
  tell();
  const unsubscribe = fleet.subscribe(tell);
  const timer = setInterval(tell, LOOK_MS);
  const how = await Promise.race([leave, fleet.until(() => isSweepOver(fleet, sweep))]);
  clearInterval(timer);
  unsubscribe();
  if (how === 'left') {
    sayGoodbye(sweep);
    return 130;
  }
  // Marks of runs are known once their last rows have been read.
  await recalled(fleet);
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
  return [...runs.values()].every(({ state }) => state === 'done') ? 0 : 3;
}

function isSweepOver(fleet: Fleet, sweep: string | null): boolean {
  return !isGrowing(fleet, sweep) && isOver(fleet, runsOf(fleet, sweep).values());
}

function runsOf(fleet: Fleet, sweep: string | null): ReadonlyMap<RunSummary['id'], RunSummary> {
  if (sweep === null) return fleet.runs;
  return new Map([...fleet.runs].filter(([, run]) => run.sweep === sweep));
}

type ReportPrinter = { readonly readReport: typeof readReport };

/** The summary table of a sweep, for the window: worked out between its keys and frames. @param read Lays it out anew. */
export function sweepSummary(read: (report: ReportPrinter) => ReturnType<ReportPrinter['readReport']>): SummaryPort {
  let refreshing: Promise<void> | null = null;
  const summary = {
    lines: null as SummaryPort['lines'],
    refresh: () => (refreshing ??= readAgain().finally(() => (refreshing = null))),
  };
  const readAgain = async () => {
    summary.lines = await read(await import('./print-report.js'));
  };
  return summary;
}
