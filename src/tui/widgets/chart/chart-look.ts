import type { Reference, XUnit } from '../../model/curves/chart-data.js';
import { type ChartChoice, initialChartChoice } from '../../state/chart-choice.js';

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
