import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numpyRandint } from '../../src/lab/python-random.js';
import { resumeRng, rng, shuffle } from '../../src/lab/rng.js';

const draw = (stream: { next(): number }, count: number) => Array.from({ length: count }, () => stream.next());

describe('a named random stream', () => {
  it('is the same for the same seed and name, and another otherwise', () => {
    expect(draw(rng(1, 'sampling'), 5)).toEqual(draw(rng(1, 'sampling'), 5));
    expect(draw(rng(1, 'sampling'), 5)).not.toEqual(draw(rng(2, 'sampling'), 5));
    expect(draw(rng(1, 'sampling'), 5)).not.toEqual(draw(rng(1, 'test'), 5));
  });

  it('is the same in every version of the program, so that runs can be resumed', () => {
    const drawn = draw(rng(7, 'sampling'), 3).map((number) => number * 2 ** 32);
    expect(drawn).toEqual([3_585_800_450, 4_267_857_109, 3_729_105_049]);
  });

  it('continues from its state, also through JSON', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat({ max: 50 }), (seed, drawn) => {
        const stream = rng(seed, 'x');
        draw(stream, drawn);
        const resumed = resumeRng(JSON.parse(JSON.stringify(stream.state())) as ReturnType<typeof stream.state>);
        expect(draw(resumed, 20)).toEqual(draw(stream, 20));
      }),
    );
  });

  it('is uniform: mean, variance and the ten deciles of 100,000 draws', () => {
    const stream = rng(7, 'uniform');
    const numbers = draw(stream, 100_000);
    const mean = numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
    const variance = numbers.reduce((sum, x) => sum + (x - mean) ** 2, 0) / numbers.length;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.004);
    expect(Math.abs(variance - 1 / 12)).toBeLessThan(0.002);
    const deciles = new Array<number>(10).fill(0);
    for (const x of numbers) deciles[Math.floor(x * 10)]!++;
    for (const count of deciles) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  });

  it('shuffles without losing elements', () => {
    const items = Array.from({ length: 20 }, (_, index) => index);
    const shuffled = shuffle([...items], rng(0, 'shuffle'));
    expect(shuffled).not.toEqual(items);
    expect(shuffled.toSorted((a, b) => a - b)).toEqual(items);
  });
});

describe('randint of NumPy’s RandomState', () => {
  it.each([
    [0, [12, 44, 172, 684, 2732]],
    [1337, [7, 23, 151, 151, 3223]],
  ])('gives for seed %i what NumPy gives', (seed, secrets) => {
    expect([16, 64, 256, 1024, 4096].map((N) => numpyRandint(seed, N))).toEqual(secrets);
  });

  it('refuses bounds below 1, and rejects draws beyond the bound', () => {
    expect(numpyRandint(0, 1)).toBe(0);
    for (let seed = 0; seed < 200; seed++) expect(numpyRandint(seed, 5)).toBeLessThan(5);
  });
});
