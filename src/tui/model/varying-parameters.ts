import { isMapValue } from '../../base/scalar.js';
import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import { naturalOrder } from '../../text/natural-order.js';
import type { RunSummary } from '../state/port.js';

/** Every parameter that differs between runs, with its number of values. */
export type VaryingParameters = ReadonlyMap<string, VaryingParameter>;

type VaryingParameter = {
  /** Number of distinct values; a missing parameter counts as one. */
  readonly values: number;
  /** Columns of the widest value. */
  readonly width: number;
  /** Whether every value is a number, which is aligned right. */
  readonly isNumeric: boolean;
};

/** The parameters in the order of the sweep file. */
export function varyingParametersOf(runs: readonly Pick<RunSummary, 'parameters'>[]): VaryingParameters {
  const found = new Map<string, { texts: Set<string>; runs: number; isNumeric: boolean }>();
  for (const { parameters } of runs) {
    for (const key in parameters) {
      const value = parameters[key];
      let known = found.get(key);
      if (known === undefined) found.set(key, (known = { texts: new Set(), runs: 0, isNumeric: true }));
      known.texts.add(parameterText(value));
      known.runs++;
      if (typeof value !== 'number') known.isNumeric = false;
    }
  }
  const all = [...found].map(([key, { texts, runs: count, isNumeric }]): [string, VaryingParameter] => {
    const width = Math.max(...[...texts].map(textWidth));
    return [key, { values: texts.size + (count < runs.length ? 1 : 0), width, isNumeric }];
  });
  return new Map(all.filter(([, { values }]) => values > 1));
}

/** Parameters that do not have the same value in all runs, in the order of the sweep file. */
export function varyingKeys(runs: readonly RunSummary[]): ReadonlySet<string> {
  const first = new Map<string, string>();
  const varying = new Set<string>();
  const counts = new Map<string, number>();
  for (const { parameters } of runs) {
    for (const [key, value] of Object.entries(parameters)) {
      if (varying.has(key)) continue;
      const text = parameterText(value);
      if ((first.get(key) ?? text) !== text) varying.add(key);
      first.set(key, text);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  for (const [key, count] of counts) if (count < runs.length) varying.add(key);
  return new Set([...first.keys()].filter((key) => varying.has(key)));
}

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
