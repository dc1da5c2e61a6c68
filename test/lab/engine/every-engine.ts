import { expect, onTestFinished, vi } from 'vitest';
import type { Engine, ModelShape } from '../../../src/lab/engine/engine.js';
import { backendNames, openBackend, type Attempt } from '../../../src/lab/engine/tfjs/backends.js';
import { importModule } from '../../../src/base/import-module.js';
import { TfjsEngine } from '../../../src/lab/engine/tfjs/tfjs-engine.js';
import { backends, makeEngine, maxDifference, trainedLookingWeights, type Backend } from './models.js';

/** What TensorFlow.js can compute on here: wasm and cpu always, the others where a person has installed them. */
const attempts = await openAll();

export const absentEngines = attempts.filter((attempt) => attempt.kind === 'absent');

const devices = new Map(
  attempts.flatMap((attempt) => (attempt.kind === 'ready' ? [[attempt.name as string, attempt.device]] : [])),
);

// Where no GPU is, each of its programs is compiled for the processor, which takes a second.
if (devices.has('tfjs-webgpu')) vi.setConfig({ testTimeout: 600_000 });

/** Every engine of this machine, ours first: what is said of an engine must hold on each. */
export const everyEngine: readonly string[] = [...backends, ...devices.keys()];

/** An engine without weights, which is gone when the test is over. */
export async function engineOn(name: string, shape: ModelShape): Promise<Engine> {
  const device = devices.get(name);
  if (device === undefined) return makeEngine(name as Backend, shape, mostScores);
  const engine = new TfjsEngine(device, shape, { keptScores: mostScores });
  onTestFinished(() => engine.dispose());
  return engine;
}

/** The same with weights large enough that every part of the model matters. */
export async function trainedEngineOn(name: string, shape: ModelShape): Promise<Engine> {
  const engine = await engineOn(name, shape);
  await engine.loadWeights(trainedLookingWeights(shape));
  return engine;
}

/** How many scores an engine keeps here of one forward pass. */
export const mostScores = 20_000;

/** The same bits on our kernels; elsewhere the same to a few units in the last place of single precision. */
export function expectSame(name: string, actual: ArrayLike<number>, expected: ArrayLike<number>): void {
  if (isExact(name)) expect(actual).toEqual(expected);
  else expect(maxDifference(actual, expected)).toBeLessThan(2e-5);
}

/** Whether a row has the same bits in any company, as our kernels promise. */
function isExact(name: string): boolean {
  return !devices.has(name);
}

async function openAll(): Promise<Attempt[]> {
  const opened: Attempt[] = [];
  for (const name of backendNames) opened.push(await openBackend(name, { environment: {}, load: importModule }));
  return opened;
}
