import { type Completion, completions } from '../../query/completions.js';
import { type EditedLine, lineOf, replaceBeforeCursor } from './line-editor.js';
import type { RunSummary } from './port.js';

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
