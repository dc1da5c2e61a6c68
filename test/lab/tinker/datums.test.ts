/** How the sequences of a request are cut into passes. */
import { describe, expect, it } from 'vitest';
import { crossEntropy } from '../../../src/lab/objectives/objectives.js';
import type { Tensor } from '../../../src/lab/tinker/protocol/tensors.js';
import { datumOf, plansOf } from '../../../src/lab/tinker/server/datums.js';

const atOnce = 1000;

/** Sequences of one beginning of `common` tokens, each with `own` tokens that are trained on. */
function games(count: number, { common, own }: { common: number; own: number }) {
  const known = () => true;
  return Array.from({ length: count }, (_, game) => {
    const tokens = Int32Array.from({ length: common + own }, (_, at) => (at < common ? at : 1000 + game));
    const weights = Float32Array.from(tokens, (_, at) => (at < common ? 0 : 1));
    const targets = { values: tokens, shape: [tokens.length] };
    const inputs = new Map<string, Tensor>([
      ['target_tokens', targets],
      ['weights', { values: weights, shape: [weights.length] }],
    ]);
    return datumOf({ tokens, inputs }, game, { objective: crossEntropy, known });
  });
}

describe('the passes of a request', () => {
  it.each([
    { what: 'games of one rule that together are too many', count: 64, common: 100, own: 60 },
    { what: 'games that are longer than their rule', count: 64, common: 20, own: 400 },
    { what: 'games that differ from the start', count: 64, common: 0, own: 90 },
  ])('have at most the allowed number of tokens: $what', ({ count, common, own }) => {
    const datums = games(count, { common, own });
    const plans = [...plansOf(datums, atOnce)];
    const sizes = plans.map((plan) => plan.datums.reduce((sum, { tokens }) => sum + tokens.length, 0));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(atOnce);
    const scores = plans.flatMap((plan) => plan.restore(plan.datums.map(({ tokens }) => Float32Array.from(tokens))));
    expect(scores.map((each) => [...each])).toEqual(datums.map(({ tokens }) => [...tokens]));
  });

  it('compute a common prefix once for as many rollouts as fit', () => {
    const [plan] = plansOf(games(5, { common: 100, own: 60 }), atOnce);
    expect(plan!.datums.map(({ tokens }) => tokens.length)).toEqual([99, ...Array.from({ length: 5 }, () => 61)]);
  });
});
