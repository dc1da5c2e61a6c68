import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { axesOf } from '../../../../src/spec/expand/compile-block.js';
import { parseSweepFile } from '../../../../src/spec/file/parse-sweep-file.js';
import { planOf } from '../../sweeps.js';

/** What W&B's own code says lies below each share of all draws; `make-distributions.py` beside the file wrote it. */
const { shares, distributions } = JSON.parse(readFileSync('test/fixtures/wandb/distributions.json', 'utf8')) as {
  shares: number[];
  distributions: { parameter: object; quantiles: number[]; places: number[] }[];
};
/** `fill` keeps the points apart where `x` has few values. */
const sweepOf = (parameter: object) =>
  `program: t.py\nmethod: random\nrun_cap: ${draws}\nparameters: {x: ${JSON.stringify(parameter)}, fill: {min: 0.0, max: 1.0}}`;
const draws = 2000;

describe.each(distributions.map((made) => [JSON.stringify(made.parameter), made] as const))(
  'draws from %s',
  (_, { parameter, quantiles, places }) => {
    const axis = () => {
      const sweep = parseSweepFile(sweepOf(parameter), 'x.yaml');
      if (sweep.kind !== 'groups') throw new Error('no sweep');
      return axesOf(sweep.blocks[0]!.parameters, false).find(({ name }) => name === 'x')!;
    };

    it('have the quantiles of W&B', () => {
      const { draw } = axis();
      shares.forEach((share, index) => {
        const expected = quantiles[index]!;
        expect(Math.abs((draw(share)[0] as number) - expected)).toBeLessThanOrEqual(
          1e-9 * Math.max(1, Math.abs(expected)),
        );
      });
    });

    it('are on the unit axis where W&B’s search places them', () => {
      const { placeOf } = axis();
      quantiles.forEach((value, index) => expect(placeOf(value)).toBeCloseTo(places[index]!, 9));
    });

    it('lie as often below each of them as W&B’s do (Kolmogorov and Smirnov, at 1 %)', { tags: ['long'] }, () => {
      const drawn = planOf(sweepOf(parameter)).runs.map(({ parameters }) => parameters['x'] as number);
      expect(drawn).toHaveLength(draws);
      const tolerance = 1e-9;
      const distances = quantiles.map((value, index) => {
        const below = drawn.filter((each) => each < value - tolerance).length / draws;
        const upTo = drawn.filter((each) => each <= value + tolerance).length / draws;
        // Where many draws have one value, the share is anywhere from those below it to those up to it.
        return Math.max(below - shares[index]!, shares[index]! - upTo);
      });
      expect(Math.max(...distances)).toBeLessThan(1.63 / Math.sqrt(draws));
    });
  },
);
