/** Degree and coefficients of a primitive polynomial, and first direction numbers: Joe and Kuo's, from dimension 2 on. */
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
