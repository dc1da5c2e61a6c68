import { parameterOf, type Parameters } from '../../base/scalar.js';
import type { Condition } from './failure-causes.js';

type Value = Extract<Condition, { kind: 'is' }>;

/** The values that all failed runs have, and not all runs. @param all With the failed ones. */
export function commonValues(failed: readonly Parameters[], all: readonly Parameters[]): Value[] {
  const [first] = failed;
  if (first === undefined) return [];
  return Object.keys(first)
    .map((parameter): Value => ({ kind: 'is', parameter, value: parameterOf(first, parameter) }))
    .filter((value) => failed.every((own) => hasValues(own, [value])) && !all.every((own) => hasValues(own, [value])));
}

/** Whether a run has all of these values. */
export function hasValues(parameters: Parameters, values: readonly Value[]): boolean {
  return values.every(({ parameter, value }) => textOf(parameterOf(parameters, parameter)) === textOf(value));
}

function textOf(value: Value['value']): string | undefined {
  return JSON.stringify(value);
}
