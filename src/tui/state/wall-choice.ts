import { groupBy } from '../../base/group-by.js';
import type { EditedLine } from './line-editor.js';

/** What is shown of the charts of an open run or group. */
export type WallChoice = {
  /** The marked metric; null: the one of the window. */
  readonly at: string | null;
  /** Whether the marked one has the pane to itself. */
  readonly isZoomed: boolean;
  /** Words that the names of the metrics shown have in them. */
  readonly filter: string;
  /** Metrics beside which those that show the same have charts of their own. */
  readonly opened: readonly string[];
};

export const initialWallChoice: WallChoice = { at: null, isZoomed: false, filter: '', opened: [] };

/** All metrics in their order, and of each the first that shows the same. */
export type WallMetrics = { readonly metrics: readonly string[]; readonly firstOf: ReadonlyMap<string, string> };

/** A chart of the wall. `alike`: the others that it stands for; `family`: what all of them go by; `isOpened`: they stand beside it. */
export type WallTile = {
  readonly metric: string;
  readonly alike: readonly string[];
  readonly family: string;
  readonly isOpened: boolean;
};

/** The filter of the charts while it is typed. `before`: what it was. */
export type WallFilterDialog = { readonly kind: 'wall-filter'; readonly line: EditedLine; readonly before: string };

/** The metrics whose names have all the words in them, in whatever case. */
export function filteredMetrics(metrics: readonly string[], filter: string): readonly string[] {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return metrics;
  return metrics.filter((metric) => words.every((word) => metric.toLowerCase().includes(word)));
}

/** The charts that the filter leaves: one for all metrics that show the same, where the first of them is. */
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

/** Position of the marked metric, or of the chart that stands for it: the one chosen on the wall, that of the window, or else the first. */
export function wallPosition(tiles: readonly WallTile[], { at }: WallChoice, metric: string | null): number {
  const placeOf = (name: string | null): number =>
    tiles.findIndex((tile) => tile.metric === name || (name !== null && tile.alike.includes(name)));
  const marked = placeOf(at);
  return Math.max(0, marked >= 0 ? marked : placeOf(metric));
}
