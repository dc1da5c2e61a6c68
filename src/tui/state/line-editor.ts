import { UserError } from '../../base/user-error.js';
import { checkRunQuery } from '../../query/check.js';
import { type Completion, completions } from '../../query/completions.js';
import { readRunQuery } from '../../query/parser.js';
import type { QueryProblem } from '../../query/query.js';
import { graphemes } from '../../text/display-width.js';
import type { RunSummary } from './port.js';

/** A line of text being typed. `at`: UTF-16 units before the cursor; never within a grapheme. */
export type EditedLine = { readonly text: string; readonly at: number };

export const emptyLine: EditedLine = { text: '', at: 0 };

/** A line with the cursor at its end. */
export function lineOf(text: string): EditedLine {
  return { text, at: text.length };
}

/**
 * The line after a key, named as `keyNames` does; null if the key does not edit text and is left to the caller.
 *
 * A key without effect (← at the start) returns the line unchanged. Keys are those of readline.
 */
export function editLine(line: EditedLine, key: string): EditedLine | null {
  const edit = edits[key];
  if (edit !== undefined) return edit(line);
  const typed = key === 'space' ? ' ' : key;
  return isOneCharacter(typed) ? insert(line, typed) : null;
}

/** Replaces the part of the line from `from` to the cursor; the cursor ends up behind the replacement. */
export function replaceBeforeCursor({ text, at }: EditedLine, from: number, by: string): EditedLine {
  return { text: text.slice(0, from) + by + text.slice(at), at: from + by.length };
}

type Edit = (line: EditedLine) => EditedLine;

const toStart: Edit = (line) => ({ ...line, at: 0 });
const toEnd: Edit = ({ text }) => lineOf(text);
const left: Edit = (line) => ({ ...line, at: before(line) });
const right: Edit = (line) => ({ ...line, at: after(line) });
const eraseBack: Edit = (line) => replaceBeforeCursor(line, before(line), '');
const eraseOn: Edit = (line) =>
  snapped({ text: line.text.slice(0, line.at) + line.text.slice(after(line)), at: line.at });

const edits: Readonly<Record<string, Edit>> = {
  left,
  right,
  home: toStart,
  end: toEnd,
  backspace: eraseBack,
  delete: eraseOn,
  'ctrl-a': toStart,
  'ctrl-e': toEnd,
  'ctrl-b': left,
  'ctrl-f': right,
  'ctrl-h': eraseBack,
  'ctrl-d': eraseOn,
  'ctrl-u': (line) => replaceBeforeCursor(line, 0, ''),
  'ctrl-k': ({ text, at }) => lineOf(text.slice(0, at)),
  'ctrl-w': (line) => replaceBeforeCursor(line, line.text.slice(0, line.at).search(/\S*\s*$/), ''),
};

/** Inserts text. Pasted characters come one by one, so an accent may combine with the letter before it. */
function insert(line: EditedLine, typed: string): EditedLine {
  return snapped(replaceBeforeCursor(line, line.at, typed));
}

/** Moves the cursor behind a grapheme that an edit may have formed around it. */
function snapped({ text, at }: EditedLine): EditedLine {
  return { text, at: bounds(text).find((bound) => bound >= at) ?? text.length };
}

function before({ text, at }: EditedLine): number {
  return bounds(text).findLast((bound) => bound < at) ?? 0;
}

function after({ text, at }: EditedLine): number {
  return bounds(text).find((bound) => bound > at) ?? text.length;
}

/** The possible positions of the cursor. */
function bounds(text: string): number[] {
  return [...[...graphemes(text)].map(({ index }) => index), text.length];
}

function isOneCharacter(key: string): boolean {
  const [character, ...others] = key;
  return character !== undefined && others.length === 0 && !/^[\p{Cc}\p{Cs}]$/u.test(character);
}

/** Possible completions at the cursor of a prompt, and the index of the one that Tab has inserted. */
export type Offer = Completion & { readonly chosen: number | null };

export const noOffer: Offer = { from: 0, candidates: [], chosen: null };

/** Possible completions of a query. None while the current word is empty, since everything would match. */
export function offerFor({ text, at }: EditedLine, runs: readonly RunSummary[]): Offer {
  const { from, candidates } = completions(text, at, runs);
  const isBegun = from < at || /[:=,]$/.test(text.slice(0, at));
  return isBegun ? { from, candidates, chosen: null } : noOffer;
}

/** Inserts the next candidate at the cursor: the first, or the one after the present one. */
export function complete(line: EditedLine, offer: Offer): { line: EditedLine; offer: Offer } | null {
  const { from, candidates } = offer;
  if (candidates.length === 0) return null;
  const chosen = offer.chosen === null ? 0 : (offer.chosen + 1) % candidates.length;
  const candidate = candidates[chosen]!;
  const completed = replaceBeforeCursor(line, from, candidate);
  // A single candidate needs no cycling; its values are offered next.
  return { line: completed, offer: candidates.length === 1 ? noOffer : { ...offer, chosen } };
}

/** A position in the history of entries; the length of the list stands for the line being typed. */
export type Recall = { readonly place: number; readonly typed: string };

/** The previous or next entry; null if there is none. */
export function recalled(
  entries: readonly string[],
  line: EditedLine,
  recall: Recall | null,
  step: -1 | 1,
): { line: EditedLine; recall: Recall } | null {
  const { place, typed } = recall ?? { place: entries.length, typed: line.text };
  const next = place + step;
  if (next < 0 || next > entries.length) return null;
  return { line: lineOf(entries[next] ?? typed), recall: { place: next, typed } };
}

/** The entries with one more at the end; duplicates are removed. */
export function remembered(entries: readonly string[], text: string): readonly string[] {
  if (text.trim() === '') return entries;
  return [...entries.filter((entry) => entry !== text), text].slice(-mostRemembered);
}

const mostRemembered = 50;

/** Why a query cannot be used on these runs; null if it can. */
export function queryProblem(text: string, runs: readonly RunSummary[]): QueryProblem | null {
  const query = readRunQuery(text);
  if (query.kind === 'problem') return query;
  try {
    checkRunQuery(query, runs);
    return null;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const key = /`([^`]*)`/.exec(error.message)?.[1] ?? '';
    return { kind: 'problem', problem: error.message, fix: error.fix, at: Math.max(0, text.indexOf(key)) };
  }
}
