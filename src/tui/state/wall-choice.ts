import type { EditedLine } from './line-editor.js';

/** What is shown of the charts of an open run or group. */
export type WallChoice = {
  /** The marked metric; null: the one of the window. */
  readonly at: string | null;
  /** Whether the marked one has the pane to itself. */
  readonly isZoomed: boolean;
  /** Words that the names of the metrics shown have in them. */
  readonly filter: string;
};

export const initialWallChoice: WallChoice = { at: null, isZoomed: false, filter: '' };

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

/** Position of the marked metric: the one chosen on the wall, that of the window, or else the first. */
export function wallPosition(metrics: readonly string[], { at }: WallChoice, metric: string | null): number {
  const marked = at === null ? -1 : metrics.indexOf(at);
  return Math.max(0, marked >= 0 || metric === null ? marked : metrics.indexOf(metric));
}
