import { type Extent, robustRange } from '../../../analysis/axis-range.js';
import type { Parameters } from '../../../base/scalar.js';
import { parameterOrder, parameterText } from '../../model/parameter-text.js';
import { type Mark, yMarksOf } from '../../widgets/chart/chart-marks.js';
import { fractionOf, Ruler, type Scale } from '../../widgets/chart/axes/chart-scale.js';
import { scalarText } from '../../widgets/parameters.js';

/**
 * A parameter or a metric: its value in every run; undefined: a run does not have it. Must not change: what is made of it is kept.
 * `isResult`: a metric, of which a few runs may have exploded.
 */
export type Column = {
  readonly name: string;
  readonly values: readonly (Parameters[string] | undefined)[];
  readonly isResult?: boolean;
};

/** Where the values of a column lie on a line. */
export type Axis = {
  /** Null: the values are no numbers, and lie at equal distances. */
  readonly scale: Scale | null;
  /** The different values, in their order, with their places 0 … 1; none of results, or where they are too many to name each. */
  readonly named: readonly Mark[];
  /** By run, 0 … 1; NaN for a run that has no place: NaN, an infinite parameter, or no value. */
  readonly places: Float64Array;
  /** Runs whose result lies beyond the axis, which have a place at its end. */
  readonly beyond: ReadonlySet<number>;
  /** Runs without a place. */
  readonly off: number;
};

/** So many different numbers are marked each with its own value. */
const MOST_NAMED = 12;

/** Numbers lie by their size, or by their logarithm where they are spread over decades; all else lies side by side. */
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

/** Of results: a few runs that exploded lie beyond. */
function limitsOf(finite: readonly number[]): Extent {
  return robustRange(finite.map((value) => ({ low: value, high: value }))) ?? { low: 0, high: 0 };
}

/** 1 above the limits, -1 below them, else 0. */
function sideOf(value: number | undefined, limits: Extent | null): -1 | 0 | 1 {
  if (value === undefined || limits === null) return 0;
  return value > limits.high ? 1 : value < limits.low ? -1 : 0;
}

/** From this factor between the ends on, numbers may be spread over decades. */
const DECADES = 30;

/** By the logarithm where the middle one of the different values would otherwise lie close to the lower end. @param sorted Rising. */
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

/** Labels for an axis of so many rows of characters: of each value if there is room, else round numbers or the first few texts. */
export function marksOf({ named, scale }: Axis, rows: number): readonly Mark[] {
  if (named.length > 0 && named.length * 2 <= Math.max(rows, 4)) return named;
  if (scale !== null) {
    const few = yMarksOf(scale, rows);
    return few.length > 1 ? few : yMarksOf(scale, rows * 2);
  }
  const every = Math.ceil(named.length / Math.max(1, rows));
  return named.filter((_, index) => index % every === 0);
}
