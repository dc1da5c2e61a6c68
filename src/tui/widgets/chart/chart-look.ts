import { type ChartChoice, initialChartChoice } from '../../state/chart-choice.js';
import type { Series } from '../../state/port.js';
import type { Tone } from '../../surface/span.js';

/** One run in a chart. */
export type Curve = {
  /** Label in the legend; empty: left out. */
  readonly label: string;
  readonly tone: Tone;
  readonly series: Series;
  /** Setting of the run; curves of one setting may be drawn as one. Absent: always drawn by itself. */
  readonly setting?: string | undefined;
  /** Whether the run has ended, so that its curve is complete. */
  readonly isOver?: boolean;
};

/** A line given by theory: `value`, or `value` times x. */
export type Reference = { readonly label: string; readonly value: number; readonly isPerX: boolean };

/** Unit of the x axis: plain numbers, seconds, or Unix seconds. */
export type XUnit = 'number' | 'seconds' | 'clock';

/** How a chart is drawn. */
export type ChartLook = {
  /** Text if there is nothing to draw. */
  readonly nothing: string;
  readonly choice: ChartChoice;
  readonly references: readonly Reference[];
  readonly xUnit: XUnit;
};

/** Each run by itself on complete linear axes. */
export function plainLook(nothing: string): ChartLook {
  return { nothing, choice: initialChartChoice, references: [], xUnit: 'number' };
}

/** A key that is equal for looks whose pictures differ at most in the cursor. */
export function lookKey({ choice, references, xUnit, nothing }: ChartLook): string {
  return JSON.stringify([{ ...choice, cursor: null, xKey: null, ownLogY: {} }, references, xUnit, nothing]);
}
