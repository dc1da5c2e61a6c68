/**
 * The text of a journal: a header, optionally a snapshot of all earlier events, then one event a line.
 *
 * Version 1 had no snapshots, versions 1 and 2 had fewer kinds of event, up to version 3 a submission was one line with all its
 * runs, and up to version 4 all runs of a group came with a user's submission; all of these can still be read.
 */
import * as z from 'zod';
import { RunId } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import { type EventOf, SchedulerEvent, SubmittedRun } from '../../scheduler/event.js';
import { passTurn } from '../../processes/turn.js';

/**
 * The contents of a journal. `snapshot`: the state before the first event, as written; null: there is none. `dropped`: what was
 * left out and why, in words, one entry a line.
 */
export type JournalContents = { snapshot: unknown; events: SchedulerEvent[]; dropped: string[] };

/**
 * `end`: offset after the last valid line. `version` 0: there is no header. `damaged`: number of lines that no crash of this
 * program leaves behind, unlike an incomplete one.
 */
type JournalText = JournalContents & { end: number; version: number; damaged: number };

/**
 * Receives the contents of a journal while it is read: the snapshot first, if there is one, then each event. So a hundred thousand
 * events, 17 MB, need not be in memory together.
 */
export type JournalSink = { snapshot: (data: unknown) => void; event: (event: SchedulerEvent) => void };

export const VERSION = 5;
const READABLE = [1, 2, 3, 4, VERSION];
/** Number of runs in one part of a snapshot. */
const PART = 1000;
/** Limit on the damaged lines that are listed. */
const TOLD = 20;

/** The first line of a journal without a snapshot. It has the same length in every version, so that it can be upgraded in place. */
export const headerLine = `${JSON.stringify({ type: 'journal', version: VERSION })}\n`;

/** The common beginning of all headers of this version: written over an older one, it upgrades the journal. */
export const versionMark = headerLine.slice(0, headerLine.indexOf('}'));

/** The line of an event. */
export function eventLine(event: SchedulerEvent): string {
  return `${JSON.stringify(event.type === 'runs-submitted' ? submissionLine(event) : event)}\n`;
}

/** Whether an event is written in several lines. */
export function isInPages(event: SchedulerEvent): event is EventOf<'runs-submitted'> {
  return event.type === 'runs-submitted' && event.portion !== undefined;
}

/** The lines of an event; a submission of many runs has several, so that it can be written in several turns. */
export function* eventLines(event: SchedulerEvent): Generator<string> {
  if (!isInPages(event)) yield eventLine(event);
  else for (const line of submissionLines(event)) yield `${JSON.stringify(line)}\n`;
}

/**
 * The beginning of a journal that continues from `state`, which replaces all events before it and is plain JSON. In lazily made
 * parts: a state of fifty thousand runs is 10 MB.
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
  // The rest of the object, without its opening brace.
  const more = JSON.stringify(rest).slice(1);
  yield `]${more === '}' ? '' : ','}${more}}\n`;
}

/**
 * Parses complete lines; an incomplete or damaged one is left out and listed, and the rest counts. Throws a UserError for a newer
 * version, and for a damaged snapshot, as the state in it must not be lost silently.
 *
 * @param sink Receives snapshot and events, which the result then lacks.
 */
export function parseJournal(bytes: Buffer, path: string, sink?: JournalSink): JournalText {
  const parsing = parsed(bytes, path, sink);
  for (;;) {
    const { done, value } = parsing.next();
    if (done === true) return value;
  }
}

/** Like `parseJournal`, in several turns. */
export async function parseInTurns(bytes: Buffer, path: string, sink?: JournalSink): Promise<JournalText> {
  const parsing = parsed(bytes, path, sink);
  for (;;) {
    const { done, value } = parsing.next();
    if (done === true) return value;
    await passTurn();
  }
}

/** Parses one line in each step. */
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
 * `requests`: the lines of all requests so far. `listed`: runs of a submission whose last line is still to come. `leftOut`: number
 * of lines left out.
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

/** Processes a line; returns what is wrong with it, or null. */
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
  // Facts have the number of their attempt and may be repeated; a repeated request would be carried out twice.
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

/** The error for a snapshot that cannot be parsed. */
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

/** Properties that most runs of a submission share. */
const Terms = SubmittedRun.omit({ id: true, wish: true, attempts: true, needs: true });
type Terms = z.infer<typeof Terms>;

const wishes: readonly unknown[] = SubmittedRun.shape.wish.options;

/** A submission with fewer runs is written in full, which is easier to read. */
const MANY = 100;

/** Number of runs in one line of a submission with several lines: some 5 ms of work. */
const PAGE = 1000;
const LISTED = 'runs-listed';

/**
 * The line of a submission. With many runs it lists their shared properties once, and for each run `[id, index of its properties,
 * wish, attempts]`, and the runs that it needs, if any: a quarter of the size, and of the time to parse.
 */
function submissionLine(event: EventOf<'runs-submitted'>): object {
  const { runs, ...rest } = event;
  return runs.length < MANY ? event : { ...rest, ...table(runs) };
}

/**
 * A submission whose runs are added in portions, as lines that can be written and read one at a time: pages of its runs, then the
 * submission itself. It takes effect only with the last line.
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
    // Runs with the same needs share the object.
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

/** The runs of one page of a submission; undefined: they are invalid; null: the line is no such page. */
function listedIn(value: unknown): SubmittedRun[] | undefined | null {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === LISTED ? rowsIn(value) : null;
}

/** The event in a line of the journal; undefined: there is none. `listed`: runs on the pages before it. */
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

/** Checks each field by hand, in the order in which it is written: a schema takes several times as long for fifty thousand runs. */
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
