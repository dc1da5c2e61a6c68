import type { Engine } from '../engine/engine.js';
import type { Rng } from '../rng.js';

/** Size of a step: a group of sequences sampled from a prompt, and one update on them. */
export type StepSize = { readonly sequences: number; readonly prompt: number; readonly sampled: number };

const adam = { learningRate: 1e-4, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 };

/** Samples, runs forward and backward, and takes one Adam step: policy gradient on advantages drawn at random. */
export async function trainingStep(
  engine: Engine,
  { sequences, prompt, sampled }: StepSize,
  random: Rng,
): Promise<void> {
  const tokens = Int32Array.from({ length: prompt }, () => random.below(engine.shape.vocabulary));
  const continuations = await sample(engine, tokens, { sequences, sampled }, random);
  const { logprobs } = await engine.forward([{ prompt: tokens, continuations }]);
  const advantages = continuations.map(() => random.next() - 0.5);
  // The ratio of tokens just sampled is 1.
  await engine.backward(
    logprobs.map((_, token) => -advantages[Math.floor(token / sampled)]!),
    null,
  );
  await engine.adam(adam);
}

async function sample(
  engine: Engine,
  prompt: Int32Array,
  { sequences, sampled }: Omit<StepSize, 'prompt'>,
  random: Rng,
): Promise<Int32Array[]> {
  const decoder = await engine.decoder(prompt, sequences);
  const drawn = Array.from({ length: sequences }, () => new Int32Array(sampled));
  for (let token = 0; token < sampled; token++) {
    const uniforms = Array.from({ length: sequences }, () => random.next());
    const { tokens } = await decoder.sample(uniforms, 1);
    drawn.forEach((sequence, s) => (sequence[token] = tokens[s]!));
    if (token < sampled - 1) await decoder.extend(Array.from(tokens, (id) => [id]));
  }
  return drawn;
}
