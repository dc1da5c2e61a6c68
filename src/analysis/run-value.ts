import { mean } from './statistics.js';

/** A curve of one run: `x` ascending, `y` at each x; NaN and infinities are values too. */
type Curve = { readonly x: ArrayLike<number>; readonly y: ArrayLike<number> };

/**
 * Which number of a curve stands for a run.
 *
 * `last`, `min`, `max`: of its values. `best`: the value where the objective of the sweep is best, as of a checkpoint chosen by it.
 * `at`: the last value up to that x; null for curves that end before. `mean`: the mean of the last `count` values. `auc`: the area
 * under the curve by the trapezoidal rule, divided by the length of its x axis, so that it has the unit of the metric.
 */
export type RunValue =
  | { readonly kind: 'last' | 'min' | 'max' | 'auc' }
  | { readonly kind: 'best'; readonly objective: string; readonly goal: 'minimize' | 'maximize' }
  | { readonly kind: 'at'; readonly x: number }
  | { readonly kind: 'mean'; readonly of: number };

/** The value that stands for a run: null where it has none; NaN and infinities as they are. `bestX`: the x that `best` needs. */
export function runValue(curve: Curve, which: RunValue, bestX: number | null = null): number | null {
  const values = Array.from(curve.y);
  if (values.length === 0) return null;
  switch (which.kind) {
    case 'min':
    case 'max':
      return extremeValue(values, which.kind);
    case 'mean':
      return mean(values.slice(-which.of));
    case 'last':
      return values.at(-1)!;
    case 'auc':
      return meanHeight(curve);
    default:
      return placed(curve, which.kind === 'best' ? bestX : reached(curve, which.x));
  }
}

/** The place, if the curve reaches it; null: the curve ends before. */
function reached({ x, y }: Curve, place: number): number | null {
  return x[y.length - 1]! < place ? null : place;
}

/** The first x at which a curve is best; null: it has no finite value. */
export function bestPlace(curve: Curve, goal: 'minimize' | 'maximize'): number | null {
  const best = extremeOf(Array.from(curve.y), goal === 'minimize' ? 'min' : 'max');
  return best === null ? null : curve.x[best.index]!;
}

/** The extreme of the finite values; where none is finite, the last value. */
function extremeValue(values: readonly number[], kind: 'min' | 'max'): number {
  return extremeOf(values, kind)?.value ?? values.at(-1)!;
}

function extremeOf(values: readonly number[], kind: 'min' | 'max'): { value: number; index: number } | null {
  const sign = kind === 'min' ? 1 : -1;
  let best: { value: number; index: number } | null = null;
  values.forEach((value, index) => {
    if (Number.isFinite(value) && (best === null || sign * value < sign * best.value)) best = { value, index };
  });
  return best;
}

/** The last value up to a place; null: there is no place, or the curve begins later. */
function placed({ x, y }: Curve, place: number | null): number | null {
  if (place === null) return null;
  let value: number | null = null;
  for (let index = 0; index < y.length && x[index]! <= place; index++) value = y[index]!;
  return value;
}

function meanHeight({ x, y }: Curve): number {
  let area = 0;
  for (let index = 1; index < y.length; index++)
    area += ((y[index]! + y[index - 1]!) / 2) * (x[index]! - x[index - 1]!);
  const length = x[y.length - 1]! - x[0]!;
  return length > 0 ? area / length : y[y.length - 1]!;
}

/** Whether a value needs a place on the x axis; the others depend on the y values alone. */
export function hasPlace({ kind }: RunValue): boolean {
  return kind === 'at' || kind === 'auc' || kind === 'best';
}

/** Parses `last`, `at=1000`, `mean=10` and so on. Null: the text is none of them. */
export function parseRunValue(text: string): Exclude<RunValue, { kind: 'best' }> | 'best' | null {
  if (text === 'best') return text;
  const plain = (['last', 'min', 'max', 'auc'] as const).find((kind) => kind === text);
  if (plain !== undefined) return { kind: plain };
  const [, kind, number] = /^(at|mean)=(.+)$/.exec(text) ?? [];
  const value = Number(number);
  if (kind === 'at') return Number.isFinite(value) ? { kind, x: value } : null;
  return kind === 'mean' && Number.isInteger(value) && value > 0 ? { kind, of: value } : null;
}

/** Writes a value as `parseRunValue` reads it. */
export function runValueWord(which: Exclude<RunValue, { kind: 'best' }>): string {
  if (which.kind === 'at') return `at=${which.x}`;
  return which.kind === 'mean' ? `mean=${which.of}` : which.kind;
}

/** Describes a value in words. */
export function runValueText(which: RunValue): string {
  switch (which.kind) {
    case 'last':
      return 'last values';
    case 'min':
      return 'lowest values';
    case 'max':
      return 'highest values';
    case 'best':
      return `values where ${which.objective} is ${which.goal === 'minimize' ? 'lowest' : 'highest'}`;
    case 'at':
      return `values at ${which.x}`;
    case 'mean':
      return `means of the last ${which.of} values`;
    case 'auc':
      return 'area under the curve over the length of its x axis';
  }
}
