import { setImmediate as turn } from 'node:timers/promises';
import { openWindow, runFiles, withChartLines } from '../../tui/app/open-window.js';
import type { EditorPort, RunFilesPort } from '../../tui/state/port.js';
import { foundLog } from '../../logs/log-file.js';
import { fileSource, lastLines } from '../../logs/log-source.js';
import { UserError } from '../../base/user-error.js';
import { shellQuote } from '../../text/shell-words.js';
import { openShell } from '../editor/terminal-editor.js';
import { FolderFleet, readOnly } from '../../view/folder-fleet.js';
import { outputWidth, hasColour, hasScreen, print, remark } from '../terminal.js';
import type { LaunchOptions } from '../options.js';
import { own } from '../ports.js';
import { runsOf } from '../plain/watched-run.js';
import { runTable } from '../show/run-table.js';
import { noRuns, ownRunsAt, reportedRuns, requiredPaths } from '../viewed-paths.js';
import { sweepSummary, windowHost } from '../sweep-window.js';

/**
 * `memrl-tui view PATH…`: the control window on runs of any program, read-only and without a supervisor. A path that is a runs
 * directory of this user, or a sweep in one, is attached to.
 */
export async function view(words: readonly string[], options: LaunchOptions): Promise<number> {
  const paths = requiredPaths(words);
  const own = paths.length === 1 ? ownRunsAt(paths[0]!.path) : null;
  if (own !== null) {
    const { attach } = await import('./attach.js');
    return attach(own.sweep === null ? [] : [own.sweep], { ...options, runs: own.runs });
  }
  const fleet = new FolderFleet(paths);
  try {
    const { first, all } = fleet.begin();
    const hasWindow = hasScreen() && options.plain !== true;
    await (hasWindow ? first : all);
    if (fleet.runs.size === 0) throw noRuns(paths, fleet.unread);
    return await (hasWindow ? show(fleet, all, options) : tell(fleet));
  } finally {
    fleet.close();
  }
}

/** @param found Resolves when all runs have been found. */
async function show(fleet: FolderFleet, found: Promise<void>, options: LaunchOptions): Promise<number> {
  let problem: Error | null = null;
  const [first] = fleet.sweeps.keys();
  const following = () => {
    found
      .then(() => fleet.read())
      .then(() => fleet.follow())
      .catch((error: unknown) => (problem = error instanceof Error ? error : new Error(String(error))));
  };
  await openWindow({
    ...windowHost(options),
    ...{ fleet, files: filesOf(fleet), editor: viewingEditor, onReady: following },
    summary: (sweep) => {
      const directory = () => fleet.sweeps.get(sweep)?.directory ?? '.';
      return sweepSummary(options, {
        results: ({ readReport }, look) => {
          const place = { directory: directory(), found: reportedRuns(fleet, [sweep]) };
          return readReport(sweep, { ...options, ...look, ...place }, { pause: () => turn() });
        },
        place: () => ({ directory: directory(), runs: runsOf(fleet, sweep) }),
      });
    },
    // Further paths may not have been searched yet.
    ...(fleet.sweeps.size === 1 && fleet.paths === 1 ? { sweep: first! } : {}),
  });
  if (problem !== null) throw problem as Error;
  return 0;
}

/** Without a screen: the table that `ls` prints. */
async function tell(fleet: FolderFleet): Promise<number> {
  await fleet.read();
  const look = { sweeps: fleet.sweeps, width: outputWidth(Infinity), now: Date.now(), colour: hasColour() };
  print(runTable([...fleet.runs.values()], look));
  if (fleet.status.problem !== null) remark(fleet.status.problem);
  return 0;
}

/** A shell beside the files; there is no sweep file that could be edited. */
const viewingEditor: EditorPort = {
  commandOf: ({ argv }) => {
    if (argv.length > 0) return shellQuote(argv);
    throw new UserError('Its files do not say with which command it was started.', 'Enter shows its parameters.');
  },
  openShell: (directory) => openShell(directory, own().env),
  openTerminal: refuseEdit,
  ...{ extend: refuseEdit, clone: refuseEdit, edit: refuseEdit, submit: refuseEdit },
  ...{ ownFile: refuseEdit, writeOwnFile: refuseEdit },
};

function refuseEdit(): never {
  throw new UserError(readOnly, 'Write a sweep file with `memrl-tui init -- COMMAND…`, and launch it.');
}

/** The log of a run has whatever name its program gave it; metrics that were read for its row are not read again. */
function filesOf(fleet: FolderFleet): RunFilesPort {
  return {
    ...runFiles,
    metrics: (directory) => withChartLines(directory, fleet.metrics(directory)),
    logTail: (directory, count) => lastLines(foundLog(directory), count),
    openLog: (directory) => fileSource(foundLog(directory)),
  };
}
