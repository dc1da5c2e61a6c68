import { type ChartChoice, initialChartChoice } from '../../state/chart-choice.js';
import type { Series } from '../../state/port.js';
import type { Tone } from '../../surface/span.js';

/** One run in a chart. */
export type Curve = {
  /** In the legend; empty: not there. */
  readonly label: string;
  readonly tone: Tone;
  readonly series: Series;
  /** What the seeds of one setting have in common: curves of one name may be drawn as one. None: always by itself. */
  readonly setting?: string | undefined;
  /** Whether the run has ended: nothing will come behind its last point. */
  readonly isOver?: boolean;
};

/** A line that theory gives: `value`, or `value` times x. */
export type Reference = { readonly label: string; readonly value: number; readonly isPerX: boolean };

/** What the numbers of the x axis are: plain, seconds, or Unix seconds. */
export type XUnit = 'number' | 'seconds' | 'clock';

/** How a chart is drawn. */
export type ChartLook = {
  /** Said where there is nothing to draw. */
  readonly nothing: string;
  readonly choice: ChartChoice;
  readonly references: readonly Reference[];
  readonly xUnit: XUnit;
};

/** Every run by itself on linear axes, all of it. */
export function plainLook(nothing: string): ChartLook {
  return { nothing, choice: initialChartChoice, references: [], xUnit: 'number' };
}

/** The same text for looks that give the same picture but for the cursor. */
export function lookKey({ choice, references, xUnit, nothing }: ChartLook): string {
  return JSON.stringify([{ ...choice, cursor: null, xKey: null }, references, xUnit, nothing]);
}
