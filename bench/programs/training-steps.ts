/**
 * Policy-gradient steps on our engine, in a process of its own: training-steps.mjs HOW WORKLOADS, where HOW is "loops" or a number of threads. Says what it computes with,
 * then for each line "W1 STEPS" the mean milliseconds of the parts of a step and of the processor, as JSON; `training_steps.py` does the same.
 *
 * Uses of an engine only what older commits have too, since it is bundled with theirs.
 */
import { createInterface } from 'node:readline';
import { createEngine } from '../../src/lab/engine/create-engine.js';
import type { Engine, PromptGroup } from '../../src/lab/engine/engine.js';
import { initialWeights } from '../../src/lab/engine/initial-weights.js';
import { loopKernels } from '../../src/lab/engine/kernels/loop-kernels.js';
import { rng, type Rng } from '../../src/lab/rng.js';
import type { Workload } from '../support/workloads.js';

const adam = { learningRate: 1e-4, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 };

const [how = '1', given = '{}'] = process.argv.slice(2);
const workloads = JSON.parse(given) as Record<string, Workload>;
const random = rng(1, 'bench');
const engines = new Map<string, Engine>();

console.log(JSON.stringify({ on: `Node ${process.version}` }));
for await (const line of createInterface({ input: process.stdin })) {
  const [name = '', count = '1'] = line.split(' ');
  const workload = workloads[name]!;
  const engine = engines.get(name) ?? (await open(workload));
  engines.set(name, engine);
  const sum = { sample: 0, train: 0, adam: 0 };
  const before = process.cpuUsage();
  for (let i = 0; i < Number(count); i++) {
    const parts = await step(engine, workload);
    for (const part of ['sample', 'train', 'adam'] as const) sum[part] += parts[part] / Number(count);
  }
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ ...sum, cpu: (user + system) / 1000 / Number(count) }));
}

async function open({ shape }: Workload): Promise<Engine> {
  const engine = await createEngine(shape, how === 'loops' ? { kernels: loopKernels() } : { threads: Number(how) });
  await engine.loadWeights(initialWeights(shape, () => random.next()));
  return engine;
}

async function step(engine: Engine, workload: Workload): Promise<{ sample: number; train: number; adam: number }> {
  const began = performance.now();
  const groups = workload.step.shared ? [await decode(engine, workload)] : await generate(engine, workload);
  const sampled = performance.now();
  const { logprobs } = await engine.forward(groups);
  const advantages = Array.from({ length: workload.step.sequences }, () => random.next() - 0.5);
  // The ratio of tokens just sampled is 1.
  await engine.backward(
    logprobs.map((_, token) => -advantages[Math.floor(token / workload.step.sampled)]!),
    null,
  );
  const trained = performance.now();
  await engine.adam(adam);
  return { sample: sampled - began, train: trained - sampled, adam: performance.now() - trained };
}

/** As the recipes of the memory task sample: one prompt, token by token. */
async function decode(
  engine: Engine,
  { step: { sequences, prompt: length, sampled } }: Workload,
): Promise<PromptGroup> {
  const prompt = drawn(length, engine, random);
  const decoder = await engine.decoder(prompt, sequences);
  const continuations = Array.from({ length: sequences }, () => new Int32Array(sampled));
  for (let n = 0; n < sampled; n++) {
    const uniforms = Array.from({ length: sequences }, () => random.next());
    const { tokens } = await decoder.sample(uniforms, 1);
    continuations.forEach((sequence, s) => (sequence[n] = tokens[s]!));
    if (n < sampled - 1) await decoder.extend(Array.from(tokens, (token) => [token]));
  }
  return { prompt, continuations };
}

async function generate(engine: Engine, { step: { sequences, prompt, sampled } }: Workload): Promise<PromptGroup[]> {
  const prompts = Array.from({ length: sequences }, () => ({
    tokens: drawn(prompt, engine, random),
    seed: random.below(2 ** 31),
  }));
  const generated = await engine.generate(prompts, { maxTokens: sampled, temperature: 1 });
  return generated.map(({ tokens }, index) => ({ prompt: prompts[index]!.tokens, continuations: [tokens] }));
}

function drawn(length: number, { shape }: Engine, from: Rng): Int32Array {
  return Int32Array.from({ length }, () => from.below(shape.vocabulary));
}
