import { describe, expect, it } from 'vitest';
import { checkpoint, optimizerFrom, weightsFrom, weightTensors } from '../../../src/lab/engine/checkpoint.js';
import { offsetsOf } from '../../../src/lab/engine/layout.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import { readSafetensors, writeSafetensors, type StoredTensor } from '../../../src/lab/engine/safetensors.js';
import { groupsOf, oddShape, slopes, tailShape, trainedLooking } from './models.js';

describe('a checkpoint', () => {
  it.each([presets.micro, oddShape, tailShape])('restores weights and optimizer bit for bit', async (shape) => {
    const engine = await trainedLooking('wasm', shape);
    await engine.forward(groupsOf(shape, [[2, 3]]));
    await engine.backward(slopes(3, 1), null);
    await engine.adam({ learningRate: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 });
    const [weights, optimizer] = [await engine.weights(), await engine.optimizerState()];
    const read = readSafetensors(writeSafetensors(checkpoint(shape, weights, optimizer)));
    expect(weightsFrom(shape, read.tensors)).toEqual(weights);
    expect(optimizerFrom(shape, read)).toEqual(optimizer);
  });

  it('stores matrices as [out, in], in the orientation of transformers', async () => {
    // Zero but for the value path of the first head, the norms and the embedding: the output can be worked out by hand.
    const shape = { ...presets.micro, vocabulary: 4, width: 4, heads: 1, kvHeads: 1, feedForward: 4 };
    const zeros = weightTensors(shape, new Float32Array((await trainedLooking('loops', shape)).parameterCount));
    const set = (name: string, at: number, value: number) => (zeros.get(name)!.values[at] = value);
    zeros.get('model.layers.0.input_layernorm.weight')!.values.fill(1);
    zeros.get('model.norm.weight')!.values.fill(1);
    for (let i = 0; i < 4; i++) set('model.embed_tokens.weight', i * 4 + i, 1);
    // Input 0 goes to value 1 (row 1, column 0), and value 1 to output 2 (row 2, column 1).
    set('model.layers.0.self_attn.v_proj.weight', 1 * 4 + 0, 3);
    set('model.layers.0.self_attn.o_proj.weight', 2 * 4 + 1, 1);
    const engine = await trainedLooking('loops', shape);
    await engine.loadWeights(weightsFrom(shape, zeros));
    const scores = await (await engine.decoder(Int32Array.of(0), 1)).logprobs();
    // Residual (1, 0, 0, 0) + (0, 0, 3 · 2, 0), as a norm of one hot is 2; then normed to mean square 1.
    const scale = 1 / Math.sqrt((1 + 36) / 4);
    expect(scores[2]! - scores[0]!).toBeCloseTo(5 * scale, 3);
    expect(scores[1]!).toBeCloseTo(scores[3]!, 6);
    expect(scores[0]! - scores[1]!).toBeCloseTo(scale, 3);
  });

  it('without an optimizer has no state', () => {
    const tensors = weightTensors(presets.micro, new Float32Array(offsetsOf(presets.micro).size));
    expect(optimizerFrom(presets.micro, { tensors, metadata: {} })).toBeNull();
  });

  it.each<{ what: string; change: (tensors: Map<string, StoredTensor>) => void; says: RegExp }>([
    { what: 'lacks a tensor', change: (t) => t.delete('model.norm.weight'), says: /no tensor "model\.norm\.weight"/ },
    {
      what: 'is of another shape',
      change: (t) => t.set('model.norm.weight', { shape: [2], values: new Float32Array(2) }),
      says: /has shape \[2\] in the checkpoint and \[16\] in the model/,
    },
  ])('that $what is refused', ({ change, says }) => {
    const tensors = weightTensors(presets.micro, new Float32Array(offsetsOf(presets.micro).size));
    change(tensors);
    expect(() => weightsFrom(presets.micro, tensors)).toThrow(says);
  });

  it('is refused when its step is not a number', () => {
    expect(() => optimizerFrom(presets.micro, { tensors: new Map(), metadata: { adam_step: 'x' } })).toThrow(/"x"/);
  });
});
