import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/lab/engine/engine.js';
import { createEngine } from '../../../src/lab/engine/create-engine.js';
import { initialWeights } from '../../../src/lab/engine/initial-weights.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import { rng } from '../../../src/lab/rng.js';

const shape = presets.micro;

async function engineOf(seed: number): Promise<Engine> {
  const engine = await createEngine(shape);
  const random = rng(seed, 'weights');
  await engine.loadWeights(initialWeights(shape, () => random.next()));
  return engine;
}

/** Scores after each extension, as bytes. */
async function scores(engine: Engine, prompt: readonly number[], extensions: number[][][]): Promise<string[]> {
  const decoder = await engine.decoder(Int32Array.from(prompt), 2);
  const seen = [await decoder.logprobs()];
  for (const tokens of extensions) {
    await decoder.extend(tokens);
    seen.push(await decoder.logprobs());
  }
  return seen.map((row) => Buffer.from(row.buffer).toString('base64'));
}

// Few tokens and short lists, so that histories meet and part again.
const tokens = fc.array(fc.nat(1), { maxLength: 3 });
const play = fc.record({
  prompt: fc.constantFrom([1], [1, 2]),
  extensions: fc.array(fc.tuple(tokens, tokens), { maxLength: 4 }),
});

describe('a decoder that reuses tokens of an earlier one', () => {
  it('gives the same bits as one that computes everything', async () => {
    const engine = await engineOf(1);
    await fc.assert(
      fc.asyncProperty(fc.array(play, { minLength: 1, maxLength: 5 }), async (plays) => {
        for (const { prompt, extensions } of plays) {
          const alone = await scores(await engineOf(1), prompt, extensions);
          expect(await scores(engine, prompt, extensions)).toEqual(alone);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('reuses nothing once the weights have changed', async () => {
    const engine = await engineOf(1);
    const extensions = [[[1], [0, 1]]];
    const before = await scores(engine, [1], extensions);
    await engine.loadWeights(await (await engineOf(2)).weights());
    const after = await scores(engine, [1], extensions);
    expect(after).not.toEqual(before);
    expect(after).toEqual(await scores(await engineOf(2), [1], extensions));
  });
});
