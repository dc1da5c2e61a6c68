import type { Line } from './downsample.js';
import { MOST_KEYS } from './row-numbers.js';

/**
 * Numbers of points that do not count. `replaced`: a resumed attempt wrote them again, or others from an earlier x on. `doubled`: they
 * were written several times at one x, and the last counts. `thinned`: they lie between the points that are kept of a long series.
 * `unnamed`: values under more names than are kept.
 */
export type LeftOut = Readonly<Record<'replaced' | 'doubled' | 'thinned' | 'unnamed', number>>;

/** Says that a metric with numbers has NaN between them; null: it has none, or no number. */
export function nanWords(name: string, { y }: Line): string | null {
  const count = y.reduce((sum, value) => sum + Number(Number.isNaN(value)), 0);
  return count === 0 || count === y.length ? null : `NaN in ${count} of ${y.length} points of ${name}`;
}

/** Says that values are left out as they have too many names; null: none are. */
export function unnamedWords({ unnamed }: LeftOut): string | null {
  if (unnamed === 0) return null;
  return `values under more than ${MOST_KEYS} names are left out: ${unnamed}`;
}

/** What is left out, in words. */
export function leftOutWords(leftOut: LeftOut): string[] {
  const { replaced, doubled, thinned } = leftOut;
  const unnamed = unnamedWords(leftOut);
  return [
    ...(replaced === 0 ? [] : [`points that a resumed attempt replaced: ${replaced}`]),
    ...(doubled === 0 ? [] : [`values written again at a step that had one, of which the last counts: ${doubled}`]),
    ...(thinned === 0 ? [] : [`points between those that are kept of a long curve: ${thinned}`]),
    ...(unnamed === null ? [] : [unnamed]),
  ];
}
