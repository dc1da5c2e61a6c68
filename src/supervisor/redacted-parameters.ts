import type { Redact } from '../base/redaction.js';
import type { Parameters, Scalar } from '../base/scalar.js';

/** The parameters without secrets in their texts. */
export function redactedParameters(parameters: Parameters, redact: Redact): Parameters {
  const safe = (value: Scalar) => (typeof value === 'string' ? redact(value) : value);
  const entries = Object.entries(parameters).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(safe) : safe(value),
  ]);
  return Object.fromEntries(entries) as Parameters;
}
