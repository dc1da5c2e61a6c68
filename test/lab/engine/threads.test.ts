import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compiledKernels, createEngine } from '../../../src/lab/engine/create-engine.js';
import type { Engine, ModelShape } from '../../../src/lab/engine/engine.js';
import { ThreadPool } from '../../../src/lab/engine/kernels/thread-pool.js';
import { removeFolder } from '../../remove-folder.js';
import { bundledProgram } from '../program.js';
import { numbers, slopes, trainedLookingWeights } from './models.js';

/** So large that every kind of call is cut. */
const shape: ModelShape = {
  vocabulary: 301,
  width: 64,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  feedForward: 90,
  tied: true,
  ropeTheta: 10_000,
  normEpsilon: 1e-5,
  context: 64,
};

/** Two steps on what the model itself has said, from the same weights and seeds. */
async function trained(engine: Engine): Promise<unknown> {
  await engine.loadWeights(trainedLookingWeights(shape));
  const next = numbers(7);
  const results = [];
  for (let step = 0; step < 2; step++) {
    const prompts = Array.from({ length: 14 }, (_, seed) => ({
      tokens: Int32Array.from({ length: 5 + (seed % 3) }, () => Math.floor(next() * shape.vocabulary)),
      seed,
    }));
    const generated = await engine.generate(prompts, { maxTokens: 30, temperature: 0.9, topP: 0.95 });
    const groups = generated.map(({ tokens }, i) => ({ prompt: prompts[i]!.tokens, continuations: [tokens, tokens] }));
    const scores = await engine.forward(groups);
    const count = scores.logprobs.length;
    await engine.backward(slopes(count, 1), slopes(count, 2));
    const gradient = await engine.gradient();
    const norm = await engine.adam({ learningRate: 1e-2, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 });
    results.push({ generated, scores, gradient, norm, weights: await engine.weights() });
  }
  return results;
}

describe('our kernels on threads', () => {
  it('give the bits of one thread, on two and on five', { tags: ['long'] }, async () => {
    const alone = await trained(await createEngine(shape));
    for (const threads of [2, 5]) expect(await trained(await createEngine(shape, { threads }))).toEqual(alone);
  });

  it('serve several engines, one of them a clone', async () => {
    const engine = await createEngine(shape, { threads: 2 });
    const alone = await trained(await createEngine(shape));
    expect(await trained(engine)).toEqual(alone);
    const clone = await engine.clone();
    expect(await trained(clone)).toEqual(alone);
    expect(await trained(engine)).not.toEqual(alone);
  });
});

describe('a thread of an engine', () => {
  it('rethrows the error of a failed thread, now and on every later call', async () => {
    const pool = new ThreadPool(pathToFileURL('src/lab/engine/kernel-thread.js'));
    const { heap } = await compiledKernels({ threads: 2 });
    const module = await WebAssembly.compile(readFileSync('src/lab/engine/kernels-shared.wasm'));
    const packing = { at: heap.allocate(2 ** 16), bytes: 2 ** 18 };
    const shared = { id: pool.register(heap), module, memory: heap.memory, packing };
    const rows = (at: number) => [4, 4, at, at, at, 0];
    const call = (at: number) => pool.run('swiglu', shared, [rows(64), rows(at)], () => {});
    call(256);
    expect(() => call(0xffff_fff0)).toThrow(
      /A thread of the engine has failed: RuntimeError: memory access out of bounds/,
    );
    expect(() => call(256)).toThrow('A thread of the engine has failed');
  });

  it('ends with its process, whether that finishes or is killed', async () => {
    const program = await bundledProgram();
    const folder = mkdtempSync(join(tmpdir(), 'threads-'));
    onTestFinished(() => removeFolder(folder));
    const train = ['train', 'N=16', 'group_size=48', 'eval_every=0', 'engine=wasm', 'threads=3'];
    const ended = await program.run([...train, 'n_batches=2', `log_path=${join(folder, 'short')}`]);
    expect(ended).toMatchObject({ code: 0, signal: null });
    const { child, ended: stopped } = program.start([
      ...train,
      'n_batches=1000000',
      `log_path=${join(folder, 'long')}`,
    ]);
    await new Promise<void>((resolve) => child.stdout!.once('data', () => resolve()));
    child.kill('SIGTERM');
    expect((await stopped).signal ?? (await stopped).code).not.toBeNull();
    expect(spawnSync('kill', ['-0', String(child.pid)]).status).not.toBe(0);
  });
});
