import { mostRuns } from '../expand/compiled-block.js';
import type { Value } from '../expand/expression/cel-environment.js';
import { ValueMistake } from './value-syntax.js';

/** How a parameter gets its values. */
export type GridValue =
  | { readonly kind: 'constant'; readonly value: Value }
  | { readonly kind: 'list'; readonly values: readonly Value[] }
  /** In the keys of the sweep file: `distribution`, `min`, `max`, `q`. */
  | { readonly kind: 'drawn'; readonly distribution: Readonly<Record<string, string | number>> };

/** A range of characters. */
export type Span = { readonly start: number; readonly end: number };

/** An arithmetic sequence. */
type Steps = { first: number; last: number; step: number; isEndIncluded: boolean };

/**
 * The numbers of a sequence, with no more decimals than `first` and `step` have: `range(0,0.3,0.1)` contains 0.1 and 0.2.
 *
 * @throws {ValueMistake} When there are none, or too many.
 */
export function steps({ first, last, step, isEndIncluded }: Steps, place: Span): number[] {
  const exact = (last - first) / step;
  if (step === 0 || !Number.isFinite(exact)) {
    throw new ValueMistake('the step cannot be 0.', 'Write for example `range(0,10,2)`.', place);
  }
  // Steps of 0.1 do not reach the end exactly.
  const isMet = Math.abs(exact - Math.round(exact)) < 1e-9;
  const size = isMet ? Math.round(exact) + Number(isEndIncluded) : Math.floor(exact) + 1;
  if (size < 1) {
    const problem = `there is nothing from ${first} to ${last} in steps of ${step}.`;
    throw new ValueMistake(problem, 'Exchange the ends, or change the sign of the step.', place);
  }
  refuseMany(size, place);
  const decimals = Math.min(100, Math.max(decimalsOf(first), decimalsOf(step)));
  return Array.from({ length: size }, (_, index) => Number((first + index * step).toFixed(decimals)));
}

/** `count` numbers from one end to the other, both included, rounded to 12 digits. */
export function spaced(first: number, last: number, count: number): number[] {
  if (count === 1) return [first];
  const width = (last - first) / (count - 1);
  return Array.from({ length: count }, (_, index) => rounded(first + index * width));
}

/** Removes the last digits, which are rounding errors. */
export function rounded(value: number): number {
  return Number(value.toPrecision(12));
}

/** @throws {ValueMistake} When there are more values than a sweep may have runs. */
export function refuseMany(count: number, place: Span): void {
  if (count <= mostRuns) return;
  const problem = `these are ${count.toLocaleString('en-US')} values; the limit is ${mostRuns.toLocaleString('en-US')}.`;
  throw new ValueMistake(problem, 'Make the range smaller, or its step larger.', place);
}

function decimalsOf(value: number): number {
  const [digits = '', power = '0'] = value.toExponential().split('e');
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(power));
}
