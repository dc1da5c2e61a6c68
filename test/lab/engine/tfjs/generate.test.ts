import { describe, expect, it } from 'vitest';
import type { Sampling, SeededPrompt } from '../../../../src/lab/engine/engine.js';
import { presets } from '../../../../src/lab/engine/model-shape.js';
import { openBackend } from '../../../../src/lab/engine/tfjs/backends.js';
import { importModule } from '../../../../src/base/import-module.js';
import { rng } from '../../../../src/lab/rng.js';
import { engineOn, everyEngine, trainedEngineOn } from '../every-engine.js';
import { backends, maxDifference, oddShape } from '../models.js';

const prompts: SeededPrompt[] = [
  [1, 7, 3, 3],
  [1, 7],
  [5],
  [1, 7, 3, 3],
  [1, 7, 3, 9, 2],
  [5, 5, 5, 5, 5, 5, 5],
  [0, 12],
].map((tokens, index) => ({ tokens: Int32Array.from(tokens), seed: 100 + index }));
const ours: readonly string[] = backends;

describe.each(everyEngine.filter((name) => !ours.includes(name)))('generating on %s', (name) => {
  it.each<{ shape: 'odd' | 'tiny'; sampling: Sampling }>([
    { shape: 'tiny', sampling: { maxTokens: 20, temperature: 1 } },
    { shape: 'odd', sampling: { maxTokens: 18, temperature: 1 } },
    { shape: 'odd', sampling: { maxTokens: 40, temperature: 1 } },
    { shape: 'odd', sampling: { maxTokens: 6, temperature: 0, topK: 3 } },
    { shape: 'odd', sampling: { maxTokens: 18, temperature: 0.6 } },
    { shape: 'odd', sampling: { maxTokens: 18, temperature: 0.7, topK: 8, topP: 0.9, stop: [3, 4] } },
    { shape: 'odd', sampling: { maxTokens: 6, temperature: 2, topK: 5, topP: 0.8 } },
    { shape: 'odd', sampling: { maxTokens: 3, temperature: 1, topK: 1 } },
    { shape: 'odd', sampling: { maxTokens: 3, temperature: 1, topP: 1e-9 } },
    { shape: 'odd', sampling: { maxTokens: 3, temperature: 1, topK: 100, topP: 0.999999 } },
  ])('samples the same tokens as our kernels: $shape, $sampling', async ({ shape, sampling }) => {
    const model = shape === 'odd' ? oddShape : presets.tiny;
    const [expected, drawn] = [
      await (await trainedEngineOn('wasm', model)).generate(prompts, sampling),
      await (await trainedEngineOn(name, model)).generate(prompts, sampling),
    ];
    expect(drawn.map(({ tokens, ended }) => [[...tokens], ended])).toEqual(
      expected.map(({ tokens, ended }) => [[...tokens], ended]),
    );
    drawn.forEach(({ logprobs, samplingLogprobs }, index) => {
      expect(maxDifference(logprobs, expected[index]!.logprobs)).toBeLessThan(2e-5);
      expect(maxDifference(samplingLogprobs, expected[index]!.samplingLogprobs)).toBeLessThan(2e-5);
    });
  });

  it.each([{ stop: [] }, { stop: [3, 4, 5, 6] }])(
    'samples from one stream the same tokens as our kernels: $stop',
    async ({ stop }) => {
      const sampling = { maxTokens: 19, temperature: 0.9, stop };
      const streams = [rng(3, 'shared'), rng(3, 'shared')];
      const [expected, drawn] = await Promise.all(
        ['wasm', name].map(async (backend, index) =>
          (await trainedEngineOn(backend, presets.tiny)).generate(prompts, sampling, streams[index]),
        ),
      );
      expect(drawn!.map(({ tokens }) => [...tokens])).toEqual(expected!.map(({ tokens }) => [...tokens]));
      expect(streams[1]!.state()).toEqual(streams[0]!.state());
    },
  );

  it('keeps ties of the last token that top-k or top-p keeps', async () => {
    const engine = await engineOn(name, oddShape);
    // All weights are zero: 13 tokens of the same probability.
    const many = Array.from({ length: 200 }, (_, seed) => ({ tokens: Int32Array.of(1), seed }));
    for (const cut of [{ topK: 1 }, { topP: 0.1 }]) {
      const drawn = await engine.generate(many, { maxTokens: 1, temperature: 1, ...cut });
      expect(new Set(drawn.map(({ tokens }) => tokens[0])).size).toBe(13);
      expect(drawn[0]!.samplingLogprobs[0]).toBeCloseTo(-Math.log(13), 5);
    }
  });

  it('leaks no tensor, and leaves a decoder unchanged', async () => {
    const engine = await trainedEngineOn(name, oddShape);
    const opened = await openBackend('tfjs-cpu', { environment: {}, load: importModule });
    if (opened.kind === 'absent') throw new Error(opened.why);
    const { tf } = opened.device;
    const decoder = await engine.decoder(Int32Array.of(4, 5), 2);
    await decoder.extend([[1], [2, 3]]);
    const before = tf.memory().numTensors;
    await engine.generate(prompts, { maxTokens: 9, temperature: 0.7, topP: 0.9, stop: [3] });
    expect(tf.memory().numTensors).toBe(before);
    const scores = await decoder.logprobs();
    const other = await engine.decoder(Int32Array.of(4), 1);
    await other.extend([[2]]);
    await decoder.extend([[6], []]);
    expect((await decoder.logprobs()).slice(oddShape.vocabulary)).toEqual(scores.slice(oddShape.vocabulary));
  });

  it('refuses a repetition penalty, but not its default', async () => {
    const engine = await engineOn(name, oddShape);
    const sampling = { maxTokens: 1, temperature: 1 };
    const draw = (repetitionPenalty: number) => engine.generate(prompts, { ...sampling, repetitionPenalty });
    await expect(draw(1.1)).rejects.toThrow('without a repetition penalty');
    expect(await draw(1)).toEqual(await engine.generate(prompts, sampling));
  });

  it('returns nothing for no prompts', async () => {
    expect(await (await engineOn(name, oddShape)).generate([], { maxTokens: 1, temperature: 1 })).toEqual([]);
  });
});
