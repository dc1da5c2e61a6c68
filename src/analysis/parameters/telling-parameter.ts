import { isSeedName, parameterOf, type Parameters } from '../../base/scalar.js';

/**
 * The first of these parameters with at least two values among the runs, and at most `most`: enough to tell many curves apart by few
 * colours. Seeds tell nothing. null: none.
 */
export function tellingParameter(names: Iterable<string>, runs: readonly Parameters[], most: number): string | null {
  for (const name of names) {
    if (isSeedName(name)) continue;
    const values = new Set(runs.map((run) => JSON.stringify(parameterOf(run, name))));
    if (values.size > 1 && values.size <= most) return name;
  }
  return null;
}
