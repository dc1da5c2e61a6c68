import { describe, expect, it } from 'vitest';
import type { Lora } from '../../../src/lab/engine/adapters/config.js';
import { adapterLayout } from '../../../src/lab/engine/adapters/layout.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import { adapterPresets, presetAdapters } from '../../../src/lab/service/dual-adapters.js';

const simpleStories = presets['simplestories-1.25M'];

describe('presets of two adapters', () => {
  it.each([
    { name: 'r1', retain: 1, forget: 1, alpha: 1, stride: 1 },
    { name: 'r8', retain: 8, forget: 8, alpha: 8, stride: 1 },
    { name: 'r32', retain: 32, forget: 32, alpha: 32, stride: 1 },
    { name: 'r1h', retain: 1, forget: 1, alpha: 1, stride: 2 },
    { name: 'r1hm', retain: 1, forget: 1, alpha: 1, stride: 2 },
    { name: 'r32f4', retain: 32, forget: 4, alpha: 32, stride: 1 },
    { name: 'r32f16', retain: 32, forget: 16, alpha: 32, stride: 1 },
    { name: 'r8m', retain: 8, forget: 8, alpha: 8, stride: 1 },
  ])('$name', ({ name, retain, forget, alpha, stride }) => {
    const [kept, forgotten] = presetAdapters(name) as unknown as [Lora, Lora];
    expect([kept.name, kept.rank, kept.alpha, kept.layers.stride]).toEqual(['retain', retain, alpha, stride]);
    expect([forgotten.name, forgotten.rank, forgotten.alpha]).toEqual(['forget', forget, alpha]);
  });

  it('all work on the 1.25M model', () => {
    for (const name of adapterPresets) {
      expect(adapterLayout(simpleStories, presetAdapters(name)).size).toBeGreaterThan(0);
    }
  });

  it('are listed in the error for an unknown one', () => {
    expect(() => presetAdapters('r3')).toThrow('no lora_config `r3`');
  });
});
