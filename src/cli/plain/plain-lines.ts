import type { TimeRange } from '../../analysis/forecast/time-range.js';
import { healthText, healthWord } from '../../analysis/health/finding.js';
import { hasEnded, isUnhealthy } from '../../base/run-words.js';
import { displayText } from '../../text/display-text.js';
import { durationWords, timeStamp } from '../../text/duration.js';
import { finalLine, leftWords, progressLine } from './progress-line.js';
import type { WatchedRun } from './watched-run.js';

/** Between two lines that only tell how far all is. */
const PROGRESS_EVERY_MS = 10_000;

/** What was said so far. Holds no run summaries: the caller's may change in place. Times: Unix ms. */
export type PlainState = {
  readonly startedAt: number;
  readonly seen: ReadonlyMap<string, Seen>;
  /** When the last progress line was due; null before the first. */
  readonly progressAt: number | null;
};

export function beginPlain(now: number): PlainState {
  return { startedAt: now, seen: new Map(), progressAt: null };
}

/**
 * The lines to print for what has happened since the last call: one per event, and a progress line at once and then at
 * most every 10 seconds while something is not over. Pure: call it when the runs change, and once a second or so.
 *
 * @param runs All runs to tell about, by id.
 * @param timeLeft Until the last of them has ended; asked where it is told.
 */
export function plainLines(
  state: PlainState,
  runs: ReadonlyMap<string, WatchedRun>,
  now: number,
  timeLeft: () => TimeRange | null,
): { state: PlainState; lines: string[] } {
  const all = [...runs.values()];
  const isFirst = state.progressAt === null;
  // What ended before we looked is history; the first progress line counts it.
  const told = [...runs].filter(([, run]) => !(isFirst && hasEnded(run.state)));
  const events = told.flatMap(([id, run]) => runEventLines(state.seen.get(id), run, now));
  const isDue = isFirst || now - state.progressAt >= PROGRESS_EVERY_MS;
  const progress =
    isDue && all.some((run) => !hasEnded(run.state)) ? [[progressLine(all), ...leftWords(timeLeft())].join(' · ')] : [];
  const stamp = timeStamp(now - state.startedAt);
  return {
    state: {
      startedAt: state.startedAt,
      seen: new Map([...runs].map(([id, { state, attempt, health }]) => [id, { state, attempt, health }])),
      progressAt: isDue && all.length > 0 ? now : state.progressAt,
    },
    lines: [...events, ...progress].map((line) => `${stamp}  ${line}`),
  };
}

/** The line that ends the output, and the exit code: 0 only if every run is done. */
export function plainEnd(
  state: PlainState,
  runs: ReadonlyMap<string, WatchedRun>,
  now: number,
): { line: string; exitCode: 0 | 3 } {
  const all = [...runs.values()];
  const exitCode = all.every((run) => run.state === 'done') ? 0 : 3;
  return { line: `${timeStamp(now - state.startedAt)}  ${finalLine(all)}`, exitCode };
}

/** What plain mode remembers of a run, to see what has happened to it. */
type Seen = Pick<WatchedRun, 'state' | 'attempt' | 'health'>;

/** What happened to a run since it was last seen: a line for its state, one for how it does. Without a time. */
function runEventLines(before: Seen | undefined, run: WatchedRun, now: number): string[] {
  return [stateLine(before, run, now), healthLine(before, run)].filter((line) => line !== null);
}

/** Null: nothing is wrong with the run that was not before. */
function healthLine(before: Seen | undefined, run: WatchedRun): string | null {
  const known = before?.attempt === run.attempt && isUnhealthy(before) ? before.health : 'ok';
  const text = isUnhealthy(run) ? healthText(run) : null;
  if (text !== null) return run.health === known ? null : `WARNING  ${run.name}: ${displayText(text)}`;
  return run.state === 'running' && known !== 'ok' ? `well     ${run.name}: no longer ${healthWord(known)}` : null;
}

/** Null: nothing worth a line. */
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
  // The first sight of a queued run is summed up with all others.
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
