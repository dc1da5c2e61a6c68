import { isMapValue, type ParameterValue } from '../../base/scalar.js';
import { cleanText } from '../../text/display-text.js';
import type { Condition } from './failure-causes.js';

/** Conditions as a query accepts them: `batch_size=64 and dim>=128`. */
export function conditionsText(conditions: readonly Condition[]): string {
  return conditions.map(conditionText).join(' and ');
}

function conditionText(condition: Condition): string {
  const name = cleanText(condition.parameter);
  if (condition.kind !== 'is') return `${name}${condition.kind === 'at least' ? '>=' : '<='}${String(condition.value)}`;
  return condition.value === undefined ? `no ${name}` : `${name}=${valueText(condition.value)}`;
}

/** The text of a value; an empty text is quoted, as it would be invisible. */
function valueText(value: ParameterValue): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (isMapValue(value)) return cleanText(JSON.stringify(value));
  return typeof value === 'string' ? cleanText(value) || '""' : String(value);
}

/** `p < 1e-99`, `p = 0.02`. Smaller probabilities are cut off, as they mean nothing more. */
export function chanceText(log10P: number): string {
  if (log10P > -3) return `p = ${(10 ** log10P).toPrecision(1)}`;
  return `p < 1e-${Math.min(99, Math.floor(-log10P))}`;
}
