import type { Fleet, RunSummary } from '../../client/fleet.js';
import { chooseRuns } from '../choose-runs.js';
import { isOver } from '../is-over.js';
import { runStatus } from '../look/run-status.js';
import { recalled, withFleet } from '../open-fleet.js';
import type { CommonOptions } from '../options.js';
import { finalLine } from '../plain/progress-line.js';
import { print, printJson } from '../terminal.js';

/** As `timeout` of the GNU core utilities ends. */
const TIMED_OUT = 124;
/** Longest time a timer can be set to, ms. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * `memrl-tui wait SWEEP|QUERY`: returns when the runs that are chosen now have ended, or cannot start any more by themselves.
 *
 * @returns 0 when all of them are done, 3 when some are not, 124 when the time was up before.
 */
export async function wait(words: readonly string[], options: CommonOptions & { timeout?: number }): Promise<number> {
  return withFleet(options, async (fleet) => {
    const ids = (await chooseRuns(words, fleet)).map(({ id }) => id);
    const runs = () => ids.flatMap((id) => fleet.runs.get(id) ?? []);
    const inTime = await within(options.timeout, () => isOver(fleet, runs()), fleet);
    if (options.json === true) {
      await recalled(fleet);
      printJson({ timedOut: !inTime, runs: runs().map(runStatus) });
    } else print([`${inTime ? '' : 'time is up: '}${finalLine(runs())}`]);
    if (!inTime) return TIMED_OUT;
    return runs().every(({ state }: RunSummary) => state === 'done') ? 0 : 3;
  });
}

/** Whether the condition comes to hold in so many seconds, or ever. */
async function within(seconds: number | undefined, condition: () => boolean, fleet: Fleet): Promise<boolean> {
  if (seconds === undefined) return fleet.until(condition);
  let timer: NodeJS.Timeout | undefined;
  const timeIsUp = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.min(seconds * 1000, LONGEST_MS));
  });
  const inTime = await Promise.race([fleet.until(condition), timeIsUp]);
  clearTimeout(timer);
  return inTime;
}
