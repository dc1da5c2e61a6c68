import { isMapValue } from '../../base/scalar.js';
import { cleanText } from '../../text/display-text.js';
import { naturalOrder } from '../../text/natural-order.js';
import type { RunSummary } from '../state/port.js';

export type ParameterValue = RunSummary['parameters'][string] | undefined;

/** The value on one line; empty if the run does not have the parameter. */
export function parameterText(value: ParameterValue): string {
  if (value === undefined) return '';
  if (Array.isArray(value)) return `[${value.map((item) => parameterText(item)).join(', ')}]`;
  if (isMapValue(value)) return cleanText(JSON.stringify(value));
  return typeof value === 'string' ? cleanText(value) : String(value);
}

/** Compares two values: numbers by value, then other values in natural text order, then missing ones. */
export function parameterOrder(a: ParameterValue, b: ParameterValue): number {
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  return typeof a === 'number' && typeof b === 'number'
    ? compareNumbers(a, b)
    : naturalOrder(parameterText(a), parameterText(b));
}

function rankOf(value: ParameterValue): number {
  return typeof value === 'number' ? 0 : value === undefined ? 2 : 1;
}

/** Compares by sign, because the difference of two infinities is NaN. */
function compareNumbers(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
