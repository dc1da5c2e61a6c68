import { type Extent, robustRange } from '../../../analysis/axis-range.js';
import type { Parameters } from '../../../base/scalar.js';
import { parameterOrder, parameterText } from '../../model/varying-parameters.js';
import { fractionOf, type Mark, Ruler, type Scale, yMarksOf } from '../../widgets/chart/chart-axis.js';
import { scalarText } from '../../widgets/parameters.js';

/**
 * A parameter or metric: its value in every run; undefined: the run has none. Must not be modified, since results are cached by it.
 * `isResult`: a metric, which may have diverged in a few runs.
 */
export type Column = {
  readonly name: string;
  readonly values: readonly (Parameters[string] | undefined)[];
  readonly isResult?: boolean;
};

/** Positions of the values of a column on an axis. */
export type Axis = {
  /** Null: the values are not numbers and are evenly spaced. */
  readonly scale: Scale | null;
  /** The distinct values in order with their positions from 0 to 1; empty for results, or if there are too many to label each. */
  readonly named: readonly Mark[];
  /** Position of each run from 0 to 1; NaN for a run without one: NaN, an infinite parameter, or no value. */
  readonly places: Float64Array;
  /** Runs whose result is outside the axis range; their position is at its end. */
  readonly beyond: ReadonlySet<number>;
  /** Number of runs without a position. */
  readonly off: number;
};

/** Maximum number of distinct numbers that are labelled individually. */
const MOST_NAMED = 12;

/** The axis of a column. Numbers are placed linearly, or logarithmically if they span decades; other values are evenly spaced. */
export function axisOf(column: Column): Axis {
  const known = axes.get(column);
  if (known !== undefined) return known;
  const isText = column.values.some((value) => value !== undefined && typeof value !== 'number');
  const axis = isText ? textAxis(column) : numberAxis(column as Column & { values: readonly (number | undefined)[] });
  axes.set(column, axis);
  return axis;
}

const axes = new WeakMap<Column, Axis>();

function numberAxis({ values, isResult }: { values: readonly (number | undefined)[]; isResult?: boolean }): Axis {
  const finite = values.filter((value): value is number => value !== undefined && Number.isFinite(value));
  const limits = isResult === true ? limitsOf(finite) : null;
  const different = [...new Set(finite.filter((value) => sideOf(value, limits) === 0))].sort((a, b) => a - b);
  const scale = scaleOf(different);
  const ruler = new Ruler(scale, 1);
  const placeOf = (value: number | undefined): number => {
    if (value === undefined || (limits === null && !Number.isFinite(value))) return Number.NaN;
    const side = sideOf(value, limits);
    return side === 0 ? ruler.at(value) : (side + 1) / 2;
  };
  const places = Float64Array.from(values, placeOf);
  const named = isResult === true || different.length > MOST_NAMED ? [] : different;
  return {
    scale,
    named: named.map((value) => ({ fraction: ruler.at(value), label: scalarText(value) })),
    places,
    beyond: new Set([...values.keys()].filter((run) => sideOf(values[run], limits) !== 0)),
    off: places.filter(Number.isNaN).length,
  };
}

/** The range of results without outliers. */
function limitsOf(finite: readonly number[]): Extent {
  return robustRange(finite.map((value) => ({ low: value, high: value }))) ?? { low: 0, high: 0 };
}

/** 1 above the limits, -1 below them, otherwise 0. */
function sideOf(value: number | undefined, limits: Extent | null): -1 | 0 | 1 {
  if (value === undefined || limits === null) return 0;
  return value > limits.high ? 1 : value < limits.low ? -1 : 0;
}

/** Minimum ratio between the ends for a logarithmic axis. */
const DECADES = 30;

/** Chooses a logarithmic scale if the median distinct value would otherwise be close to the lower end. @param sorted Ascending. */
function scaleOf(sorted: readonly number[]): Scale {
  const [low, high] = [sorted[0] ?? 0, sorted.at(-1) ?? 1];
  const middle = sorted[sorted.length >> 1] ?? 0;
  const isLog = low > 0 && high / low >= DECADES && fractionOf({ low, high, isLog: false }, middle) < 0.25;
  return { low, high, isLog };
}

function textAxis({ values }: Column): Axis {
  const texts = new Map(values.filter((value) => value !== undefined).map((value) => [parameterText(value), value]));
  const sorted = [...texts].sort(([, a], [, b]) => parameterOrder(a, b)).map(([text]) => text);
  const placeOf = new Map(sorted.map((text, index) => [text, sorted.length > 1 ? index / (sorted.length - 1) : 0.5]));
  const places = Float64Array.from(values, (value) =>
    value === undefined ? Number.NaN : placeOf.get(parameterText(value))!,
  );
  return {
    scale: null,
    named: sorted.map((text) => ({ fraction: placeOf.get(text)!, label: text })),
    places,
    beyond: new Set(),
    off: values.filter((value) => value === undefined).length,
  };
}

/** Labels for an axis with `rows` rows of characters: every value if they fit, otherwise round numbers or every n-th text. */
export function marksOf({ named, scale }: Axis, rows: number): readonly Mark[] {
  if (named.length > 0 && named.length * 2 <= Math.max(rows, 4)) return named;
  if (scale !== null) {
    const few = yMarksOf(scale, rows);
    return few.length > 1 ? few : yMarksOf(scale, rows * 2);
  }
  const every = Math.ceil(named.length / Math.max(1, rows));
  return named.filter((_, index) => index % every === 0);
}
