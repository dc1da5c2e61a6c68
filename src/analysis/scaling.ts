import { grouped } from '../base/grouped.js';
import { fitPowerLaw, type PowerLaw } from './power-law.js';
import type { MemoryRow } from './memory-summary.js';

/** How the episodes to memorise grow with N, for one condition of one group. */
export type Scaling = {
  group: string;
  condition: string;
  bins: number | null;
  extra: Record<string, unknown>;
  law: PowerLaw;
  /** Sizes left out because half of their seeds or more did not memorise. */
  leftOut: number[];
};

/**
 * Fits episodes ∝ N^slope through the medians over all seeds, for each condition seen at two or more N.
 * A size whose median is infinite cannot be fitted, and is named: without it the slope is too kind.
 */
export function scalings(rows: readonly MemoryRow[]): Scaling[] {
  const families = grouped(rows, ({ group, condition, bins, extra }) =>
    JSON.stringify([group, condition, bins, extra]),
  );
  return families.flatMap((family) => {
    const ended = family.filter(({ medianOfAll }) => medianOfAll !== null);
    const law = fitPowerLaw(ended.map(({ N, medianOfAll }) => ({ x: N, y: medianOfAll! })));
    if (law === null) return [];
    const { group, condition, bins, extra } = family[0]!;
    const leftOut = ended.filter(({ medianOfAll }) => medianOfAll === Infinity).map(({ N }) => N);
    return [{ group, condition, bins, extra, law, leftOut }];
  });
}
