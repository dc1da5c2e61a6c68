import type { Figure } from './claim.js';
import type { Cell } from './published-cell.js';

type Bound = 'at most' | 'at least';

/** A figure for a share or a reward that a page publishes. */
export function share(what: string, kind: Bound, value: number, published: Cell): Figure {
  return { what, unit: '', expected: { kind, value }, published };
}

/** Source of values: a metric of a group of a sweep. */
type Source = { readonly group: string; readonly metric: string };

/** A figure for the mean over the runs of a setting. */
export function meanOf({ group, metric }: Source, what: string, setting: string, expected: Figure['expected']): Figure {
  return { what: `${what}, ${setting}`, unit: '', expected, measure: { kind: 'mean', group, metric, setting } };
}

/** A figure for the difference of two settings, over runs of the same seeds. */
export function lessOf(
  { group, metric }: Source,
  what: string,
  settings: readonly [of: string, less: string],
  expected: Figure['expected'],
): Figure {
  const [of, less] = settings;
  const measure = { kind: 'difference', group, metric, of, less } as const;
  return { what: `${what}, ${of} less ${less}`, unit: '', expected, measure };
}
