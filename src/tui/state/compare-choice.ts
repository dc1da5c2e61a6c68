import type { Spread } from './chart-choice.js';
import type { RunId } from './port.js';

/** Something that is compared: a run, or the runs of a group together. */
export type Subject = {
  /** Key of the list row it was taken from. */
  readonly key: string;
  readonly label: string;
  readonly ids: readonly RunId[];
};

/** What the compare screen shows. */
export type CompareChoice = {
  /** Key of the run or group that others are compared with; null: none. */
  readonly baseline: string | null;
  readonly view: CompareView;
  readonly summary: ValueSummary;
  /** How the runs of one subject are drawn in the overlay. */
  readonly spread: Spread;
  /** Parameters on the axes of the heatmap; null: those with the most values. */
  readonly axes: HeatmapAxes | null;
};

/** `down` null: the heatmap is a single row. */
export type HeatmapAxes = { readonly across: string; readonly down: string | null };

export const compareViews = ['table', 'overlay', 'heatmap'] as const;
export type CompareView = (typeof compareViews)[number];

/** Ways to reduce a curve to one number. */
export const valueSummaries = ['last', 'best', 'mean of last 10', 'auc', 'at cursor'] as const;
export type ValueSummary = (typeof valueSummaries)[number];

export const initialCompareChoice: CompareChoice = {
  baseline: null,
  view: 'table',
  summary: 'last',
  spread: 'std',
  axes: null,
};
