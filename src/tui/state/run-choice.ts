import { groupBy } from '../../base/group-by.js';
import type { SampleOrder } from '../../logs/samples.js';

/** How a log is read, and the position in it. */
export type LogChoice = {
  readonly wraps: boolean;
  /** A regular expression, see `readLogPattern`; empty: no search. */
  readonly search: string;
  readonly place: LogPlace;
  /** The search under way; null: none. */
  readonly seek: LogSeek | null;
  readonly hit: LogHit | null;
};

/** The visible part of a log. Positions are in bytes, because line numbers of a large log are not known. */
export type LogPlace =
  /** The failure of a failed run, otherwise the end. */
  | { readonly kind: 'opening' }
  /** The newest line at the bottom, following what is written. */
  | { readonly kind: 'end' }
  /** The line at `offset` at the top, with its first `row` rows scrolled out. */
  | { readonly kind: 'top'; readonly offset: number; readonly row: number }
  /** The line at `offset` with some lines above it. */
  | { readonly kind: 'around'; readonly offset: number };

/** A search under way. `from`: start of the line to begin at. */
export type LogSeek = {
  readonly of: LogHit['of'];
  readonly pattern: string;
  readonly from: number;
  readonly direction: 1 | -1;
};

/** Start of the line that was found; null: there is none; `too long`: the expression takes too long to evaluate. */
export type Sought = number | 'too long' | null;

/** The line that was found last. */
export type LogHit = { readonly of: 'pattern' | 'error'; readonly offset: number };

export const initialLogChoice: LogChoice = {
  wraps: true,
  search: '',
  place: { kind: 'opening' },
  seek: null,
  hit: null,
};

/** The state for another run's log: keeps the search but not the position. */
export function anotherLog(log: LogChoice): LogChoice {
  return { ...log, place: { kind: 'opening' }, seek: null, hit: null };
}

/** How the samples of a run are shown. `isLatest`: the last step, whichever it is; `step` counts otherwise, null: those without one. */
export type SampleChoice = {
  readonly isLatest: boolean;
  readonly step: number | null;
  readonly order: SampleOrder;
  /** What is beside, prompt by prompt: the step before, or the run that is pinned as the baseline; null: nothing. */
  readonly beside: 'step before' | 'pinned run' | null;
};

export const initialSampleChoice: SampleChoice = { isLatest: true, step: null, order: 'best first', beside: null };

/** The index of the chosen step; that of the nearest step before it in another run. -1: there are none. */
export function stepIndex(steps: readonly (number | null)[], { isLatest, step }: SampleChoice): number {
  if (isLatest) return steps.length - 1;
  const at = steps.findLastIndex((each) => (each ?? -Infinity) <= (step ?? -Infinity));
  return Math.max(at, Math.min(0, steps.length - 1));
}

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
