/** Makes answers short enough for the context of a language model, and says what was left out. */
import { terminalJson } from '../../text/display-text.js';

/** Size limit of an answer, in bytes. */
export const MOST_BYTES = 25_000;
/** Room for the sentence about what was left out, in bytes. */
const SENTENCE_BYTES = 1000;
/** Length limits of a text within an answer, in characters: the usual one, and the one for answers that do not fit otherwise. */
const TEXT_LENGTHS = [4000, 200] as const;
/** Fields of an object that are never left out of it. */
const LEAST_FIELDS = 40;

/** What was left out of a list, by its place in the answer: `runs`, `sweeps.groups`. */
type Cuts = Map<string, { readonly kept: number; readonly all: number }>;
type Limits = { readonly items: number; readonly length: number; readonly cuts: Cuts };

/**
 * An object as JSON of at most `MOST_BYTES`. If all of it is longer, long lists lose their last items, and `left_out` says which.
 *
 * @param narrow How to get at the rest, as a sentence. `kept`: items of each list that are there.
 */
export function fitted(value: object, narrow: (kept: number) => string): string {
  const all = jsonOf(value);
  if (isShort(all, 0)) return all;
  for (const length of TEXT_LENGTHS) {
    const text = longestFitting(value, length, narrow);
    if (text !== null) return text;
  }
  return jsonOf({ left_out: `The answer is too long to be shown. ${narrow(0)}` });
}

/** Lists keep as many items as there is room for; null: not even one item of each fits. */
function longestFitting(value: object, length: number, narrow: (kept: number) => string): string | null {
  let best: string | null = null;
  for (let [least, most] = [1, 4096]; least <= most;) {
    const items = (least + most) >> 1;
    const cuts: Cuts = new Map();
    const short = capped(value, { items, length, cuts }, '') as object;
    const isFitting = isShort(jsonOf(short), SENTENCE_BYTES);
    if (isFitting) best = jsonOf({ ...short, left_out: `${cutsText(cuts)} ${narrow(items)}` });
    if (isFitting) least = items + 1;
    else most = items - 1;
  }
  return best;
}

function capped(value: unknown, limits: Limits, place: string): unknown {
  if (typeof value === 'string') return value.length > limits.length ? `${value.slice(0, limits.length)}…` : value;
  if (Array.isArray(value)) return cappedList(value, limits, place);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const kept = entries.slice(0, Math.max(limits.items, LEAST_FIELDS));
  noteCut(limits.cuts, place, { kept: kept.length, all: entries.length });
  return Object.fromEntries(
    kept.map(([key, each]) => [key, capped(each, limits, place === '' ? key : `${place}.${key}`)]),
  );
}

/** The points of a curve stay together. */
function cappedList(list: readonly unknown[], limits: Limits, place: string): unknown[] {
  if (typeof list[0] === 'number' || Array.isArray(list[0])) return [...list];
  const kept = list.slice(0, limits.items);
  noteCut(limits.cuts, place, { kept: kept.length, all: list.length });
  return kept.map((each) => capped(each, limits, place));
}

function noteCut(cuts: Cuts, place: string, { kept, all }: { kept: number; all: number }): void {
  if (kept < all && !cuts.has(place)) cuts.set(place, { kept, all });
}

function cutsText(cuts: Cuts): string {
  const lists = [...cuts].slice(0, 5).map(([place, { kept, all }]) => `${kept} of ${all} ${place}`);
  return lists.length === 0 ? 'Long texts are shortened.' : `Shown are ${lists.join(', ')}.`;
}

/** Lines of text of at most `MOST_BYTES`, with a last line about what was left out. `end`: which end of the text is kept. */
export function fittedText(text: string, end: 'first' | 'last', narrow: string): string {
  if (isShort(text, 0)) return text;
  const lines = text.replace(/\n$/, '').split('\n');
  const kept = fittingLines(end === 'first' ? lines : [...lines].reverse(), MOST_BYTES - SENTENCE_BYTES);
  const shown = end === 'first' ? kept : kept.reverse();
  const left = `[left out: ${lines.length - shown.length} of ${lines.length} lines. ${narrow}]`;
  return (end === 'first' ? [...shown, left] : [left, ...shown]).join('\n');
}

/** The first lines that fit, at least a part of one. */
function fittingLines(lines: readonly string[], most: number): string[] {
  const kept: string[] = [];
  let room = most;
  for (const line of lines) {
    room -= Buffer.byteLength(line) + 1;
    if (room < 0) break;
    kept.push(line);
  }
  return kept.length > 0 ? kept : [`${lines[0]!.slice(0, most / 4)}…`];
}

/** JSON that is also safe on a terminal, as a client may show it on one. */
export function jsonOf(value: unknown): string {
  return terminalJson(JSON.stringify(value));
}

function isShort(text: string, reserved: number): boolean {
  return Buffer.byteLength(text) <= MOST_BYTES - reserved;
}
