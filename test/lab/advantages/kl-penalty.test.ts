import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { discountedSums, klPenalties } from '../../../src/lab/advantages/advantages.js';

const score = fc.double({ min: -20, max: 0, noNaN: true });
const episode = fc
  .array(fc.record({ q: score, base: score, generated: fc.boolean() }), { minLength: 1, maxLength: 9 })
  .map((tokens) => ({
    q: [-1, ...tokens.map(({ q }) => q)],
    base: [-1, ...tokens.map(({ base }) => base)],
    // An answer has a token at least.
    generated: [true, ...tokens.map(({ generated }) => generated)],
  }));

describe('the KL penalty of tinker-cookbook', () => {
  it('lowers the advantage of tokens further from the reference than the mean token, and raises the others', () => {
    const episodes = [
      { q: [-1, -1], base: [-2, -1], generated: [true, true] },
      { q: [-1, 0, -3], base: [-1, -9, -1], generated: [true, false, true] },
    ];
    const { advantages, distance } = klPenalties(episodes, { coefficient: 0.5, discount: 0 });
    // Differences 1, 0, 0, −2 of the generated tokens.
    expect(distance).toBe(-0.25);
    expect(advantages.map((each) => [...each])).toEqual([
      [-0.625, -0.125],
      [-0.125, 0, 0.875],
    ]);
  });

  it('sums to zero, and leaves tokens of the environment at zero', () => {
    fc.assert(
      fc.property(fc.array(episode, { minLength: 1, maxLength: 5 }), (episodes) => {
        const { advantages } = klPenalties(episodes, { coefficient: 2, discount: 0 });
        expect(advantages.reduce((sum, each) => each.reduce((inner, value) => inner + value, sum), 0)).toBeCloseTo(
          0,
          9,
        );
        const silent = advantages.flatMap((each, index) =>
          [...each].filter((_, at) => !episodes[index]!.generated[at]),
        );
        expect(silent.every((value) => value === 0)).toBe(true);
      }),
    );
  });

  it('adds the discounted penalty of later tokens to the policy’s earlier tokens, not to the environment’s', () => {
    const mixed = { q: [-1, -2, -3], base: [-1.5, -1, -1], generated: [true, false, true] };
    const { advantages, distance } = klPenalties([mixed], { coefficient: 1, discount: 0.5 });
    expect(distance).toBe(-0.75);
    expect([...advantages[0]!]).toEqual([-0.9375, 0, 1.25]);
  });

  it('sums discounted penalties of later tokens within an episode only', () => {
    expect([...discountedSums([1, 2, 3], 0.5)]).toEqual([2.75, 3.5, 3]);
    const episodes = [
      { q: [-1, -1, -1], base: [-2, -3, -5], generated: [true, true, true] },
      { q: [-1], base: [-6], generated: [true] },
    ];
    const { advantages, distance } = klPenalties(episodes, { coefficient: 1, discount: 0.5 });
    expect(distance).toBe(3);
    // Without a discount: 2, 1, −1 and −2.
    expect(advantages.map((each) => [...each])).toEqual([[2.25, 0.5, -1], [-2]]);
  });
});
