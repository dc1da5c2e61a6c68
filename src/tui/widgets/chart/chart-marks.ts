import { axisNumbers } from '../../../text/numbers.js';
import type { XUnit } from '../../model/curves/chart-data.js';
import { fractionOf, type Scale } from './axes/chart-scale.js';
import { logTicks, ticks } from './axes/ticks.js';
import { clockTicks, secondTicks } from './axes/time-ticks.js';

/** A number beside an axis, and its position from 0 to 1. */
export type Mark = { readonly fraction: number; readonly label: string };

/** Numbers beside the y axis: about one per three rows, and enough that a range around zero has them on both sides. */
export function yMarksOf(y: Scale, rows: number): Mark[] {
  return numberMarks(y, Math.max(rows >= 5 ? 3 : 2, Math.floor(rows / 3)));
}

/** Numbers below the x axis: at most one per ten columns. */
export function xMarksOf(x: Scale, columns: number, unit: XUnit): Mark[] {
  const most = Math.max(2, Math.floor(columns / 10));
  if (x.isLog || unit === 'number') return numberMarks(x, most);
  const found = unit === 'clock' ? clockTicks(x.low, x.high, most) : secondTicks(x.low, x.high, most);
  return found.map(({ value, label }) => ({ fraction: fractionOf(x, value), label }));
}

function numberMarks(scale: Scale, most: number): Mark[] {
  const { low, high } = scale;
  const at = scale.isLog ? logTicks(low, high, most) : ticks(low, high, most);
  const step = at.length > 1 ? at[1]! - at[0]! : lastDigit(at[0] ?? 1);
  // Digits depend on the range of the labels rather than of the axis, because only labels are compared.
  const ends = { low: at[0] ?? low, high: at.at(-1) ?? high, isLog: scale.isLog };
  const text = axisNumbers(ends, step);
  return at.map((value) => ({ fraction: fractionOf(scale, value), label: text(value) }));
}

/** Place value of the last digit of a round number: 0.1 for 2.5, 10 for 250. */
function lastDigit(value: number): number {
  const [digits, exponent] = value.toExponential(11).split('e');
  const decimals = digits!.replace(/\.?0+$/, '').split('.')[1] ?? '';
  return 10 ** (Number(exponent) - decimals.length);
}
