import { describe, expect, it } from 'vitest';
import { errorKinds, failureSentence } from '../../../src/analysis/failures/failure-kinds.js';

const failed = (lr: number, reason: string) => ({ parameters: { lr }, state: 'failed' as const, reason });
const done = (lr: number) => ({ parameters: { lr }, state: 'done' as const, reason: null });
const sentences = (runs: Parameters<typeof errorKinds>[0]) => errorKinds(runs).map(failureSentence);

describe('the kinds of error of some runs', () => {
  it('are counted, the most frequent first, each with the value that goes with it', () => {
    const exploded = [3, 7, 9, 12, 40, 41].map((step) => failed(1, `ValueError: exploded at step ${step}`));
    const fine = [0.1, 0.1, 0.1, 0.1, 0.01, 0.01].map(done);
    expect(sentences([failed(0.1, 'disk full at /tmp/a/b'), ...exploded, ...fine])).toEqual([
      '6 × ValueError: exploded at step #, with lr=1 (6 of 6 runs, else 0 of 6; p = 0.01)',
      // One run says its own message, and one alone is explained by nothing.
      '1 × disk full at /tmp/a/b',
    ]);
  });

  it('leave out what is done or was killed, and name a message that is empty', () => {
    const killed = { parameters: { lr: 1 }, state: 'killed' as const, reason: 'by a person' };
    expect(sentences([done(1), killed, failed(1, ''), failed(0.1, '')])).toEqual(['2 × no message']);
  });
});
