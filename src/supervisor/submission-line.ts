import * as z from 'zod';
import { RunId } from '../base/ids.js';
import { type EventOf, SchedulerEvent, SubmittedRun } from '../scheduler/event.js';

/** What runs of a submission mostly have in common. */
const Terms = SubmittedRun.omit({ id: true, wish: true, attempts: true });
type Terms = z.infer<typeof Terms>;

const wishes: readonly unknown[] = SubmittedRun.shape.wish.options;

/** Fewer are written out: a person may want to read them. */
const MANY = 100;

/**
 * A submission as it is written down. That of many runs says once what they have in common, and of each run
 * `[id, place of its terms, wish, attempts]`: a quarter of the room, and of the time to read it.
 */
export function submissionLine(event: EventOf<'runs-submitted'>): object {
  const { runs, ...rest } = event;
  if (runs.length < MANY) return event;
  const places = new Map<string, number>();
  const terms: Terms[] = [];
  const rows = runs.map(({ id, wish, attempts, ...own }) => {
    const key = JSON.stringify(own);
    const place = places.get(key) ?? terms.push(own) - 1;
    places.set(key, place);
    return [id, place, wish, attempts];
  });
  return { ...rest, terms, runs: rows };
}

/** What stands in a line of the journal, as an event; undefined where it is none. */
export function eventIn(value: unknown): SchedulerEvent | undefined {
  if (typeof value !== 'object' || value === null || !('terms' in value)) return SchedulerEvent.safeParse(value).data;
  const { terms: written, runs: rows, ...rest } = value as { terms: unknown; runs?: unknown };
  const terms = z.array(Terms).safeParse(written).data;
  const event = SchedulerEvent.safeParse({ ...rest, runs: [] }).data;
  if (event?.type !== 'runs-submitted' || terms === undefined || !Array.isArray(rows)) return undefined;
  const runs = rows.map((row) => runIn(row, terms));
  return runs.every((run) => run !== null) ? { ...event, runs } : undefined;
}

/** By its name each field, as it is written, and checked by hand: a schema takes several times as long, fifty thousand times over. */
function runIn(row: unknown, all: readonly Terms[]): SubmittedRun | null {
  if (!Array.isArray(row)) return null;
  const [id, place, wish, attempts] = row as unknown[];
  const terms = all[place as number];
  const isWhole = RunId.safeParse(id).success && wishes.includes(wish) && Number.isSafeInteger(attempts);
  if (terms === undefined || !isWhole || (attempts as number) < 0) return null;
  return {
    id: id as RunId,
    group: terms.group,
    need: terms.need,
    graceMs: terms.graceMs,
    priority: terms.priority,
    timeoutMs: terms.timeoutMs,
    retry: terms.retry,
    wish: wish as SubmittedRun['wish'],
    attempts: attempts as number,
  };
}
