import * as z from 'zod';
import { RunId } from '../../base/ids.js';
import { type EventOf, SchedulerEvent, SubmittedRun } from '../../scheduler/event.js';

/** What runs of a submission mostly have in common. */
const Terms = SubmittedRun.omit({ id: true, wish: true, attempts: true });
type Terms = z.infer<typeof Terms>;

const wishes: readonly unknown[] = SubmittedRun.shape.wish.options;

/** Fewer are written out: a person may want to read them. */
const MANY = 100;

/** Runs of one line of a submission that is written in several: some 5 ms of work. */
const PAGE = 1000;
const LISTED = 'runs-listed';

/**
 * A submission as it is written down. That of many runs says once what they have in common, and of each run
 * `[id, place of its terms, wish, attempts]`: a quarter of the room, and of the time to read it.
 */
export function submissionLine(event: EventOf<'runs-submitted'>): object {
  const { runs, ...rest } = event;
  return runs.length < MANY ? event : { ...rest, ...table(runs) };
}

/**
 * A submission of which runs are taken in by the portion, as lines that can be written and read one at a time: its runs page
 * by page, then what it is. Only with the last line it has happened.
 */
export function* submissionLines(event: EventOf<'runs-submitted'>): Generator<object> {
  const { runs, ...rest } = event;
  for (let from = 0; from < runs.length; from += PAGE) {
    yield { type: LISTED, ...table(runs.slice(from, from + PAGE)) };
  }
  yield { ...rest, listed: runs.length, runs: [] };
}

function table(runs: readonly SubmittedRun[]): { terms: Terms[]; runs: unknown[] } {
  const places = new Map<string, number>();
  const terms: Terms[] = [];
  const byNeed = new Map<Terms['need'], number>();
  const rows = runs.map(({ id, wish, attempts, ...own }) => {
    // Those that have them in common share the object.
    const near = byNeed.get(own.need);
    if (near !== undefined && isSame(terms[near]!, own)) return [id, near, wish, attempts];
    const key = JSON.stringify(own);
    const place = places.get(key) ?? terms.push(own) - 1;
    places.set(key, place);
    byNeed.set(own.need, place);
    return [id, place, wish, attempts];
  });
  return { terms, runs: rows };
}

function isSame(a: Terms, b: Terms): boolean {
  return (Object.keys(a) as (keyof Terms)[]).every((key) => a[key] === b[key]);
}

/** The runs of one page of a submission; undefined: they make no sense; null: it is no such page. */
export function listedIn(value: unknown): SubmittedRun[] | undefined | null {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === LISTED ? rowsIn(value) : null;
}

/** What stands in a line of the journal, as an event; undefined where it is none. `listed`: runs on the pages before it. */
export function eventIn(value: unknown, listed: SubmittedRun[] = []): SchedulerEvent | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!('terms' in value || 'listed' in value)) return SchedulerEvent.safeParse(value).data;
  const event = SchedulerEvent.safeParse({ ...value, runs: [] }).data;
  const runs = 'listed' in value ? whole(listed, value.listed) : rowsIn(value);
  return event?.type !== 'runs-submitted' || runs === undefined ? undefined : { ...event, runs };
}

function whole(listed: SubmittedRun[], count: unknown): SubmittedRun[] | undefined {
  return listed.length === count ? listed : undefined;
}

function rowsIn(page: object): SubmittedRun[] | undefined {
  const { terms: written, runs: rows } = page as { terms?: unknown; runs?: unknown };
  const terms = z.array(Terms).safeParse(written).data;
  if (terms === undefined || !Array.isArray(rows)) return undefined;
  const runs = rows.map((row) => runIn(row, terms));
  return runs.every((run) => run !== null) ? runs : undefined;
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
