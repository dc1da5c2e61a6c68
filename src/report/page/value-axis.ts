import type { ScaleOptions } from '@observablehq/plot';
import { type Extent, robustRange, wantsLog } from '../../analysis/axis-range.js';
import { median } from '../../analysis/statistics.js';
import { axisNumbers, counted, shortNumber } from '../../text/numbers.js';

/** The axis of measured values. */
export type ValueAxis = {
  readonly scale: ScaleOptions;
  /** The y at which a value is drawn, limited to what an image can express; NaN: the axis has no place for it. */
  readonly drawn: (value: number) => number;
  /** 1: above the figure, −1: below it. */
  readonly side: (value: number) => -1 | 0 | 1;
  readonly domain: readonly [low: number, high: number];
  /** A note on values that are not visible; empty: all are. */
  readonly note: string;
};

/** Stands for infinity among the values of a curve, so that a line leads there. */
export const asInfinite = Number.MAX_VALUE;

/** Number of values of a curve that are sampled to find its range. */
const MOST_SAMPLES = 256;

/**
 * An axis for the values of some curves: a few that exploded leave the figure, and if the others span decades it is logarithmic.
 *
 * @param noun What a curve stands for, for the note.
 * @param levels Values that the axis reaches, whatever the curves do.
 */
export function valueAxis(
  curves: readonly ArrayLike<number>[],
  noun: string,
  levels: readonly number[] = [],
): ValueAxis {
  const range = robustRange(curves.map(extentOf)) ?? { low: 0, high: 1 };
  const isLog = wantsLog(range, () => median(curves.flatMap(sampled)) ?? 0);
  const reached = isLog ? levels.filter((level) => level > 0) : levels;
  const domain = withRoom({ low: Math.min(range.low, ...reached), high: Math.max(range.high, ...reached) }, isLog);
  const [low, high] = domain;
  const side = (value: number) => (value > high ? 1 : value < low ? -1 : 0);
  const [bottom, top] = isLog ? [low * (low / high), high * (high / low)] : [low - (high - low), high + (high - low)];
  const drawn = (value: number) => (isLog && value <= 0 ? Number.NaN : Math.min(top, Math.max(bottom, value)));
  const tickFormat = axisNumbers({ low, high, isLog }, isLog ? null : (high - low) / 10);
  const scale = { type: isLog ? 'log' : 'linear', domain: [...domain], grid: true, tickFormat } as const;
  return { scale, drawn, side, domain, note: [...logNote(isLog), ...beyondNote(curves, side, noun)].join(' ') };
}

/** Formats the numbers beside an axis of these values, all in the same way. */
export function ticksOf(values: ArrayLike<number>, isLog: boolean): (value: number) => string {
  const { low, high } = extentOf(values);
  return axisNumbers({ low, high, isLog }, isLog ? null : (high - low) / 10 || null);
}

function extentOf(values: ArrayLike<number>): Extent {
  let [low, high] = [Infinity, -Infinity];
  for (let at = 0; at < values.length; at++) {
    const value = values[at]!;
    if (Number.isFinite(value) && Math.abs(value) !== asInfinite)
      [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  return { low, high };
}

function sampled(values: ArrayLike<number>): number[] {
  const stride = Math.max(1, Math.ceil(values.length / MOST_SAMPLES));
  return Array.from({ length: Math.ceil(values.length / stride) }, (_, at) => values[at * stride]!).filter(
    Number.isFinite,
  );
}

/** The range with some room at its ends; a range of values that are never negative does not extend below 0. */
function withRoom({ low, high }: Extent, isLog: boolean): [low: number, high: number] {
  if (isLog) {
    const factor = (high / low) ** 0.05;
    return [low / factor, high * factor];
  }
  const room = (high - low || Math.abs(high) || 1) * 0.05;
  return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
}

function logNote(isLog: boolean): string[] {
  return isLog ? ['Logarithmic, as the values span decades.'] : [];
}

/** A note on curves that leave the axis: `▲ 3 runs leave the axis, up to 2.0e36.` */
function beyondNote(curves: readonly ArrayLike<number>[], side: ValueAxis['side'], noun: string): string[] {
  return ([1, -1] as const).flatMap((way) => {
    const ends = curves.flatMap((values) => {
      const outside = Array.from(values).filter((value) => side(value) === way);
      return outside.length === 0 ? [] : [outside.reduce((most, value) => (way * value > way * most ? value : most))];
    });
    if (ends.length === 0) return [];
    const farthest = ends.reduce((most, value) => (way * value > way * most ? value : most));
    const text = shortNumber(Math.abs(farthest) === asInfinite ? way * Infinity : farthest, 2);
    const [sign, direction] = way > 0 ? ['▲', 'up'] : ['▼', 'down'];
    return [
      `${sign} ${counted(ends.length, noun)} ${ends.length === 1 ? 'leaves' : 'leave'} the axis, ${direction} to ${text}.`,
    ];
  });
}
