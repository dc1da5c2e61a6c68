import { performance } from 'node:perf_hooks';
import { createEngine } from '../src/lab/engine/create-engine.js';
import type { Engine } from '../src/lab/engine/engine.js';
import { initialWeights } from '../src/lab/engine/initial-weights.js';
import { loopKernels } from '../src/lab/engine/kernels/loop-kernels.js';
import { presets } from '../src/lab/engine/model-shape.js';
import { rng, type Rng } from '../src/lab/rng.js';

const budgetMs = 1.2;

const sequences = 4;
const promptLength = 10;
const sampled = 5;
const adam = { learningRate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

/** Milliseconds of the parts of one training step. */
type Times = { sample: number; forward: number; backward: number; adam: number; total: number };

/**
 * One policy-gradient step of the smallest useful model ("W1": vocabulary 32, width 64, 2 layers): sample 4 × 5 tokens
 * after one prompt of 10, forward and backward on them, Adam. Medians; SIMD kernels beside plain loops.
 */
export async function benchEngine(): Promise<string[]> {
  const wasm = await measure(await createEngine(presets.tiny), { warmUp: 500, steps: 3000 });
  const loops = await measure(await createEngine(presets.tiny, { kernels: loopKernels() }), { warmUp: 60, steps: 200 });
  return [
    'W1 training step, 1 core     sample  forward  backward    adam     total',
    line('SIMD kernels', wasm),
    line('plain loops', loops),
    `budget ${budgetMs.toFixed(1)} ms: ${wasm.total <= budgetMs ? 'held' : 'MISSED'}; ` +
      `${(loops.total / wasm.total).toFixed(1)}× as fast as the loops`,
  ];
}

function line(name: string, times: Times): string {
  const columns = [times.sample, times.forward, times.backward, times.adam, times.total];
  return `  ${name.padEnd(24)} ${columns.map((ms) => ms.toFixed(3).padStart(8)).join(' ')} ms`;
}

async function measure(engine: Engine, { warmUp, steps }: { warmUp: number; steps: number }): Promise<Times> {
  const random = rng(1, 'bench');
  await engine.loadWeights(initialWeights(engine.shape, () => random.next()));
  for (let i = 0; i < warmUp; i++) await step(engine, random);
  const all: Times[] = [];
  for (let i = 0; i < steps; i++) all.push(await step(engine, random));
  const middle = (part: keyof Times) => median(all.map((times) => times[part]));
  return {
    sample: middle('sample'),
    forward: middle('forward'),
    backward: middle('backward'),
    adam: middle('adam'),
    total: middle('total'),
  };
}

async function step(engine: Engine, random: Rng): Promise<Times> {
  const prompt = Int32Array.from({ length: promptLength }, () => random.below(engine.shape.vocabulary));
  const started = performance.now();
  const continuations = await rollOut(engine, prompt, random);
  const afterSample = performance.now();
  const { logprobs } = await engine.forward([{ prompt, continuations }]);
  const afterForward = performance.now();
  const advantages = continuations.map(() => random.next() - 0.5);
  // The ratio of an on-policy sample is 1.
  await engine.backward(
    logprobs.map((_, i) => -advantages[Math.floor(i / sampled)]!),
    null,
  );
  const afterBackward = performance.now();
  await engine.adam(adam);
  const ended = performance.now();
  return {
    sample: afterSample - started,
    forward: afterForward - afterSample,
    backward: afterBackward - afterForward,
    adam: ended - afterBackward,
    total: ended - started,
  };
}

async function rollOut(engine: Engine, prompt: Int32Array, random: Rng): Promise<Int32Array[]> {
  const decoder = await engine.decoder(prompt, sequences);
  const drawn = Array.from({ length: sequences }, () => new Int32Array(sampled));
  const uniforms = new Array<number>(sequences);
  for (let n = 0; n < sampled; n++) {
    for (let s = 0; s < sequences; s++) uniforms[s] = random.next();
    const { tokens } = await decoder.sample(uniforms, 1);
    drawn.forEach((sequence, s) => (sequence[n] = tokens[s]!));
    if (n < sampled - 1) await decoder.extend(Array.from(tokens, (token) => [token]));
  }
  return drawn;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!;
}
