import {
  distance,
  type Handler,
  type KeyContext,
  type Movement,
  type Pressed,
  refuse,
} from '../../keys/key-context.js';
import { tooLongWords } from '../../../logs/log-search.js';
import type { Samples } from '../../../logs/samples.js';
import { lineOf } from '../../state/line-editor.js';
import { anotherLog, type LogHit, type LogPlace, type LogSeek, type Sought } from '../../state/run-choice.js';
import type { UiState } from '../../state/ui-state.js';
import type { Size } from '../../surface/surface.js';
import { logRoom } from '../../widgets/log/log-pane.js';
import { lineAt, type LogPage, type LogRoom, placeAfter, topOf } from '../../widgets/log/log-scroll.js';

/** What the keys of an open run need to know. */
export type RunContext = {
  /** Size of the pane in use; for charts, `height` is the number of visible ones. Null: nothing is shown. */
  readonly focus: Size | null;
  /** The part of its log that has been read. */
  readonly log: LogPage | null;
  /** Its samples, while they are shown. */
  readonly samples?: Samples | null | undefined;
  /** The run whose samples can be shown beside them; null or absent: none is pinned. */
  readonly pinned?: { readonly label: string } | null;
  /** The step at the cursor of the marked chart; null: there is no cursor, or no step there. */
  readonly pointStep?: () => number | null;
};

/** The context of an open run; other screens have no log. */
export function runContext(ui: UiState, { own }: KeyContext): RunContext {
  return ui.screen.kind === 'run' ? (own as RunContext) : { focus: null, log: null };
}

export const wrap: Handler = (ui) => {
  const note = { text: ui.log.wraps ? 'Long lines are cut.' : 'Long lines are wrapped.', tone: 'dim' } as const;
  return { ui: { ...ui, log: { ...ui.log, wraps: !ui.log.wraps }, note } };
};

/** Whether keys act on the log of an open run. */
export function isReadingLog({ screen }: UiState, at: KeyContext): boolean {
  return screen.kind === 'run' && screen.pane === 'log' && at.rows[at.index]?.kind === 'run';
}

export function askSearch(ui: UiState): Pressed {
  const { search } = ui.log;
  return { ui: { ...ui, dialog: { kind: 'search', line: lineOf(search), before: search, problem: null } } };
}

/** A search for a pattern, starting at the line found last or at the first visible line. */
export function searchFrom(ui: UiState, at: KeyContext, pattern: string): LogSeek {
  return seekOf('pattern', pattern, { from: startOf(ui, at), direction: 1 });
}

/** Stops the search under way. Null: there is none. */
export function stopSearch(ui: UiState): Pressed | null {
  if (ui.log.seek === null) return null;
  return { ui: { ...ui, log: { ...ui.log, seek: null }, note: { text: 'The search was stopped.', tone: 'dim' } } };
}

/** Shows the result of a search: the line that was found, or a note that there is none. */
export function withFound(ui: UiState, seek: LogSeek, offset: Sought): UiState {
  if (ui.log.seek !== seek) return ui;
  const log = { ...ui.log, seek: null };
  if (offset === 'too long') return { ...ui, log, note: { text: tooLongWords(seek.pattern), tone: 'bad' } };
  if (offset === null) return { ...ui, log, note: { text: nothing(seek), tone: 'warn' } };
  const hit: LogHit = { of: seek.of, offset };
  return { ...ui, log: { ...log, hit, place: { kind: 'around', offset } }, note: turnNote(seek, offset) };
}

function nothing({ of, pattern }: LogSeek): string {
  return of === 'error' ? 'No error was found in the log.' : `No line of the log matches ${pattern}.`;
}

function turnNote({ from, direction }: LogSeek, offset: number): UiState['note'] {
  if (direction > 0 && offset < from)
    return { text: 'No more matches below; continuing from the first line.', tone: 'dim' };
  if (direction < 0 && offset >= from) return { text: 'No more matches above; continuing from the end.', tone: 'dim' };
  return null;
}

/** Scrolls the log of an open run by rows. */
export function scrollLog(ui: UiState, movement: Movement, at: KeyContext): Pressed {
  const room = roomOf(ui, at);
  const { log } = runContext(ui, at);
  if (log === null || room === null) return refuse(ui, notYet);
  if (movement === 'first') return { ui: withPlace(ui, { kind: 'top', offset: 0, row: 0 }) };
  if (movement === 'last') {
    return ui.log.place.kind === 'end' ? refuse(ui, atEnd) : { ui: withPlace(ui, { kind: 'end' }) };
  }
  return scrollRows(ui, log, room, distance(movement, Math.max(1, room.height - 1)));
}

function scrollRows(ui: UiState, page: LogPage, room: LogRoom, rows: number): Pressed {
  const top = topOf(page, ui.log.place, room);
  if (top === null) return refuse(ui, 'Nothing has been written yet.');
  const place = placeAfter(page, top, rows, room);
  const after = topOf(page, place, room);
  if (after?.index !== top.index || after.row !== top.row) return { ui: withPlace(ui, place) };
  return refuse(ui, rows > 0 ? atEnd : page.from === 0 ? 'This is the first line.' : notYet);
}

const notYet = 'The log is being read; try again in a moment.';
const atEnd = 'This is the end; new output appears here by itself.';

function withPlace(ui: UiState, place: LogPlace): UiState {
  return { ...ui, log: { ...ui.log, place, hit: null } };
}

/** Searches for the next or previous match. */
export function searchOn(ui: UiState, at: KeyContext, direction: 1 | -1): Pressed {
  const { search } = ui.log;
  if (at.rows[at.index]?.kind !== 'run') return refuse(ui, 'Open a run to search its log: a group has none.');
  if (search === '') return refuse(ui, `Search for something first: ${at.keyOf('filter')}.`);
  const from = direction > 0 ? startOf(ui, at) : (ui.log.hit?.offset ?? startOf(ui, at));
  return { ui: inLog(ui, seekOf('pattern', search, { from, direction })) };
}

/** Shows the first error in the log, or the next one if the first is visible. */
export function firstError(ui: UiState, at: KeyContext): Pressed {
  const node = at.rows[at.index];
  if (node?.kind !== 'run') return refuse(ui, 'Select a run: a group has no log.');
  const isNext = ui.screen.kind === 'run' && ui.log.hit?.of === 'error';
  const fresh = ui.screen.kind === 'run' ? ui : { ...ui, log: anotherLog(ui.log) };
  return { ui: inLog(fresh, seekOf('error', '', { from: isNext ? startOf(ui, at) : 0, direction: 1 })) };
}

/** Starts a search and shows the log. */
function inLog(ui: UiState, seek: LogSeek): UiState {
  return { ...ui, screen: { kind: 'run', pane: 'log', offset: 0 }, log: { ...ui.log, seek } };
}

function seekOf(of: LogSeek['of'], pattern: string, way: Pick<LogSeek, 'from' | 'direction'>): LogSeek {
  return { of, pattern, ...way };
}

/** The line where a search starts: after the line found last, or the first visible line. */
function startOf(ui: UiState, at: KeyContext): number {
  const page = runContext(ui, at).log;
  if (page === null || page.lines.length === 0) return 0;
  const { hit } = ui.log;
  if (hit !== null) {
    const line = page.lines[lineAt(page, hit.offset)];
    return line?.offset === hit.offset ? line.end : hit.offset;
  }
  const room = roomOf(ui, at);
  const top = room === null ? null : topOf(page, ui.log.place, room);
  return top === null ? 0 : page.lines[top.index]!.offset;
}

/** Size of the log; null: the log is not in use. */
function roomOf(ui: UiState, at: KeyContext): LogRoom | null {
  const { focus } = runContext(ui, at);
  const isLog = ui.screen.kind === 'run' && ui.screen.pane === 'log';
  return focus === null || !isLog ? null : logRoom(focus, ui.log.wraps);
}
