import type { RunSummary } from '../state/port.js';
import { parameterText } from './parameter-text.js';

/** Parameters that do not have the same value in all runs. */
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
  return varying;
}
