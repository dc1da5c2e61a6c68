import { describe, expect, it } from 'vitest';
import { PassRates } from '../../../src/lab/rollouts/pass-rates.js';
import { rng } from '../../../src/lab/rng.js';

const options = { tasks: 6, alpha: 0.5, boundaries: [0.2, 0.8], weights: [1, 1, 1] };

describe('a curriculum of pass rates', () => {
  it('draws tasks in turn at first, when all are normal', () => {
    const rates = new PassRates(options);
    expect([rates.draw(4, rng(0, 'a')), rates.draw(4, rng(0, 'b'))]).toEqual([
      [0, 1, 2, 3],
      [4, 5, 0, 1],
    ]);
    expect(rates.counts).toEqual({ hard: 0, normal: 6, easy: 0 });
  });

  it('moves a task to another level when its average crosses a boundary, and back', () => {
    const rates = new PassRates(options);
    rates.update(2, 0);
    expect(rates.counts.hard).toBe(0);
    rates.update(2, 0);
    rates.update(4, 1);
    rates.update(4, 1);
    expect(rates.counts).toEqual({ hard: 1, normal: 4, easy: 1 });
    rates.update(2, 1);
    expect(rates.counts).toEqual({ hard: 0, normal: 5, easy: 1 });
  });

  it('draws levels by their weights, and another level when one is empty', () => {
    const rates = new PassRates({ ...options, weights: [0, 0, 1] });
    rates.update(3, 1);
    rates.update(3, 1);
    const random = rng(1, 'draws');
    expect(rates.draw(1, random)).toEqual([3]);
    // The only easy task is drawn once; normal ones fill up.
    expect(rates.draw(3, random)).toEqual([3, 0, 1]);
  });

  it('draws no task twice at a time, and at most all of them', () => {
    expect(new PassRates(options).draw(9, rng(0, 'c')).sort()).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('continues from its state as if uninterrupted', () => {
    const rates = new PassRates(options);
    rates.draw(2, rng(0, 'd'));
    rates.update(1, 0);
    rates.update(1, 0);
    const again = new PassRates(options);
    again.restore(JSON.parse(JSON.stringify(rates.state)) as typeof rates.state);
    const draws = (of: PassRates) => Array.from({ length: 5 }, (_, at) => of.draw(3, rng(at, 'e')));
    expect(draws(again)).toEqual(draws(rates));
    expect(again.counts).toEqual(rates.counts);
  });
});
