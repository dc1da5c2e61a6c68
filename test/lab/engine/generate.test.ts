import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Engine, Generated, Sampling, SeededPrompt } from '../../../src/lab/engine/engine.js';
import { createEngine } from '../../../src/lab/engine/create-engine.js';
import { loopKernels } from '../../../src/lab/engine/kernels/loop-kernels.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import { rng } from '../../../src/lab/rng.js';
import { backends, makeEngine, maxDifference, numbers, oddShape, slopes, tailShape, trainedLooking } from './models.js';

const plain: Sampling = { maxTokens: 6, temperature: 1 };
const everything: Sampling = {
  maxTokens: 6,
  temperature: 0.7,
  topK: 8,
  topP: 0.9,
  repetitionPenalty: 1.3,
  stop: [3, 4],
};

/** Prompts of many lengths: two the same, some that begin alike, one that is the beginning of another. */
const tokens = [[1, 7, 3, 3], [1, 7], [5], [1, 7, 3, 3], [1, 7, 3, 9, 2], [5, 5, 5, 5, 5, 5, 5], [0, 12]];
const prompts = seeded(tokens);

function seeded(lists: readonly (readonly number[])[]): SeededPrompt[] {
  return lists.map((list, index) => ({ tokens: Int32Array.from(list), seed: 100 + index }));
}

/** The scores that training gives to what was generated. */
async function scored(engine: Engine, from: readonly SeededPrompt[], generated: readonly Generated[], temperature = 1) {
  const groups = from.map(({ tokens: prompt }, index) => ({ prompt, continuations: [generated[index]!.tokens] }));
  return [...(await engine.forward(groups, { temperature })).logprobs];
}

/** Log-probabilities of what follows a prompt. */
async function nextLogprobs(engine: Engine, prompt: readonly number[]): Promise<number[]> {
  return [...(await (await engine.decoder(Int32Array.from(prompt), 1)).logprobs())];
}

describe.each(backends)('generating on %s kernels', (backend) => {
  it.each([
    { name: 'tiny', shape: presets.tiny },
    { name: 'odd', shape: oddShape },
    { name: 'with tails', shape: { ...tailShape, feedForward: 41 } },
  ])('gives each token the same bits as training: $name', async ({ shape }) => {
    const engine = await trainedLooking(backend, shape);
    const generated = await engine.generate(prompts, plain);
    expect(generated.map(({ tokens, ended }) => [tokens.length, ended])).toEqual(prompts.map(() => [6, 'length']));
    const logprobs = generated.flatMap((each) => [...each.logprobs]);
    expect(logprobs).toEqual(await scored(engine, prompts, generated));
    expect(generated.flatMap((each) => [...each.samplingLogprobs])).toEqual(logprobs);
  });

  it('gives a sequence the same bits alone and at any position of any batch', async () => {
    const engine = await trainedLooking(backend, oddShape);
    const together = await engine.generate(prompts, everything);
    for (const [index, prompt] of prompts.entries()) {
      expect(await engine.generate([prompt], everything)).toEqual([together[index]]);
    }
    expect(await engine.generate(prompts.toReversed(), everything)).toEqual(together.toReversed());
  });

  it('samples each token with the next number of the sequence’s own stream, as a decoder would', async () => {
    const engine = await trainedLooking(backend, oddShape);
    const generated = await engine.generate(prompts, plain);
    for (const [index, { tokens: prompt, seed }] of prompts.entries()) {
      const decoder = await engine.decoder(prompt, 1);
      const random = rng(seed, 'generate');
      for (const token of generated[index]!.tokens) {
        expect((await decoder.sample([random.next()], 1)).tokens[0]).toBe(token);
        await decoder.extend([[token]]);
      }
    }
  });

  it.each([
    { what: 'one prompt', lists: [1, 1, 1, 1].map(() => [1, 7, 3]) },
    { what: 'prompts that differ', lists: tokens },
  ])('samples from one shared stream, token by token in the order of $what', async ({ lists }) => {
    const engine = await trainedLooking(backend, oddShape);
    const from = seeded(lists);
    const sampling = { maxTokens: 5, temperature: 1, stop: [3, 9] };
    const stream = rng(7, 'shared');
    const generated = await engine.generate(from, sampling, stream);
    const random = rng(7, 'shared');
    const open = await Promise.all(from.map(({ tokens: prompt }) => engine.decoder(prompt, 1)));
    const said = from.map((): number[] => []);
    for (let n = 0; n < 5; n++) {
      for (const [index, decoder] of open.entries()) {
        if ([3, 9].includes(said[index]!.at(-1) ?? -1)) continue;
        if (n > 0) await decoder.extend([[said[index]!.at(-1)!]]);
        said[index]!.push((await decoder.sample([random.next()], 1)).tokens[0]!);
      }
    }
    expect(generated.map((each) => [...each.tokens])).toEqual(said);
    expect(stream.state()).toEqual(random.state());
  });

  it('continues its earlier output with the bits of generating it from the start', async () => {
    const kept = await trainedLooking(backend, presets.tiny);
    const prompt = [1, 7, 3];
    const histories = [1, 2, 3].map(() => prompt);
    for (let turn = 0; turn < 3; turn++) {
      const asked = histories.map((list, index) => ({ tokens: Int32Array.from(list), seed: 10 * turn + index }));
      const answers = await kept.generate(asked, plain);
      const fresh = await trainedLooking(backend, presets.tiny);
      // One at a time, in another order, and so not in the memory of the others.
      for (const index of [2, 0, 1]) expect((await fresh.generate([asked[index]!], plain))[0]).toEqual(answers[index]);
      answers.forEach(({ tokens: said }, index) => (histories[index] = [...histories[index]!, ...said, 4 + turn]));
    }
  });

  it('gives other tokens for another seed', async () => {
    const engine = await trainedLooking(backend, oddShape);
    const other = prompts.map(({ tokens }, index) => ({ tokens, seed: index }));
    const drawn = async (from: SeededPrompt[]) => (await engine.generate(from, plain)).map(({ tokens }) => [...tokens]);
    expect(await drawn(prompts)).not.toEqual(await drawn(other));
  });

  it('ends at a stop token, which it keeps, at the length limit, or at the end of the context', async () => {
    const engine = await trainedLooking(backend, oddShape);
    const full = seeded([[1, 2], new Array<number>(20).fill(1), new Array<number>(24).fill(1)]);
    const unstopped = await engine.generate(full, { maxTokens: 9, temperature: 1 });
    expect(unstopped.map(({ tokens, ended }) => [tokens.length, ended])).toEqual([
      [9, 'length'],
      [4, 'length'],
      [0, 'length'],
    ]);
    const stop = unstopped[0]!.tokens[3]!;
    const at = unstopped[0]!.tokens.indexOf(stop);
    const [stopped] = await engine.generate(full.slice(0, 1), { maxTokens: 9, temperature: 1, stop: [stop] });
    expect(stopped!.tokens).toEqual(unstopped[0]!.tokens.slice(0, at + 1));
    expect(stopped!.ended).toBe('stop');
    // A stop token says more than the length that it happens to fill.
    const short = { maxTokens: at + 1, temperature: 1, stop: [stop] };
    expect((await engine.generate(full.slice(0, 1), short))[0]!.ended).toBe('stop');
  });

  it('takes the likeliest tokens at temperature 0 and reports a sampling probability of 1', async () => {
    const engine = await trainedLooking(backend, oddShape);
    const generated = await engine.generate(prompts, { maxTokens: 5, temperature: 0, topK: 3, topP: 0.5 });
    for (const [index, { tokens: prompt }] of prompts.entries()) {
      const decoder = await engine.decoder(prompt, 1);
      for (const [n, token] of generated[index]!.tokens.entries()) {
        const { tokens, logprobs } = await decoder.sample([0.5], 0);
        expect([tokens[0], logprobs[0]]).toEqual([token, generated[index]!.logprobs[n]]);
        await decoder.extend([[token]]);
      }
      expect(generated[index]!.samplingLogprobs.every((logprob) => logprob === 0)).toBe(true);
    }
  });

  it('returns log-probabilities under the model and under the sampling distribution, equal to those of training', async () => {
    const engine = await trainedLooking(backend, oddShape);
    const generated = await engine.generate(prompts, { maxTokens: 6, temperature: 0.6 });
    expect(generated.flatMap(({ logprobs }) => [...logprobs])).toEqual(await scored(engine, prompts, generated));
    const drawn = generated.flatMap(({ samplingLogprobs }) => [...samplingLogprobs]);
    expect(drawn).toEqual(await scored(engine, prompts, generated, 0.6));
  });

  it.each<{ cut: Partial<Sampling> }>([
    { cut: { topK: 1 } },
    { cut: { topK: 4 } },
    { cut: { topP: 0.6 } },
    { cut: { topP: 1e-9 } },
    { cut: { topK: 5, topP: 0.8, temperature: 2 } },
    { cut: { topK: 100, topP: 0.999999 } },
  ])('samples by inverse CDF after top-k and top-p: $cut', async ({ cut }) => {
    const engine = await trainedLooking(backend, oddShape);
    const sampling = { maxTokens: 1, temperature: 1, ...cut };
    const left = cutByHand(await nextLogprobs(engine, [1, 7]), sampling);
    const many = Array.from({ length: 200 }, (_, seed) => ({ tokens: Int32Array.of(1, 7), seed }));
    const seen = new Set<number>();
    for (const [seed, { tokens, samplingLogprobs }] of (await engine.generate(many, sampling)).entries()) {
      const uniform = rng(seed, 'generate').next();
      const before = left.slice(0, tokens[0]).reduce((sum, p) => sum + p, 0);
      expect(uniform).toBeGreaterThan(before - 1e-5);
      expect(uniform).toBeLessThan(before + left[tokens[0]!]! + 1e-5);
      expect(Math.exp(samplingLogprobs[0]!)).toBeCloseTo(left[tokens[0]!]!, 5);
      seen.add(tokens[0]!);
    }
    expect([...seen].every((token) => left[token]! > 0)).toBe(true);
    expect(seen.size).toBeGreaterThan(left.filter((p) => p > 0.05).length - 1);
  });

  it('applies a repetition penalty: divides positive scores of seen tokens, and multiplies negative ones', async () => {
    const engine = await trainedLooking(backend, oddShape);
    const prompt = [1, 7, 1];
    const [plainly, twice, fourTimes] = await Promise.all(
      [1, 2, 4].map((repetitionPenalty) => drawnLogprobs(engine, prompt, { repetitionPenalty })),
    );
    const [unseen, ...others] = [...plainly!.keys()].filter(
      (token) => !prompt.includes(token) && twice!.has(token) && fourTimes!.has(token),
    );
    const change = (token: number, by: Map<number, number>): number =>
      plainly!.get(token)! - plainly!.get(unseen!)! - (by.get(token)! - by.get(unseen!)!);
    for (const token of others) expect(change(token, fourTimes!)).toBeCloseTo(0, 4);
    // A score s becomes s/2 and s/4, or 2s and 4s.
    const ratios = [1, 7].map((token) => change(token, fourTimes!) / change(token, twice!));
    for (const ratio of ratios) expect(Math.min(Math.abs(ratio - 1.5), Math.abs(ratio - 3))).toBeLessThan(1e-3);
  });

  it('applies the repetition penalty to generated tokens, too', async () => {
    const engine = await trainedLooking(backend, oddShape);
    const sampling = { maxTokens: 2, temperature: 1, repetitionPenalty: 3 };
    const [{ tokens, samplingLogprobs }] = (await engine.generate(seeded([[1, 2]]), sampling)) as [Generated];
    const afterwards = await drawnLogprobs(engine, [1, 2, tokens[0]!], { repetitionPenalty: 3 });
    expect(afterwards.get(tokens[1]!)).toBeCloseTo(samplingLogprobs[1]!, 5);
    const without = await drawnLogprobs(engine, [1, 2, tokens[0]!], {});
    expect(Math.abs(without.get(tokens[1]!)! - samplingLogprobs[1]!)).toBeGreaterThan(0.01);
  });

  it.each([0, -1, Number.NaN, Infinity])('refuses a repetition penalty of %d', async (repetitionPenalty) => {
    const engine = await makeEngine(backend, oddShape);
    await expect(engine.generate(prompts, { ...plain, repetitionPenalty })).rejects.toThrow('repetitionPenalty');
  });

  it('keeps ties of the last token that top-k or top-p keeps', async () => {
    const engine = await makeEngine(backend, oddShape);
    // All weights are zero: 13 tokens of the same probability.
    const many = Array.from({ length: 300 }, (_, seed) => ({ tokens: Int32Array.of(1), seed }));
    for (const cut of [{ topK: 1 }, { topP: 0.1 }]) {
      const drawn = await engine.generate(many, { maxTokens: 1, temperature: 1, ...cut });
      expect(new Set(drawn.map(({ tokens }) => tokens[0])).size).toBe(13);
      expect(drawn[0]!.samplingLogprobs[0]).toBeCloseTo(-Math.log(13), 5);
    }
  });

  it('generates for more prompts than fit one pass as if each were alone', async () => {
    const engine = await trainedLooking(backend, oddShape);
    const next = numbers(8);
    const many = seeded(
      Array.from({ length: 70 }, () => Array.from({ length: 20 }, () => Math.floor(next() * oddShape.vocabulary))),
    );
    const generated = await engine.generate(many, { maxTokens: 2, temperature: 1 });
    for (const index of [0, 35, 69]) {
      expect(await engine.generate([many[index]!], { maxTokens: 2, temperature: 1 })).toEqual([generated[index]]);
    }
  });

  it('runs between forward and backward, and leaves decoders unchanged', async () => {
    const engine = await trainedLooking(backend, oddShape);
    const groups = [{ prompt: Int32Array.of(1, 2), continuations: [Int32Array.of(3, 4)] }];
    const run = async (between: () => Promise<unknown>) => {
      await engine.clearGradient();
      const decoder = await engine.decoder(Int32Array.of(4, 5), 2);
      await decoder.extend([[1], [2, 3]]);
      await engine.forward(groups);
      await between();
      await engine.backward(Float32Array.of(1, 2), Float32Array.of(3, 4));
      await decoder.extend([[6], []]);
      return [await engine.gradient(), await decoder.logprobs()];
    };
    const untouched = await run(async () => null);
    expect(await run(() => engine.generate(prompts, everything))).toEqual(untouched);
  });

  it('returns nothing for no prompts', async () => {
    expect(await (await makeEngine(backend, oddShape)).generate([], plain)).toEqual([]);
  });
});

describe('generating', () => {
  it('needs no more memory for the hundredth batch than for the twentieth', async () => {
    const kernels = loopKernels();
    const engine = await createEngine(oddShape, { kernels });
    const used: number[] = [];
    for (let round = 0; round < 100; round++) {
      // Other weights, or decoders would keep what they know.
      await engine.loadWeights(slopes(engine.parameterCount, round));
      await engine.generate(prompts, { ...everything, maxTokens: 2 });
      for (const { tokens } of prompts) await (await engine.decoder(tokens, 2)).extend([[1], []]);
      used.push(kernels.heap.used);
    }
    expect(used[99]).toBe(used[19]);
  });

  it('gives the same on both sets of kernels', async () => {
    const [wasm, loops] = await Promise.all(
      backends.map(async (backend) => (await trainedLooking(backend, presets.tiny)).generate(prompts, everything)),
    );
    expect(wasm!.map(({ tokens }) => [...tokens])).toEqual(loops!.map(({ tokens }) => [...tokens]));
    wasm!.forEach((each, index) => {
      expect(maxDifference(each.logprobs, loops![index]!.logprobs)).toBeLessThan(2e-5);
      expect(maxDifference(each.samplingLogprobs, loops![index]!.samplingLogprobs)).toBeLessThan(2e-5);
    });
  });

  it('does not depend on the other sequences, for random batches', async () => {
    const engine = await trainedLooking('wasm', oddShape);
    const prompt = fc.array(fc.nat(2), { minLength: 1, maxLength: 8 });
    const company = fc.array(fc.record({ tokens: prompt.map((list) => Int32Array.from(list)), seed: fc.nat() }), {
      minLength: 1,
      maxLength: 9,
    });
    await fc.assert(
      fc.asyncProperty(company, fc.nat(8), fc.constantFrom(plain, everything), async (all, which, sampling) => {
        const index = which % all.length;
        const together = await engine.generate(all, sampling);
        expect(await engine.generate([all[index]!], sampling)).toEqual([together[index]]);
      }),
    );
  });
});

/** Sampling log-probabilities of the tokens that many draws after a prompt give. */
async function drawnLogprobs(
  engine: Engine,
  prompt: readonly number[],
  how: Partial<Sampling>,
): Promise<Map<number, number>> {
  const many = Array.from({ length: 600 }, (_, seed) => ({ tokens: Int32Array.from(prompt), seed }));
  const drawn = await engine.generate(many, { maxTokens: 1, temperature: 1, ...how });
  return new Map(drawn.map(({ tokens, samplingLogprobs }) => [tokens[0]!, samplingLogprobs[0]!]));
}

/** What is left of a distribution, by sorting. */
function cutByHand(logprobs: readonly number[], { temperature, topK = 1e9, topP = 1 }: Sampling): number[] {
  const normalised = (values: number[]) => {
    const total = values.reduce((sum, value) => sum + value, 0);
    return values.map((value) => value / total);
  };
  const tempered = normalised(logprobs.map((logprob) => Math.exp(logprob / temperature)));
  const order = [...tempered.keys()].sort((a, b) => tempered[b]! - tempered[a]!);
  const best = order.slice(0, topK);
  const mass = best.reduce((sum, token) => sum + tempered[token]!, 0);
  let running = 0;
  const kept = new Set<number>();
  for (const token of best) {
    kept.add(token);
    running += tempered[token]!;
    if (topP < 1 && running >= topP * mass) break;
  }
  return normalised(tempered.map((p, token) => (kept.has(token) ? p : 0)));
}
