import { assertNever } from '../../../base/assert-never.js';
import { mostSobolDimensions, sobolCoordinate, sobolDirections } from './sobol.js';
import { unitHash } from './unit-hash.js';

export type SamplingKind = 'random' | 'lhs' | 'sobol';

/** A coordinate, between 0 and 1, of each point in a dimension; both count from 0. */
export type UnitPoints = (point: number, dimension: number) => number;

/**
 * Points that fill a cube: `random` independently, `lhs` with one point in each of `count` slices of every dimension, `sobol`
 * ever more evenly (a digital shift makes the seed matter). Points of `random` and `sobol` do not depend on `count`, so more
 * of them leave the first as they were.
 *
 * @param dimensions Names: a dimension's coordinates follow from its name (but for `sobol`) and the seed.
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

/** What keeps these dimensions from being filled, or null. */
export function dimensionProblem(kind: SamplingKind, dimensions: number): string | null {
  if (kind !== 'sobol' || dimensions <= mostSobolDimensions) return null;
  return `\`sobol\` fills up to ${mostSobolDimensions} dimensions; ${dimensions} parameters vary here`;
}

function shuffled(count: number, name: string): readonly number[] {
  const keys = Array.from({ length: count }, (_, index) => unitHash(`${name}/slice/${index}`));
  return keys.map((_, index) => index).sort((left, right) => keys[left]! - keys[right]!);
}
