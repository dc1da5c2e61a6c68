import { describe, expect, it } from 'vitest';
import { layout, offsetsOf, parameterCount } from '../../../src/lab/engine/layout.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import { oddShape, tailShape } from './models.js';

describe('the layout of the weights', () => {
  it.each([presets.tiny, oddShape, tailShape])('assigns every weight to exactly one element of one tensor', (shape) => {
    const owners = new Uint8Array(offsetsOf(shape).size);
    for (const { shape: sizes, offset, strides } of layout(shape)) {
      for (let i = 0; i < sizes[0]; i++) {
        for (let j = 0; j < (sizes[1] ?? 1); j++) owners[offset + i * strides[0] + j * (strides[1] ?? 0)]!++;
      }
    }
    expect(owners.every((count) => count === 1)).toBe(true);
    expect(parameterCount(shape)).toBe(owners.length);
  });

  it('names tensors as Hugging Face does, a matrix as [out, in]', () => {
    const named = new Map(layout(oddShape).map(({ name, shape }) => [name, shape]));
    expect([...named.keys()].filter((name) => !name.startsWith('model.layers.1'))).toEqual([
      'model.embed_tokens.weight',
      'model.layers.0.input_layernorm.weight',
      'model.layers.0.self_attn.q_proj.weight',
      'model.layers.0.self_attn.k_proj.weight',
      'model.layers.0.self_attn.v_proj.weight',
      'model.layers.0.self_attn.o_proj.weight',
      'model.layers.0.post_attention_layernorm.weight',
      'model.layers.0.mlp.gate_proj.weight',
      'model.layers.0.mlp.up_proj.weight',
      'model.layers.0.mlp.down_proj.weight',
      'model.norm.weight',
      'lm_head.weight',
    ]);
    expect(named.get('model.layers.1.self_attn.k_proj.weight')).toEqual([8, 24]);
    expect(named.get('model.layers.1.mlp.down_proj.weight')).toEqual([24, 20]);
    expect(layout(presets.tiny).some(({ name }) => name === 'lm_head.weight')).toBe(false);
  });
});
