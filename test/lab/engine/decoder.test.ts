import { describe, expect, it } from 'vitest';
import type { Decoder } from '../../../src/lab/engine/engine.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import { everyEngine, expectSame, trainedEngineOn } from './every-engine.js';
import { groupsOf, maxDifference, numbers, oddShape, tailShape } from './models.js';

const prompt = Int32Array.of(1, 7, 3, 3);

/** Log-probabilities of the next token of one sequence. */
async function row(decoder: Decoder, sequence: number): Promise<Float32Array> {
  const all = await decoder.logprobs();
  const vocabulary = all.length / decoder.sequences;
  return all.slice(sequence * vocabulary, (sequence + 1) * vocabulary);
}

async function greedy(decoder: Decoder, count: number): Promise<number[][]> {
  const drawn: number[][] = [];
  for (let i = 0; i < count; i++) {
    const { tokens } = await decoder.sample(new Array<number>(decoder.sequences).fill(0.5), 0);
    drawn.push([...tokens]);
    await decoder.extend(drawn[i]!.map((token) => [token]));
  }
  return drawn;
}

describe.each(everyEngine)('a decoder on %s', (backend) => {
  it.each([
    { name: 'tiny', shape: presets.tiny },
    { name: 'odd', shape: oddShape },
    { name: 'with tails', shape: tailShape },
  ])('gives each sampled token the log-probability of training, to the bit: $name', async ({ shape }) => {
    const engine = await trainedEngineOn(backend, shape);
    const next = numbers(9);
    const decoder = await engine.decoder(prompt, 3);
    const continuations: number[][] = [[], [], []];
    const sampled: number[][] = [[], [], []];
    for (let i = 0; i < 6; i++) {
      const { tokens, logprobs } = await decoder.sample([next(), next(), next()], 1);
      tokens.forEach((token, s) => {
        continuations[s]!.push(token);
        sampled[s]!.push(logprobs[s]!);
      });
      await decoder.extend([...tokens].map((token) => [token]));
    }
    const { logprobs } = await engine.forward([
      { prompt, continuations: continuations.map((c) => Int32Array.from(c)) },
    ]);
    expectSame(backend, logprobs, Float32Array.from(sampled.flat()));
  });

  it('gives the same bits in whatever portions tokens are appended, beside any other sequences', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const tokens = [5, 12, 0, 9, 4];
    const alone = await engine.decoder(prompt, 1);
    for (const token of tokens) await alone.extend([[token]]);
    const expected = await row(alone, 0);
    const ragged = await engine.decoder(prompt, 4);
    await ragged.extend([[2], tokens.slice(0, 2), [], [1, 1, 1]]);
    await ragged.extend([[], tokens.slice(2), [8, 8], []]);
    expectSame(backend, await row(ragged, 1), expected);
    const longer = await engine.decoder(Int32Array.of(...prompt, ...tokens), 2);
    expectSame(backend, await row(longer, 1), expected);
  });

  it('continues unaffected while other decoders of the same or another prompt are created and used', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const openings = [[1], [1, 7], [2], [1, 7], [3, 3, 3], [4], [5, 6], [1]].map((list) => Int32Array.from(list));
    const decoders = await Promise.all(openings.map((opening) => engine.decoder(opening, 2)));
    const said: number[][][] = openings.map(() => [[], []]);
    const next = numbers(4);
    for (let turn = 0; turn < 40; turn++) {
      const who = Math.floor(next() * openings.length);
      if (said[who]!.some(({ length }) => length > 15)) continue;
      const tokens = [0, 1].map(() => Array.from({ length: Math.floor(next() * 3) }, () => Math.floor(next() * 2)));
      tokens.forEach((added, s) => said[who]![s]!.push(...added));
      await decoders[who]!.extend(tokens);
    }
    for (const [index, decoder] of decoders.entries()) {
      const alone = await (await trainedEngineOn(backend, oddShape)).decoder(openings[index]!, 2);
      await alone.extend(said[index]!);
      expectSame(backend, await decoder.logprobs(), await alone.logprobs());
      const drawn = await alone.sample([0.3, 0.6], 1);
      expect((await decoder.sample([0.3, 0.6], 1)).tokens).toEqual(drawn.tokens);
    }
  });

  it('leaves a sequence unchanged when no tokens are appended', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const decoder = await engine.decoder(prompt, 2);
    const before = await row(decoder, 0);
    await decoder.extend([[], [3, 4]]);
    expect(await row(decoder, 0)).toEqual(before);
    expect(await row(decoder, 1)).not.toEqual(before);
    await decoder.extend([[], []]);
    expect(await row(decoder, 0)).toEqual(before);
  });

  it('samples by inverse CDF', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const decoder = await engine.decoder(prompt, 1);
    const probabilities = (await row(decoder, 0)).map(Math.exp);
    let below = 0;
    for (const [token, p] of probabilities.entries()) {
      for (const inside of [0.01, 0.5, 0.99]) {
        const { tokens, logprobs } = await decoder.sample([below + inside * p], 1);
        expect([token, tokens[0]]).toEqual([token, token]);
        expect(Math.exp(logprobs[0]!)).toBeCloseTo(p, 5);
      }
      below += p;
    }
    expect((await decoder.sample([0], 1)).tokens[0]).toBe(0);
    expect((await decoder.sample([1 - Number.EPSILON], 1)).tokens[0]).toBe(12);
  });

  it('applies the temperature to sampling, and reports the log-probability at temperature 1', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const decoder = await engine.decoder(prompt, 1);
    const logprobs = await row(decoder, 0);
    const draws = 2000;
    for (const temperature of [0.5, 1, 3]) {
      const weights = logprobs.map((logprob) => Math.exp(logprob / temperature));
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const counts = new Float64Array(oddShape.vocabulary);
      for (let i = 0; i < draws; i++) {
        const drawn = await decoder.sample([(i + 0.5) / draws], temperature);
        counts[drawn.tokens[0]!]! += 1 / draws;
        expect(drawn.logprobs[0]).toBe(logprobs[drawn.tokens[0]!]);
      }
      // Evenly spaced numbers hit each token in proportion, to one draw at each end.
      expect(
        maxDifference(
          counts,
          weights.map((weight) => weight / total),
        ),
      ).toBeLessThan(2 / draws);
    }
  });

  it('takes the most likely token at temperature 0, whatever the random number', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const decoder = await engine.decoder(prompt, 1);
    const logprobs = await row(decoder, 0);
    const likeliest = logprobs.indexOf(Math.max(...logprobs));
    for (const uniform of [0, 0.3, 0.999]) {
      expect((await decoder.sample([uniform], 0)).tokens[0]).toBe(likeliest);
      expect((await decoder.sample([uniform], 1e-12)).tokens[0]).toBe(likeliest);
    }
  });

  it('skips a sequence whose random number is NaN', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const decoder = await engine.decoder(prompt, 3);
    const { tokens, logprobs } = await decoder.sample([0.2, NaN, 0.2], 1);
    expect(tokens[1]).toBe(-1);
    expect(logprobs[1]).toBe(0);
    expect(tokens[0]).toBe(tokens[2]);
  });

  it('returns normalised log-probabilities', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const decoder = await engine.decoder(prompt, 2);
    await decoder.extend([[4], [5, 6]]);
    for (const sequence of [0, 1]) {
      const total = (await row(decoder, sequence)).reduce((sum, logprob) => sum + Math.exp(logprob), 0);
      expect(total).toBeCloseTo(1, 5);
    }
  });

  it('may be used between forward and backward', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const groups = groupsOf(oddShape, [[2, 4]]);
    const gradient = async (between: () => Promise<unknown>) => {
      await engine.clearGradient();
      await engine.forward(groups);
      await between();
      await engine.backward(Float32Array.of(1, 2, 3, 4), null);
      return engine.gradient();
    };
    const plain = await gradient(async () => null);
    expect(await gradient(async () => greedy(await engine.decoder(prompt, 5), 3))).toEqual(plain);
  });
});

describe('greedy generation', () => {
  it('is the same on every engine', async () => {
    const runs = await Promise.all(
      everyEngine.map(async (backend) =>
        greedy(await (await trainedEngineOn(backend, presets.tiny)).decoder(prompt, 2), 20),
      ),
    );
    for (const run of runs) expect(run).toEqual(runs[0]);
  });
});
