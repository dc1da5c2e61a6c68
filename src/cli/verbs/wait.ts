import { hasEnded } from '../../base/run-words.js';
import { timeLeft } from '../../analysis/forecast/forecast.js';
import type { TimeRange } from '../../analysis/forecast/time-range.js';
import type { Fleet, RunSummary } from '../../client/fleet.js';
import { exitCodes } from '../answers/exit-codes.js';
import { chooseRuns } from '../chosen-runs.js';
import { patienceOf, recalled, withFleet } from '../open-fleet.js';
import type { CommonOptions } from '../options.js';
import { countsLine, finalLine, isGrowing, isOver, leftWords } from '../plain/watched-run.js';
import { own } from '../ports.js';
import { runStatus } from '../show/run-table.js';
import { leave, print, printAnswer } from '../terminal.js';

/** Longest delay of a timer, ms. */
const LONGEST_MS = 2 ** 31 - 1;

type WaitOptions = CommonOptions & { timeout?: number };

/**
 * `memrl-tui wait SWEEP|QUERY`: returns when the runs that are selected now have ended, or cannot start without a user; for a
 * sweep, when it gets no further ones either. The time limit starts with the call, even if the supervisor does not answer.
 *
 * @returns 0 when all of them are done, 3 when some are not, 124 when the time was over first.
 */
export async function wait(words: readonly string[], options: WaitOptions): Promise<number> {
  const seen: Seen = { all: null };
  const ended = waitForEnd(words, options, seen);
  const inTime = await within(options.timeout, ended);
  if (inTime) return ended;
  const { runs, left } = seen.all?.() ?? { runs: [], left: null };
  const howFar = [finalLine(runs), ...leftWords(left)].join(' · ');
  if (options.json === true) printAnswer('wait', { timedOut: true, runs: runs.map(runStatus) });
  else print([`timed out: ${seen.all === null ? 'the supervisor has not answered' : howFar}`]);
  // The pending wait would keep the program from ending.
  leave(exitCodes.timedOut);
  return exitCodes.timedOut;
}

/** The present runs, and the time left until the last of them has ended; null before a supervisor has sent them. */
type Seen = { all: (() => { runs: RunSummary[]; left: TimeRange | null }) | null };

function waitForEnd(words: readonly string[], options: WaitOptions, seen: Seen): Promise<number> {
  return withFleet(options, async (fleet: Fleet) => {
    const ids = (await chooseRuns(words, fleet)).map(({ id }) => id);
    // A sweep that is named includes the runs that it gets meanwhile.
    const sweeps = words.filter((word) => fleet.sweeps.has(word));
    const chosen = new Set(ids);
    const isMeant = (run: RunSummary) => chosen.has(run.id) || sweeps.includes(run.sweep);
    const runs = () => [...fleet.runs.values()].filter(isMeant);
    seen.all = () => ({ runs: runs(), left: timeLeft(fleet, runs(), Date.now()) });
    const unsubscribe = tellProgress(fleet, runs);
    await fleet.until(() => isOver(fleet, runs()) && !sweeps.some((sweep) => isGrowing(fleet, sweep)));
    unsubscribe();
    await recalled(fleet, patienceOf(options));
    if (options.json === true) printAnswer('wait', { timedOut: false, runs: runs().map(runStatus) });
    else print([finalLine(runs())]);
    return runs().every(({ state }) => state === 'done') ? exitCodes.done : exitCodes.undone;
  });
}

/** Smallest growth of progress that is told, as a part of all. */
const STEP = 0.01;

/** Tells a caller that listens how far the runs are, when it has grown. Returns a function that ends it. */
function tellProgress(fleet: Fleet, runs: () => RunSummary[]): () => void {
  const { onProgress } = own();
  if (onProgress === undefined) return () => undefined;
  let told = -1;
  const tell = () => {
    const present = runs();
    const done = present.reduce((sum, run) => sum + (hasEnded(run.state) ? 1 : (run.progress ?? 0)), 0);
    if (done < told + STEP * present.length) return;
    told = done;
    onProgress(
      done,
      present.length,
      [countsLine(present), ...leftWords(timeLeft(fleet, present, Date.now()))].join(' · '),
    );
  };
  tell();
  return fleet.subscribe(tell);
}

/** Whether a promise settles within so many seconds, or ever. Rejects as it does. */
async function within(seconds: number | undefined, over: Promise<unknown>): Promise<boolean> {
  if (seconds === undefined) return over.then(() => true);
  let timer: NodeJS.Timeout | undefined;
  const timeIsUp = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.min(seconds * 1000, LONGEST_MS));
  });
  try {
    return await Promise.race([over.then(() => true), timeIsUp]);
  } finally {
    clearTimeout(timer);
  }
}
