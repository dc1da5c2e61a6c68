import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import type { Engine } from '../../../src/lab/engine/engine.js';
import { engineOn, everyEngine, trainedEngineOn } from './every-engine.js';
import { oddShape } from './models.js';

const prompt = Int32Array.of(1, 2);
const group = { prompt, continuations: [Int32Array.of(3, 4)] };
const nothing = new Int32Array(0);
const adam = { learningRate: 1, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

const seeded = { tokens: prompt, seed: 1 };
const draw = { maxTokens: 1, temperature: 1 };

const calls: { what: string; call: (engine: Engine) => Promise<unknown>; says: RegExp }[] = [
  { what: 'an empty batch', call: (e) => e.forward([]), says: /no prompt groups/ },
  { what: 'an empty prompt', call: (e) => e.forward([{ ...group, prompt: nothing }]), says: /prompt has no tokens/ },
  { what: 'no continuations', call: (e) => e.forward([{ prompt, continuations: [] }]), says: /no continuations/ },
  { what: 'an empty continuation', call: (e) => e.forward([{ prompt, continuations: [nothing] }]), says: /no tokens/ },
  {
    what: 'a token above the vocabulary',
    call: (e) => e.forward([{ ...group, prompt: Int32Array.of(13) }]),
    says: /contains 13/,
  },
  {
    what: 'a negative token',
    call: (e) => e.forward([{ prompt, continuations: [Int32Array.of(-1)] }]),
    says: /contains -1/,
  },
  {
    what: 'a sequence longer than the context',
    call: (e) => e.forward([{ prompt, continuations: [new Int32Array(23)] }]),
    says: /25 tokens .* context, 24/,
  },
  {
    what: 'backward before forward',
    call: (e) => e.backward(new Float32Array(2), null),
    says: /before any forward pass/,
  },
  {
    what: 'backward after a forward that failed',
    call: async (e) => {
      await e.forward([group]);
      await e.forward([]).catch(() => null);
      await e.forward([{ prompt, continuations: [] }]).catch(() => null);
      return e.backward(new Float32Array(3), null);
    },
    says: /3 numbers, .* scored 2/,
  },
  {
    what: 'backward after the weights changed',
    call: async (e) => {
      await e.forward([group]);
      await e.adam(adam);
      return e.backward(new Float32Array(2), null);
    },
    says: /weights have changed/,
  },
  {
    what: 'too few slopes of entropy',
    call: async (e) => {
      await e.forward([group]);
      return e.backward(new Float32Array(2), new Float32Array(1));
    },
    says: /`dEntropy` has 1/,
  },
  { what: 'too few weights', call: (e) => e.loadWeights(new Float32Array(3)), says: /`weights` has 3 numbers/ },
  {
    what: 'an optimizer of another size',
    call: async (e) => e.loadOptimizerState({ step: 1, m: await e.weights(), v: new Float32Array(1) }),
    says: /`v` has 1/,
  },
  {
    what: 'an optimizer with a broken step',
    call: async (e) => e.loadOptimizerState({ step: 0.5, m: await e.weights(), v: await e.weights() }),
    says: /0\.5 steps/,
  },
  { what: 'an empty prompt to decode', call: (e) => e.decoder(nothing, 1), says: /no tokens/ },
  { what: 'no sequences', call: (e) => e.decoder(prompt, 0), says: /cannot have 0/ },
  { what: 'a prompt longer than the context', call: (e) => e.decoder(new Int32Array(25), 1), says: /25 tokens/ },
  {
    what: 'lists for other sequences than there are',
    call: async (e) => (await e.decoder(prompt, 2)).extend([[1]]),
    says: /1 lists .* 2 sequences/,
  },
  { what: 'a strange token', call: async (e) => (await e.decoder(prompt, 1)).extend([[1.5]]), says: /contains 1\.5/ },
  {
    what: 'growing beyond the context',
    call: async (e) => (await e.decoder(prompt, 1)).extend([new Array<number>(23).fill(1)]),
    says: /25 tokens/,
  },
  {
    what: 'too few numbers',
    call: async (e) => (await e.decoder(prompt, 2)).sample([0.1], 1),
    says: /1 uniform numbers/,
  },
  {
    what: 'a number that is not below 1',
    call: async (e) => (await e.decoder(prompt, 1)).sample([1], 1),
    says: /1 is not in/,
  },
  {
    what: 'a negative temperature',
    call: async (e) => (await e.decoder(prompt, 1)).sample([0], -1),
    says: /temperature -1/,
  },
  {
    what: 'a decoder of weights that are gone',
    call: async (e) => {
      const old = await e.decoder(prompt, 1);
      await e.loadWeights(await e.weights());
      return old.extend([[1]]);
    },
    says: /weights have changed/,
  },
  { what: 'a forward at temperature 0', call: (e) => e.forward([group], { temperature: 0 }), says: /temperature 0 / },
  {
    what: 'an empty prompt to go on from',
    call: (e) => e.generate([{ ...seeded, tokens: nothing }], draw),
    says: /no tokens/,
  },
  {
    what: 'a prompt to go on from that is longer than the context',
    call: (e) => e.generate([{ ...seeded, tokens: new Int32Array(25) }], draw),
    says: /25 tokens/,
  },
  { what: 'a broken seed', call: (e) => e.generate([{ ...seeded, seed: 0.5 }], draw), says: /seed 0\.5/ },
  { what: 'no new tokens', call: (e) => e.generate([seeded], { ...draw, maxTokens: 0 }), says: /`maxTokens` is 0/ },
  { what: 'a temperature near 0', call: (e) => e.generate([seeded], { ...draw, temperature: 1e-9 }), says: /1e-9/ },
  { what: 'topK of 0', call: (e) => e.generate([seeded], { ...draw, topK: 0 }), says: /`topK` is 0/ },
  { what: 'topP of 0', call: (e) => e.generate([seeded], { ...draw, topP: 0 }), says: /`topP` is 0/ },
  { what: 'topP above 1', call: (e) => e.generate([seeded], { ...draw, topP: 1.5 }), says: /`topP` is 1\.5/ },
  {
    what: 'a strange stop token',
    call: (e) => e.generate([seeded], { ...draw, stop: [13] }),
    says: /`stop` contains 13/,
  },
  { what: 'an epsilon of 0', call: (e) => e.adam({ ...adam, epsilon: 0 }), says: /`epsilon` is 0/ },
  { what: 'clipping to nothing', call: (e) => e.adam({ ...adam, clipNorm: 0 }), says: /`clipNorm` is 0/ },
  {
    what: 'a group of a tensor that does not exist',
    call: (e) => e.adam({ ...adam, groups: [{ tensors: ['lm_heads'] }] }),
    says: /no tensor "lm_heads"/,
  },
  {
    what: 'a tensor in two groups',
    call: (e) => e.adam({ ...adam, groups: [{ tensors: ['lm_head.weight', 'lm_head.weight'] }] }),
    says: /in two parameter groups/,
  },
  {
    what: 'a direction of another size',
    call: (e) => e.addToWeights(new Float32Array(3), 1),
    says: /`direction` has 3 numbers/,
  },
];

describe.each(everyEngine)('the engine on %s', (backend) => {
  it.each(calls)('refuses $what, with a fix', async ({ call, says }) => {
    const error: unknown = await call(await engineOn(backend, oddShape)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).message).toMatch(says);
    expect((error as UserError).fix).not.toBe('');
  });

  it('keeps its sequences when an extension is refused', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const decoder = await engine.decoder(prompt, 2);
    await expect(decoder.extend([[1], [99]])).rejects.toThrow(UserError);
    await decoder.extend([[1], [2]]);
    const after = await decoder.logprobs();
    const fresh = await engine.decoder(prompt, 2);
    expect(await fresh.logprobs()).not.toEqual(after);
    await fresh.extend([[1], [2]]);
    expect(await fresh.logprobs()).toEqual(after);
  });
});
