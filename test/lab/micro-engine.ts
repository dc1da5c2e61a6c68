import { createEngine } from '../../src/lab/engine/create-engine.js';
import type { Engine } from '../../src/lab/engine/engine.js';
import { initialWeights } from '../../src/lab/engine/initial-weights.js';
import { presets } from '../../src/lab/engine/model-shape.js';
import { rng } from '../../src/lab/rng.js';

/** A very small model with random weights, larger than usual so that its answers are far from uniform. */
export async function microEngine(seed = 0, vocabulary: number = presets.micro.vocabulary): Promise<Engine> {
  const shape = { ...presets.micro, vocabulary, context: 128 };
  const engine = await createEngine(shape);
  const random = rng(seed, 'test weights');
  await engine.loadWeights(
    initialWeights(shape, () => random.next()).map((weight) => (weight === 1 ? 1 : 10 * weight)),
  );
  return engine;
}
