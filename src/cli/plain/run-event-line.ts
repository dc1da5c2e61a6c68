import { displayText } from '../../text/display-text.js';
import { durationWords } from '../../text/elapsed.js';
import type { WatchedRun } from './watched-run.js';

/** What plain mode remembers of a run, to see what has happened to it. */
export type Seen = Pick<WatchedRun, 'state' | 'attempt'>;

/** One line about what happened to a run since it was last seen, without a time. Null: nothing worth a line. */
export function runEventLine(before: Seen | undefined, run: WatchedRun, now: number): string | null {
  if (before?.state === run.state && before.attempt === run.attempt) return null;
  return lineOf[run.state](run, { before, now });
}

type Context = { before: Seen | undefined; now: number };

const lineOf: Record<WatchedRun['state'], (run: WatchedRun, context: Context) => string | null> = {
  starting: () => null,
  running: (run, { before }) => {
    if (before?.state === 'paused') return `goes on ${run.name}`;
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
