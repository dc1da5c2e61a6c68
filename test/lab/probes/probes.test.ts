import { describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/lab/engine/engine.js';
import {
  multiStepEnvironment,
  singleStepEnvironment,
} from '../../../src/lab/environments/memory/memory-environment.js';
import { bitsKnown } from '../../../src/lab/probes/bits-known.js';
import { Evaluator, greedyAnswer } from '../../../src/lab/probes/evaluator.js';
import { endingId, memoryTokenizer } from '../../../src/lab/text/memory-vocabulary.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';
import { microEngine } from '../micro-engine.js';

const single = singleStepEnvironment({ N: 64, secret: 57, prefix: [] }, { type: 'binary' });
const dense = multiStepEnvironment({ N: 16, secret: 9, prefix: [] });

/** An engine that gives every token of any continuation the same log-probability. */
const even = (engine: Engine, logprob: number): Engine => ({
  ...engine,
  forward: async (groups) => {
    const length = groups.flatMap((group) => group.continuations).reduce((sum, each) => sum + each.length, 0);
    return { logprobs: new Float32Array(length).fill(logprob), entropies: new Float32Array(length) };
  },
});

describe('bits known', () => {
  it.each([
    ['a sure model knows all', 0, 6, 6, 6, 6],
    ['half a chance a token costs a bit a token', Math.log(0.5), 6 - 4, 2, 6 - 3, 3],
    ['less than a uniform guess is below zero, and clamped', Math.log(1 / 16), 6 - 16, 0, 6 - 12, 0],
  ])('%s', async (_what, logprob, ...[raw, clamped, answerRaw, answerClamped]) => {
    const known = await bitsKnown(new EngineService(even(await microEngine(), logprob)), single.solution());
    expect(known['test/bits/known_raw_mean']).toBeCloseTo(raw, 5);
    expect(known['test/bits/known_clamped_mean']).toBeCloseTo(clamped, 5);
    expect(known['test/bits/answer_raw']).toBeCloseTo(answerRaw, 5);
    expect(known['test/bits/answer_clamped']).toBeCloseTo(answerClamped, 5);
    expect(known['test/bits/target_logprob_mean']).toBeCloseTo(4 * logprob, 5);
    expect(known).toMatchObject({ 'test/bits/known_raw_std': 0, 'test/bits/known_clamped_std': 0 });
    expect(known['test/bits/target_logprob_std']).toBe(0);
  });

  it('counts the bits alone in the dense game, where a fair coin for each bit knows nothing', async () => {
    const known = await bitsKnown(new EngineService(even(await microEngine(), Math.log(0.5))), dense.solution());
    expect(known['test/bits/answer_raw']).toBeCloseTo(0, 5);
    expect(known['test/bits/known_raw_mean']).toBeCloseTo(4 - 9, 5);
  });

  it('agrees with the decoder’s log-probabilities of the answer’s tokens', async () => {
    const engine = await microEngine();
    const decoder = await engine.decoder(single.task().prompt, 1);
    let logprob = 0;
    for (const token of memoryTokenizer.encode('57\n\n')) {
      logprob += (await decoder.logprobs())[token]!;
      await decoder.extend([[token]]);
    }
    const known = await bitsKnown(new EngineService(engine), single.solution());
    expect(known['test/bits/answer_raw']).toBeCloseTo(6 + logprob / Math.LN2, 3);
  });
});

describe('the greedy answer', () => {
  it('takes the most likely token each time, and reports its probability', async () => {
    const engine = await microEngine();
    const answer = await greedyAnswer(new EngineService(engine), single, 3);
    const decoder = await engine.decoder(single.task().prompt, 1);
    const said: number[] = [];
    let logprob = 0;
    for (let count = 0; count < 3 && said.at(-1) !== endingId; count++) {
      const row = await decoder.logprobs();
      const best = row.indexOf(Math.max(...row));
      logprob += row[best]!;
      said.push(best);
      await decoder.extend([[best]]);
    }
    expect(answer['test/greedy_prob']).toBeCloseTo(Math.exp(logprob), 5);
    expect(answer['test/greedy']).toBe(single.reading([{ tokens: Int32Array.from(said) }]));
  });
});

describe('an evaluator', () => {
  it('measures each state of the weights once, with the same numbers after a restart', async () => {
    const engine = await microEngine();
    let looked = 0;
    const counting = {
      ...wrapped(engine),
      forward: (groups: Parameters<Engine['forward']>[0]) => (looked++, engine.forward(groups)),
    };
    const test = { groups: 3, groupSize: 2, maxTokens: 3 };
    const evaluation = { environment: single, test, bits: true, seed: 0, constants: { 'theory/signal_bits': 6 } };
    const evaluator = new Evaluator(new EngineService(counting), evaluation);
    const first = await evaluator.evaluate(4);
    expect(await evaluator.evaluate(4)).toEqual(first);
    expect(looked).toBe(1);
    expect(await new Evaluator(new EngineService(engine), evaluation).evaluate(4)).toEqual(first);
    await evaluator.evaluate(5);
    expect(looked).toBe(2);
    expect(first).toMatchObject({ 'theory/signal_bits': 6, 'test/env/all/total_episodes': 6 });
  });
});

/** The methods of an engine as a plain object, to replace some of them. */
function wrapped(engine: Engine): Engine {
  return {
    backend: engine.backend,
    shape: engine.shape,
    parameterCount: engine.parameterCount,
    forward: (groups, options) => engine.forward(groups, options),
    backward: (dLogprob, dEntropy) => engine.backward(dLogprob, dEntropy),
    gradient: () => engine.gradient(),
    clearGradient: () => engine.clearGradient(),
    keepGradient: () => engine.keepGradient(),
    adam: (options) => engine.adam(options),
    addToWeights: (direction, scale) => engine.addToWeights(direction, scale),
    generate: (prompts, sampling) => engine.generate(prompts, sampling),
    decoder: (prompt, sequences) => engine.decoder(prompt, sequences),
    weights: () => engine.weights(),
    loadWeights: (weights) => engine.loadWeights(weights),
    optimizerState: () => engine.optimizerState(),
    loadOptimizerState: (state) => engine.loadOptimizerState(state),
    clone: () => engine.clone(),
    dispose: () => engine.dispose(),
  };
}
