import { groupBy } from '../../base/group-by.js';

/** What is shown of the charts of an open run or group. */
export type WallChoice = {
  /** The marked metric; null: that of the window. */
  readonly at: string | null;
  /** Whether the marked metric fills the pane. */
  readonly isZoomed: boolean;
  /** Words that the names of shown metrics must contain. */
  readonly filter: string;
  /** Metrics whose alike metrics have charts of their own. */
  readonly opened: readonly string[];
};

export const initialWallChoice: WallChoice = { at: null, isZoomed: false, filter: '', opened: [] };

/** All metrics in order, and for each the first one that is alike. */
export type WallMetrics = { readonly metrics: readonly string[]; readonly firstOf: ReadonlyMap<string, string> };

/**
 * A chart of the wall. `alike`: the other metrics that it represents; `family`: their common name; `isOpened`: they have their own
 * charts beside it.
 */
export type WallTile = {
  readonly metric: string;
  readonly alike: readonly string[];
  readonly family: string;
  readonly isOpened: boolean;
};

/** Metrics whose names contain all the words, ignoring case. */
export function filteredMetrics(metrics: readonly string[], filter: string): readonly string[] {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return metrics;
  return metrics.filter((metric) => words.every((word) => metric.toLowerCase().includes(word)));
}

/** The charts that match the filter: one for all metrics that are alike, in the place of the first. */
export function wallTiles({ metrics, firstOf }: WallMetrics, { filter, opened }: WallChoice): WallTile[] {
  const shown = filteredMetrics(metrics, filter);
  const families = groupBy(shown, (metric) => firstOf.get(metric) ?? metric);
  return [...families].flatMap(([family, members]): WallTile[] => {
    const isOpened = members.length > 1 && opened.includes(family);
    const [metric, ...alike] = members;
    return isOpened
      ? members.map((member) => ({ metric: member, alike: [], family, isOpened }))
      : [{ metric: metric!, alike, family, isOpened }];
  });
}

/**
 * Position of the marked metric or of the chart that represents it: the one chosen on the wall, otherwise that of the window,
 * otherwise the first.
 */
export function wallPosition(tiles: readonly WallTile[], { at }: WallChoice, metric: string | null): number {
  const placeOf = (name: string | null): number =>
    tiles.findIndex((tile) => tile.metric === name || (name !== null && tile.alike.includes(name)));
  const marked = placeOf(at);
  return Math.max(0, marked >= 0 ? marked : placeOf(metric));
}
