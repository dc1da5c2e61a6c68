import { UserError } from '../../base/user-error.js';
import type { Completion } from './completion.js';

/**
 * Checks for one finite number per completion: a NaN would reach every weight through the advantages of its group, and
 * a missing number would give each sample its neighbour's reward.
 *
 * @param what For errors: ``The reward `happy_count` ``.
 */
export function checkScores(found: unknown, completions: readonly Completion[], what: string): number[] {
  const scores = listOf(found, completions, { what, of: 'numbers' });
  scores.forEach((score, at) => {
    if (typeof score === 'number' && Number.isFinite(score)) return;
    throw wrongValueError(what, { value: score, at, wanted: 'a finite number' }, completions);
  });
  return scores as number[];
}

/** Checks a detector's output: true or false for each completion. */
export function checkFlags(found: unknown, completions: readonly Completion[], what: string): boolean[] {
  const flags = listOf(found, completions, { what, of: 'booleans' });
  flags.forEach((flag, at) => {
    if (typeof flag !== 'boolean')
      throw wrongValueError(what, { value: flag, at, wanted: 'true or false' }, completions);
  });
  return flags as boolean[];
}

function listOf(
  found: unknown,
  { length }: readonly Completion[],
  { what, of }: { what: string; of: string },
): unknown[] {
  const list = ArrayBuffer.isView(found) && !(found instanceof DataView) ? Array.from(found as Float64Array) : found;
  const fix = `Let it return an array of ${of}, one for each completion, in their order.`;
  if (!Array.isArray(list))
    throw new UserError(`${what} returned ${descriptionOf(found)} in place of ${length} ${of}.`, fix);
  if (list.length === length) return [...(list as unknown[])];
  throw new UserError(`${what} returned ${list.length} ${of} for ${length} completions.`, fix);
}

type WrongValue = { readonly value: unknown; readonly at: number; readonly wanted: string };

function wrongValueError(
  what: string,
  { value, at, wanted }: WrongValue,
  completions: readonly Completion[],
): UserError {
  const text = JSON.stringify(completions[at]!.text.slice(0, 60));
  return new UserError(
    `${what} gave ${descriptionOf(value)} for completion ${at}, ${text}.`,
    `Let it give ${wanted} for every text, an empty one too.`,
  );
}

function descriptionOf(value: unknown): string {
  if (value instanceof Promise) return 'a promise';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 30));
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}
