import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../src/lab/engine/create-engine.js';
import { Computation } from '../../../src/lab/tinker/server/computation.js';
import { ModelCatalogue } from '../../../src/lab/tinker/server/model-catalogue.js';
import type { EngineFactory, LoraSettings } from '../../../src/lab/tinker/server/parameters.js';
import type { SampleRequest } from '../../../src/lab/tinker/server/samplers.js';
import { TimeSlices } from '../../../src/lab/tinker/server/time-slices.js';
import { tempDirectory } from '../temp-directory.js';

/** Computations whose tasks have a turn at each pause, or after `sliceMs`. `pauses`: number of pauses so far. */
function computing({ home = tempDirectory(), sliceMs = 0 } = {}) {
  const slices = new TimeSlices(sliceMs);
  const counted = { pauses: 0 };
  const pause = () => {
    counted.pauses++;
    return slices.pause();
  };
  const create: EngineFactory['create'] = async (shape) => ({
    engine: await createEngine(shape, { pause }),
    threads: 1,
  });
  const computation = new Computation(new ModelCatalogue(home, []), create, slices);
  const run = <T>(work: (computation: Computation) => Promise<T>, signal?: AbortSignal): Promise<T> =>
    slices.run(() => work(computation), signal);
  return { counted, run };
}
type Run = ReturnType<typeof computing>['run'];

const lora: LoraSettings = { rank: 4, seed: 3, trainUnembed: true, trainMlp: true, trainAttn: true };
const adam = { learningRate: 0.01, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 };

/** A request of cross-entropy on `count` sequences of `length` tokens. */
function learning(modelId: string, count: number, length: number) {
  const sequence = (index: number) => Int32Array.from({ length }, (_, at) => 1 + ((7 * index + 3 * at) % 90));
  const data = Array.from({ length: count }, (_, index) => ({
    tokens: sequence(index),
    inputs: targets(sequence(index)),
  }));
  return { modelId, seqId: null, data, lossFn: 'cross_entropy', config: {}, forwardOnly: false };
}

function targets(tokens: Int32Array) {
  const values = Int32Array.from(tokens, (token) => (token + 1) % 90);
  return new Map([['target_tokens', { values, shape: [values.length] }]]);
}

function drawing(samples: number, maxTokens: number, length = 12): SampleRequest {
  return {
    prompt: Int32Array.from({ length }, (_, at) => 1 + (at % 90)),
    samples,
    params: { maxTokens, seed: 5, stop: [], temperature: 1, topK: null, topP: 1 },
    place: 'here',
    promptLogprobs: true,
    topPromptLogprobs: 2,
    lastPromptLogprobs: null,
    topSampleLogprobs: 0,
    promptTargets: null,
    promptAlternatives: 0,
  };
}

/** All that a session computes: making a model, two steps, a sample of what it has learnt. */
async function session(run: Run, id: string, settings: LoraSettings, count: number): Promise<unknown[]> {
  const said: unknown[] = [await run((all) => all.createModel(id, 'memrl/tiny', settings))];
  for (let step = 0; step < 2; step++) {
    said.push(await run((all) => all.forwardBackward(learning(id, count, 40))));
    said.push(await run((all) => all.forwardBackward(learning(id, 2, 9))));
    said.push(await run((all) => all.optimStep(id, adam)));
  }
  await run((all) => all.keepForSampler(id, `${id}/s`));
  const source = { kind: 'memory', id: `${id}/s`, base: 'memrl/tiny' } as const;
  said.push(await run((all) => all.sample(source, [drawing(3, 8)])));
  return said;
}

describe('sessions that share the compute thread', () => {
  it.each([
    { what: 'LoRA', settings: lora },
    { what: 'all weights', settings: { ...lora, rank: 0 } },
  ])('compute the same bits as alone: $what', async ({ settings }) => {
    const home = tempDirectory();
    const alone = [
      await session(computing({ home }).run, 'a', settings, 20),
      await session(computing({ home }).run, 'b', { ...lora, seed: 4 }, 3),
    ];
    const { run, counted } = computing({ home });
    const together = Promise.all([session(run, 'a', settings, 20), session(run, 'b', { ...lora, seed: 4 }, 3)]);
    expect(await together).toEqual(alone);
    expect(counted.pauses).toBeGreaterThan(50);
  });

  it('answer a small request during a large one, also when both sample from one model', async () => {
    const { run } = computing({ sliceMs: 10 });
    await run((all) => all.createModel('large', 'memrl/tiny', lora));
    const order: string[] = [];
    const said = (name: string) => () => void order.push(name);
    const large = run((all) => all.forwardBackward(learning('large', 100, 200))).then(said('large step'));
    const drawn = run((all) => all.sample({ kind: 'base', id: 'memrl/tiny', base: 'memrl/tiny' }, [drawing(30, 400)]));
    const sampled = drawn.then(said('large sample'));
    await nextRound();
    await run((all) => all.createModel('small', 'memrl/tiny', lora));
    await run((all) => all.forwardBackward(learning('small', 1, 9))).then(said('small step'));
    const source = { kind: 'base', id: 'memrl/tiny', base: 'memrl/tiny' } as const;
    await run((all) => all.sample(source, [drawing(1, 1)])).then(said('small sample'));
    await Promise.all([large, sampled]);
    expect(order[0]).toBe('small step');
    expect(order.indexOf('large sample')).toBeLessThan(order.indexOf('small sample'));
  });
});

describe('a cancelled request', () => {
  it('ends at its next pause, and leaves the gradient unchanged to the bit', { timeout: 30_000 }, async () => {
    const norms: number[] = [];
    for (const settings of [lora, { ...lora, rank: 0 }]) {
      for (const isSent of [false, true]) {
        const { run, counted } = computing();
        await run((all) => all.createModel('m', 'memrl/tiny', settings));
        for (const before of [0, 2]) {
          if (before > 0) await run((all) => all.forwardBackward(learning('m', before, 20)));
          for (const most of isSent ? [1, 5, 8] : []) {
            const cancel = new AbortController();
            const whole = run((all) => all.forwardBackward(learning('m', 20, 30)), cancel.signal);
            const start = counted.pauses;
            while (counted.pauses < start + most) await nextRound();
            cancel.abort();
            await expect(whole).rejects.toThrow('cancelled');
            expect(counted.pauses).toBeLessThan(start + most + 4);
          }
          await run((all) => all.forwardBackward(learning('m', 3, 20)));
          norms.push(await run((all) => all.optimStep('m', adam)));
        }
      }
    }
    const [bare, sent] = [norms.slice(0, 2), norms.slice(2, 4)];
    expect(sent).toEqual(bare);
    expect(norms.slice(6)).toEqual(norms.slice(4, 6));
    expect(new Set(norms).size).toBe(4);
  });

  it('leaves samplers unchanged, also before it has begun', async () => {
    const source = { kind: 'base', id: 'memrl/tiny', base: 'memrl/tiny' } as const;
    const { run, counted } = computing();
    const expected = await run((all) => all.sample(source, [drawing(2, 6)]));
    const cancel = new AbortController();
    const drawn = run((all) => all.sample(source, [drawing(40, 900, 100)]), cancel.signal);
    const start = counted.pauses;
    while (counted.pauses < start + 3) await nextRound();
    const late = run((all) => all.sample(source, [drawing(40, 900, 100)]), cancel.signal);
    cancel.abort();
    await expect(drawn).rejects.toThrow('cancelled');
    await expect(late).rejects.toThrow('cancelled');
    expect(counted.pauses).toBeLessThan(start + 8);
    expect(await run((all) => all.sample(source, [drawing(2, 6)]))).toEqual(expected);
  });
});
