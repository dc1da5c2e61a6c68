import { type Centre, centreOf, type SeedSummary } from './seed-statistics.js';

/** The curve of one run: `x` does not fall, NaN in `y` is a gap. `isOver`: the run has ended, so the curve is complete. */
export type SeedCurve = { readonly x: ArrayLike<number>; readonly y: ArrayLike<number>; readonly isOver: boolean };

/** The centre of the seeds at one place; `count` of them have a value there. */
type BandPoint = Centre & { readonly x: number; readonly count: number };

/**
 * The centre of several curves at each place. A curve counts from its first value on; that of an ended run keeps its last value, so
 * that a mean does not jump where the first seed stops, and that of a running one counts as far as it reaches. Places that no curve
 * reaches are left out.
 */
export function seedBand(
  curves: readonly SeedCurve[],
  places: readonly number[],
  summary: SeedSummary = 'band',
): BandPoint[] {
  const next = curves.map(() => 0);
  return places.flatMap((x) => {
    const values = curves.flatMap((curve, index) => {
      while (next[index]! < curve.x.length && curve.x[next[index]!]! <= x) next[index]! += 1;
      return valueAt(curve, next[index]! - 1, x) ?? [];
    });
    return values.length === 0 ? [] : [{ x, ...centreOf(values, summary), count: values.length }];
  });
}

/**
 * The value of a curve at a place; null: there is none, or it is not a number. @param index Index of the last point up to that
 * place.
 */
function valueAt({ x, y, isOver }: SeedCurve, index: number, place: number): number | null {
  const isBeyond = index === x.length - 1 && place > x[index]!;
  if (index < 0 || (isBeyond && !isOver) || !Number.isFinite(y[index])) return null;
  return y[index]!;
}

/**
 * The x values of all curves, in order; where there are more than `count`, that many, evenly spaced from the first to the last x,
 * or evenly in log x. Empty: there is no value.
 */
export function placesOf(curves: readonly Pick<SeedCurve, 'x'>[], count: number, isLog: boolean): number[] {
  const written = new Set(curves.flatMap(({ x }) => Array.from(x).filter((place) => !isLog || place > 0)));
  const places = [...written].sort((a, b) => a - b);
  if (places.length <= count) return places;
  const [low, high] = [places[0]!, places.at(-1)!];
  return Array.from({ length: count }, (_, index) => {
    const share = index / (count - 1);
    return index === count - 1 ? high : isLog ? low * (high / low) ** share : low + (high - low) * share;
  });
}

/** An even selection of so many, always with the first and the last. @param most At least 2. */
export function evenly<Item>(items: readonly Item[], most: number): Item[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, (_, index) => items[Math.round((index * (items.length - 1)) / (most - 1))]!);
}
