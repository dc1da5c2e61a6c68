import { presets } from '../../src/lab/engine/model-shape.js';
import type { ModelShape } from '../../src/lab/engine/engine.js';

/** A training step to measure. `shared`: all sequences follow one prompt, and are decoded token by token. */
export type Workload = {
  readonly shape: ModelShape;
  readonly step: {
    readonly sequences: number;
    readonly prompt: number;
    readonly sampled: number;
    readonly shared: boolean;
  };
};

/** W1: the memory sweep's. W2: a LLaMA of 1.25 million parameters with the vocabulary of SimpleStories. */
export const workloads: Readonly<Record<'W1' | 'W2', Workload>> = {
  W1: { shape: presets.tiny, step: { sequences: 4, prompt: 10, sampled: 5, shared: true } },
  W2: {
    shape: { ...presets['simplestories-1.25M'], context: 128 },
    step: { sequences: 32, prompt: 16, sampled: 112, shared: false },
  },
};

/** For programs in another language: names as theirs are, and only what they need. */
export function plainWorkloads(): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(workloads).map(([name, { shape, step }]) => {
      const { vocabulary, width, layers, heads, kvHeads: kv_heads, feedForward: feed_forward } = shape;
      return [name, { shape: { vocabulary, width, layers, heads, kv_heads, feed_forward }, step }];
    }),
  );
}
