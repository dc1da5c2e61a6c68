import { assertNever } from '../../../base/assert-never.js';
import { fnv1a64 } from '../identity.js';

export type SamplingKind = 'random' | 'lhs' | 'sobol';

/** Returns the coordinate, between 0 and 1, of a point in a dimension; both count from 0. */
type UnitPoints = (point: number, dimension: number) => number;

/**
 * Points of the unit cube: `random` independently, `lhs` with one point in each of `count` slices of every dimension, `sobol`
 * evenly spread at any number (the seed selects a digital shift). Points of `random` and `sobol` do not depend on `count`, so the
 * first ones stay the same with more of them.
 *
 * @param dimensions Names: a dimension's coordinates depend on its name (except with `sobol`) and the seed.
 */
export function unitPoints(
  kind: SamplingKind,
  seed: number,
  { dimensions, count }: { dimensions: readonly string[]; count: number },
): UnitPoints {
  const hash = (point: number, dimension: number) => unitHash(`${seed}/${dimensions[dimension]!}/${point}`);
  switch (kind) {
    case 'random':
      return hash;
    case 'lhs': {
      const places = dimensions.map((name) => shuffled(count, `${seed}/${name}`));
      return (point, dimension) => (places[dimension]![point]! + hash(point, dimension)) / count;
    }
    case 'sobol': {
      const directions = dimensions.map((_, dimension) => sobolDirections(dimension));
      const shifts = dimensions.map((name) => Math.floor(unitHash(`${seed}/${name}/shift`) * 2 ** 32));
      return (point, dimension) =>
        (((sobolCoordinate(directions[dimension]!, point) ^ shifts[dimension]!) >>> 0) + 0.5) / 2 ** 32;
    }
    default:
      return assertNever(kind);
  }
}

/**
 * The index, among `size` values, for a coordinate of `lhs`: over all `count` points the values occur equally often, the first ones
 * once more where the numbers do not divide. Of more values than points, evenly spaced ones are used.
 *
 * @param u A coordinate of `unitPoints`, which is in slice `floor(u · count)`.
 */
export function latinValue(u: number, count: number, size: number): number {
  const slice = Math.min(count - 1, Math.floor(u * count));
  if (size > count) return Math.floor(((slice + 0.5) * size) / count);
  const times = Math.floor(count / size);
  const more = count % size;
  const oftener = more * (times + 1);
  return slice < oftener ? Math.floor(slice / (times + 1)) : more + Math.floor((slice - oftener) / times);
}

/** Why these dimensions cannot be sampled, or null. */
export function dimensionProblem(kind: SamplingKind, dimensions: number): string | null {
  if (kind !== 'sobol' || dimensions <= mostSobolDimensions) return null;
  return `\`sobol\` fills up to ${mostSobolDimensions} dimensions; ${dimensions} parameters vary here`;
}

function shuffled(count: number, name: string): readonly number[] {
  const keys = Array.from({ length: count }, (_, index) => unitHash(`${name}/slice/${index}`));
  return keys.map((_, index) => index).sort((left, right) => keys[left]! - keys[right]!);
}

/** Degree and coefficients of a primitive polynomial, and initial direction numbers, by Joe and Kuo, from dimension 2 on. */
const polynomials: readonly (readonly [degree: number, coefficients: number, first: readonly number[]])[] = [
  [1, 0, [1]],
  [2, 1, [1, 3]],
  [3, 1, [1, 3, 1]],
  [3, 2, [1, 1, 1]],
  [4, 1, [1, 1, 3, 3]],
  [4, 4, [1, 3, 5, 13]],
  [5, 2, [1, 1, 5, 5, 17]],
  [5, 4, [1, 1, 5, 5, 5]],
  [5, 7, [1, 1, 7, 11, 19]],
  [5, 11, [1, 1, 5, 1, 1]],
  [5, 13, [1, 1, 1, 3, 11]],
  [5, 14, [1, 3, 5, 5, 31]],
  [6, 1, [1, 3, 3, 9, 7, 49]],
  [6, 13, [1, 1, 1, 15, 21, 21]],
  [6, 16, [1, 3, 1, 13, 27, 49]],
  [6, 19, [1, 1, 1, 15, 7, 5]],
  [6, 22, [1, 3, 1, 15, 13, 25]],
  [6, 25, [1, 1, 5, 5, 19, 61]],
  [7, 1, [1, 3, 7, 11, 23, 15, 103]],
  [7, 4, [1, 3, 7, 13, 13, 15, 69]],
];
const BITS = 32;

export const mostSobolDimensions = polynomials.length + 1;

/** The 32 direction numbers of one dimension, counted from 0. */
export function sobolDirections(dimension: number): Uint32Array {
  const directions = new Uint32Array(BITS);
  const polynomial = polynomials[dimension - 1];
  for (let index = 0; index < BITS; index += 1) {
    directions[index] =
      polynomial === undefined ? 1 << (BITS - 1 - index) : nextDirection(directions, index, polynomial);
  }
  return directions;
}

function nextDirection(
  directions: Uint32Array,
  index: number,
  [degree, coefficients, first]: (typeof polynomials)[number],
): number {
  if (index < degree) return first[index]! << (BITS - 1 - index);
  const oldest = directions[index - degree]!;
  let direction = oldest ^ (oldest >>> degree);
  for (let term = 1; term < degree; term += 1) {
    if ((coefficients >>> (degree - 1 - term)) & 1) direction ^= directions[index - term]!;
  }
  return direction;
}

/** Coordinate of a point of the sequence as a 32-bit fraction. Points count from 0. */
export function sobolCoordinate(directions: Uint32Array, point: number): number {
  let coordinate = 0;
  const gray = point ^ (point >>> 1);
  for (let bit = 0; bit < BITS; bit += 1) if ((gray >>> bit) & 1) coordinate ^= directions[bit]!;
  return coordinate >>> 0;
}

/**
 * A pseudorandom number between 0 and 1, both excluded, that depends on a name alone: the same on every machine, and without state,
 * so that one more draw or parameter does not change the others.
 */
export function unitHash(name: string): number {
  const digits = fnv1a64(name);
  const high = mixed(Number.parseInt(digits.slice(0, 8), 16));
  const low = mixed(Number.parseInt(digits.slice(8), 16) ^ high);
  // 26 and 26 bits, and half a step, so that 0 and 1 are never reached.
  return ((high >>> 6) * 2 ** 26 + (low >>> 6) + 0.5) / 2 ** 52;
}

/** The finalizer of MurmurHash3: every bit of the result depends on every bit of the word. */
function mixed(word: number): number {
  let mix = word >>> 0;
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}
