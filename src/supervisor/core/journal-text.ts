/**
 * What stands in a journal: a header, perhaps a snapshot of all that came before, then one event a line.
 *
 * Version 1 had no snapshots, versions 1 and 2 fewer kinds of event, up to version 3 a submission was one line, however many
 * runs it had, and up to version 4 all runs of a group came with a person's submission; all they wrote still means the same.
 */
import * as z from 'zod';
import { RunId } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import { type EventOf, SchedulerEvent, SubmittedRun } from '../../scheduler/event.js';
import { passTurn } from '../../processes/turn.js';

/**
 * What was found in a journal. `snapshot`: the state before the first event, as it was written; null: nothing was.
 * `dropped`: what was left out and why, in words, one entry a line.
 */
export type JournalContents = { snapshot: unknown; events: SchedulerEvent[]; dropped: string[] };

/**
 * `end`: bytes up to the last line that makes sense. `version` 0: it does not begin with a header. `damaged`: lines that no crash
 * of ours leaves behind, unlike a torn one.
 */
type JournalText = JournalContents & { end: number; version: number; damaged: number };

/**
 * Hears what is in a journal while it is read: the snapshot first, if there is one, then each event. So a hundred thousand
 * events, 17 MB, need not be in memory together.
 */
export type JournalSink = { snapshot: (data: unknown) => void; event: (event: SchedulerEvent) => void };

export const VERSION = 5;
const READABLE = [1, 2, 3, 4, VERSION];
/** Runs of one part of a snapshot. */
const PART = 1000;
/** A damaged file may have more bad lines than anyone reads. */
const TOLD = 20;

/** The first line of a journal that began with nothing. As long in every version, so that it can be raised in place. */
export const headerLine = `${JSON.stringify({ type: 'journal', version: VERSION })}\n`;

/** What every header begins with: written over that of an older version, it raises it. */
export const versionMark = headerLine.slice(0, headerLine.indexOf('}'));

/** The line of an event. */
export function eventLine(event: SchedulerEvent): string {
  return `${JSON.stringify(event.type === 'runs-submitted' ? submissionLine(event) : event)}\n`;
}

/** Whether the event has several lines. */
export function isInPages(event: SchedulerEvent): event is EventOf<'runs-submitted'> {
  return event.type === 'runs-submitted' && event.portion !== undefined;
}

/** The lines of an event; a submission of many runs has several, so that to write it can be done in turns. */
export function* eventLines(event: SchedulerEvent): Generator<string> {
  if (!isInPages(event)) yield eventLine(event);
  else for (const line of submissionLines(event)) yield `${JSON.stringify(line)}\n`;
}

/**
 * The beginning of a journal that goes on from `state`, which stands for all events before it and is plain JSON. In parts, each
 * made when it is asked for: a state of fifty thousand runs is 10 MB.
 */
export function* beginningParts(state: unknown): Generator<string> {
  const header = JSON.stringify({ type: 'journal', version: VERSION, snapshot: true });
  const { runs, ...rest } = state as { runs?: unknown };
  if (!Array.isArray(runs) || runs.length <= PART) {
    yield `${header}\n${JSON.stringify({ type: 'snapshot', state })}\n`;
    return;
  }
  yield `${header}\n{"type":"snapshot","state":{"runs":[`;
  for (let from = 0; from < runs.length; from += PART) {
    yield `${from === 0 ? '' : ','}${JSON.stringify(runs.slice(from, from + PART)).slice(1, -1)}`;
  }
  // What follows is an object without its first brace.
  const more = JSON.stringify(rest).slice(1);
  yield `]${more === '}' ? '' : ','}${more}}\n`;
}

/**
 * Reads what is whole; a line that was torn or damaged is left out and told of, and the rest counts. Throws a UserError for
 * what only another version can read, and where the snapshot is damaged: what it stood for must not be forgotten in silence.
 *
 * @param sink Gets snapshot and events instead of the result.
 */
export function parseJournal(bytes: Buffer, path: string, sink?: JournalSink): JournalText {
  const parsing = parsed(bytes, path, sink);
  for (;;) {
    const { done, value } = parsing.next();
    if (done === true) return value;
  }
}

/** As `parseJournal`, in turns. */
export async function parseInTurns(bytes: Buffer, path: string, sink?: JournalSink): Promise<JournalText> {
  const parsing = parsed(bytes, path, sink);
  for (;;) {
    const { done, value } = parsing.next();
    if (done === true) return value;
    await passTurn();
  }
}

/** Reads a line with every step. */
function* parsed(bytes: Buffer, path: string, sink?: JournalSink): Generator<void, JournalText> {
  const text: JournalText = { snapshot: null, events: [], dropped: [], end: 0, version: 0, damaged: 0 };
  const target = sink ?? collectorOf(text);
  const state = { requests: new Set<string>(), snapshotFollows: false, listed: null, leftOut: 0 };
  const reading: Reading = { text, target, path, ...state };
  for (let from = 0, number = 1; from < bytes.length; number++) {
    const newline = bytes.indexOf(10, from);
    const to = newline < 0 ? bytes.length : newline;
    const line = bytes.toString('utf8', from, to);
    const fault = newline < 0 && !reading.snapshotFollows ? 'torn' : takeLine(reading, line, number);
    if (fault !== null) leaveOut(reading, `line ${number} is ${fault} and was skipped: ${shown(line)}`, fault);
    else if (reading.listed === null) text.end = to + 1;
    from = to + 1;
    yield;
  }
  if (reading.listed !== null) leaveOut(reading, 'a submission without its last line was skipped', 'torn');
  if (reading.leftOut > TOLD) text.dropped.push(`${reading.leftOut - TOLD} more lines were skipped`);
  return text;
}

function leaveOut(reading: Reading, words: string, fault: string): void {
  if (fault === 'damaged') reading.text.damaged += 1;
  reading.leftOut += 1;
  if (reading.leftOut <= TOLD) reading.text.dropped.push(words);
}

function collectorOf(text: JournalText): JournalSink {
  return {
    snapshot: (data) => (text.snapshot = data),
    event: (event) => text.events.push(event),
  };
}

/**
 * `requests`: the lines of those read so far. `listed`: runs of a submission of which the last line is still to come.
 * `leftOut`: how often something was.
 */
type Reading = {
  text: JournalText;
  target: JournalSink;
  path: string;
  requests: Set<string>;
  snapshotFollows: boolean;
  listed: SubmittedRun[] | null;
  leftOut: number;
};

/** Takes the line in, or says what is wrong with it. */
function takeLine(reading: Reading, line: string, number: number): string | null {
  const value = jsonOf(line);
  if (number === 1) return takeHeader(reading, value);
  if (reading.snapshotFollows) return takeSnapshot(reading, value);
  const page = listedIn(value);
  return page === null ? takeEvent(reading, value, line) : takePage(reading, page);
}

function takeEvent(reading: Reading, value: unknown, line: string): string | null {
  const { listed, requests, target } = reading;
  const event = eventIn(value, listed ?? []);
  reading.listed = null;
  if (event === undefined) return 'damaged';
  const isOfPages = 'runs' in event && event.runs === listed;
  if (listed !== null && !isOfPages) leaveOut(reading, 'damaged pages of a submission were skipped', 'damaged');
  // Facts carry the number of their attempt and may come twice; a request would be done twice.
  if (event.type.endsWith('-requested') && requests.size === requests.add(line).size) return 'repeated';
  target.event(event);
  return null;
}

function takePage(reading: Reading, page: SubmittedRun[] | undefined): string | null {
  if (page === undefined) return 'damaged';
  reading.listed ??= [];
  for (const run of page) reading.listed.push(run);
  return null;
}

function takeHeader(reading: Reading, value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return 'damaged';
  const { type, version, snapshot } = value as { type?: unknown; version?: unknown; snapshot?: unknown };
  if (type !== 'journal' || !READABLE.includes(version as number)) {
    const written = shown(JSON.stringify({ type, version }));
    throw new UserError(
      `${reading.path} was written by another version of memrl-tui: it begins with ${written}.`,
      'Use the version that wrote it, or move the file away: the runs stay, only the history of their starts is lost.',
    );
  }
  reading.text.version = version as number;
  reading.snapshotFollows = snapshot === true;
  return null;
}

function takeSnapshot(reading: Reading, value: unknown): null {
  const { type, state } = (value ?? {}) as { type?: unknown; state?: unknown };
  if (type !== 'snapshot' || typeof state !== 'object' || state === null) throw damagedSnapshot(reading.path);
  reading.target.snapshot(state);
  reading.snapshotFollows = false;
  return null;
}

/** What to say where the snapshot cannot be understood. */
export function damagedSnapshot(path: string, cause?: unknown): UserError {
  return new UserError(
    `Line 2 of ${path} is damaged: it stands for everything that happened before it.`,
    'Bring the file back from a copy, or move it away: the runs stay, only the history of their starts is lost.',
    { cause },
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function shown(line: string): string {
  return line.slice(0, 200).replaceAll('\0', '␀');
}

/** What runs of a submission mostly have in common. */
const Terms = SubmittedRun.omit({ id: true, wish: true, attempts: true, needs: true });
type Terms = z.infer<typeof Terms>;

const wishes: readonly unknown[] = SubmittedRun.shape.wish.options;

/** Fewer are written out: a person may want to read them. */
const MANY = 100;

/** Runs of one line of a submission that is written in several: some 5 ms of work. */
const PAGE = 1000;
const LISTED = 'runs-listed';

/**
 * A submission as it is written down. That of many runs says once what they have in common, and of each run
 * `[id, place of its terms, wish, attempts]`, and the runs that it needs, if any: a quarter of the room, and of the time to read it.
 */
function submissionLine(event: EventOf<'runs-submitted'>): object {
  const { runs, ...rest } = event;
  return runs.length < MANY ? event : { ...rest, ...table(runs) };
}

/**
 * A submission of which runs are taken in by the portion, as lines that can be written and read one at a time: its runs page
 * by page, then what it is. Only with the last line it has happened.
 */
function* submissionLines(event: EventOf<'runs-submitted'>): Generator<object> {
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
  const rows = runs.map(({ id, wish, attempts, needs, ...own }) => {
    const more = needs === undefined ? [] : [needs];
    // Those that have them in common share the object.
    const near = byNeed.get(own.need);
    if (near !== undefined && isSame(terms[near]!, own)) return [id, near, wish, attempts, ...more];
    const key = JSON.stringify(own);
    const place = places.get(key) ?? terms.push(own) - 1;
    places.set(key, place);
    byNeed.set(own.need, place);
    return [id, place, wish, attempts, ...more];
  });
  return { terms, runs: rows };
}

function isSame(a: Terms, b: Terms): boolean {
  return (Object.keys(a) as (keyof Terms)[]).every((key) => a[key] === b[key]);
}

/** The runs of one page of a submission; undefined: they make no sense; null: it is no such page. */
function listedIn(value: unknown): SubmittedRun[] | undefined | null {
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
  const [id, place, wish, attempts, written] = row as unknown[];
  const terms = all[place as number];
  const isWhole = RunId.safeParse(id).success && wishes.includes(wish) && Number.isSafeInteger(attempts);
  const needs = written === undefined ? [] : z.array(RunId).safeParse(written).data;
  if (terms === undefined || needs === undefined || !isWhole || (attempts as number) < 0) return null;
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
    ...(written === undefined ? {} : { needs }),
  };
}
