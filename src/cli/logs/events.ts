import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../base/user-error.js';
import type { Fleet } from '../../client/fleet.js';
import { EventStreamReader, type ReadEvent, type StreamPlace } from '../../client/event-stream-reader.js';
import { cursorText, parseCursor, type StreamLine } from '../../protocol/event-stream.js';
import { displayText, lineText } from '../../text/display-text.js';
import { counted, narrowNumber } from '../../text/numbers.js';
import { versioned } from '../answers/answer-table.js';
import type { Answers } from '../answers/schemas.js';
import { knownSweeps, withFleet } from '../open-fleet.js';
import type { CommonOptions } from '../options.js';
import { existingRunsDirectory } from '../show/runs-here.js';
import { printData, printed } from '../terminal.js';

type EventsOptions = CommonOptions & { follow?: boolean; since?: string };

/** Interval of looks at the file, ms. */
const LOOK_MS = 100;

/**
 * `memrl-tui events [SWEEP]`: what has happened to runs, in its order; with `--follow` also what happens from now on, until it is
 * interrupted. `--json` prints an object per line, with a cursor behind which another call goes on.
 */
export async function events([sweep]: readonly string[], options: EventsOptions): Promise<number> {
  const reader = new EventStreamReader(existingRunsDirectory(options), placeIn(options.since));
  // A supervisor that was killed has not told how its runs ended; the one that is started then does.
  return withFleet(options, async (fleet: Fleet) => {
    if (sweep !== undefined) knownSweeps(fleet, sweep);
    const textOf = options.json === true ? jsonText : lineOf;
    for (;;) {
      const read = reader.read().filter(({ line }) => sweep === undefined || line.sweep === sweep);
      for (const event of read) await printData(`${textOf(event)}\n`);
      await printed();
      if (options.follow !== true) return 0;
      await sleep(LOOK_MS);
    }
  });
}

function placeIn(cursor: string | undefined): StreamPlace | null {
  if (cursor === undefined) return null;
  const place = parseCursor(cursor);
  if (place !== null) return place;
  throw new UserError(
    `--since ${lineText(cursor)} is no cursor.`,
    'Give it the `cursor` of a line of `memrl-tui events --json`; without it the oldest event comes first.',
  );
}

function jsonText({ stream, line, gap }: ReadEvent): string {
  const told = { ...line, n: undefined, from: undefined };
  const event: Answers['events'] = { cursor: cursorText(stream, line.n), ...told, ...(gap ? { gap } : {}) };
  return JSON.stringify(versioned('events', event));
}

/** `2026-11-29 10:24:03  abcd/A_s0  failed (attempt 1): ValueError: no such shape`, in local time. */
function lineOf({ line, gap }: ReadEvent): string {
  const { at, sweep, group, run } = line;
  const who = run === undefined ? `${sweep}${group === undefined ? '' : `/${group}`}` : `${sweep}/${run}`;
  const time = new Date(at).toLocaleString('sv');
  return `${gap ? '(events before this one are not kept any more)\n' : ''}${time}  ${displayText(who)}  ${displayText(wordsOf(line))}`;
}

function wordsOf(line: StreamLine): string {
  const { event, health, reason } = line;
  const details = detailsOf(line);
  const why = [health, reason].filter((words) => words !== undefined).join(': ');
  return `${event}${details.length === 0 ? '' : ` (${details.join(', ')})`}${why === '' ? '' : `: ${why}`}`;
}

function detailsOf({ runs = 1, slot, attempt = 1, code, counts = {}, metric, value }: StreamLine): string[] {
  return [
    ...(runs === 1 ? [] : [`and ${counted(runs - 1, 'other')}`]),
    ...(slot === undefined ? [] : [`on ${slot}`]),
    ...(attempt === 1 ? [] : [`attempt ${attempt}`]),
    ...(code === undefined ? [] : [`exit code ${code}`]),
    ...Object.entries(counts).map(([state, count]) => `${count} ${state}`),
    ...(value === undefined ? [] : [`${metric} ${narrowNumber(value)}`]),
  ];
}
