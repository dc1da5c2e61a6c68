import { hasEnded } from '../../base/run-words.js';
import type { Fleet, RunSummary } from '../../client/fleet.js';
import { type ActOptions, isAgreed } from '../act-on-runs.js';
import { knownSweeps, promised, withFleet } from '../open-fleet.js';
import { finalLine } from '../plain/progress-line.js';
import { isGrowing, isOver } from '../plain/watched-run.js';
import { print, printJson } from '../terminal.js';

/** `memrl-tui stop SWEEP`: ends all its runs, and drops queued ones. Exit code 2 when the user declined. */
export async function stop([asked]: readonly string[], options: ActOptions): Promise<number> {
  return withFleet(options, async (fleet) => {
    const sweep = knownSweeps(fleet, asked)[0]!;
    const open = runsOf(fleet, sweep).filter((run) => !hasEnded(run.state));
    if (options.json !== true) print([`stop ${sweep}: ${finalLine(runsOf(fleet, sweep))}`]);
    const runs = open.map(({ id }) => id);
    const isIdle = open.length === 0 && !isGrowing(fleet, sweep);
    if (isIdle || options.dryRun === true) {
      const would = isIdle ? 'nothing to do, all its runs have ended' : `${open.length} would be stopped`;
      tell({ sweep, runs, done: false, message: would }, options);
      return 0;
    }
    if (!(await isAgreed({ verb: 'stop', count: open.length, disturbs: true }, options))) return 2;
    const message = promised(await fleet.request({ verb: 'stop-sweep', sweep }));
    if (options.wait === true) await fleet.until(() => isOver(fleet, runsOf(fleet, sweep)));
    tell({ sweep, runs, done: true, message }, options);
    return 0;
  });
}

function tell(answer: { sweep: string; runs: string[]; done: boolean; message: string }, { json }: ActOptions): void {
  if (json === true) printJson({ verb: 'stop', ...answer });
  else print([answer.message]);
}

function runsOf(fleet: Fleet, sweep: string): RunSummary[] {
  return [...fleet.runs.values()].filter((run) => run.sweep === sweep);
}
