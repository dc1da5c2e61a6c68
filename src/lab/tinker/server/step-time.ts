/** The time that a training step takes on this machine, estimated from one layer of the model. */
import { cpuUsage } from 'node:process';
import type { Engine, ModelShape } from '../../engine/engine.js';
import { parameterCount } from '../../engine/layout.js';
import type { Pause } from '../../engine/model/steps.js';
import type { OpenedEngine } from './parameters.js';

/** Size of the training step whose time is reported. */
export const usualStep = { sequences: 8, tokens: 128 } as const;

/** Minimum length of a measurement, by which time the code has been optimised, and its minimum number of rounds. */
const LEAST_MS = 60;
const LEAST_ROUNDS = 3;

const adam = { learningRate: 1e-6, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 };

/** `pause`: called between the steps of long computations. */
type Measuring = { readonly open: (shape: ModelShape, pause: Pause) => Promise<OpenedEngine>; readonly pause: Pause };

/**
 * Milliseconds of a step of 8 × 128 tokens: forward, backward and Adam on all weights. A sequence is computed on one layer, whose weights
 * are zeros: they take as long as others. The head is counted as a layer of as many weights.
 */
export async function stepTime(shape: ModelShape, { open, pause }: Measuring): Promise<number> {
  const tokens = Math.min(usualStep.tokens, shape.context - 1);
  const one = { ...shape, layers: 1, vocabulary: 8, tied: true, context: tokens + 1 };
  const watch = stopwatch(pause);
  const { engine, threads } = await open(one, watch.pause);
  watch.start(threads);
  const ofLayer = parameterCount(one);
  const sequences = engine.backend === 'wasm' ? 1 : sequencesAtOnce(tokens * ofLayer);
  const best = await leastTimes(engine, { sequences, tokens }, watch.time);
  await engine.dispose();
  const head = (shape.vocabulary * shape.width) / ofLayer;
  const passes = (usualStep.sequences * usualStep.tokens * best.pass) / (sequences * tokens);
  const trained = parameterCount(shape) / ofLayer;
  return (shape.layers + head) * passes + trained * (best.first - best.pass + best.adam);
}

/**
 * Calls of TensorFlow.js have a fixed cost that a whole step shares, so several sequences are measured together; of a
 * large model a few suffice.
 */
function sequencesAtOnce(multiplications: number): number {
  return Math.max(1, Math.min(usualStep.sequences, Math.floor(MOST_AT_ONCE / multiplications)));
}

/** Limit of the multiplications of a forward pass; forward and backward then take some tenths of a second. */
const MOST_AT_ONCE = 1.6e9;

/** Times in ms. `first`: a pass after the weights have changed, which packs them; `pass`: one more. */
type Times = { readonly first: number; readonly pass: number; readonly adam: number };

async function leastTimes(
  engine: Engine,
  { sequences, tokens }: { readonly sequences: number; readonly tokens: number },
  time: (work: () => Promise<unknown>) => Promise<number>,
): Promise<Times> {
  const sequence = { prompt: new Int32Array(1), continuations: [new Int32Array(tokens)] };
  const groups = Array.from({ length: sequences }, () => sequence);
  const pass = async () => {
    const { logprobs } = await engine.forward(groups);
    await engine.backward(logprobs, null);
  };
  let least: Times = { first: Infinity, pass: Infinity, adam: Infinity };
  let spent = 0;
  for (let round = 0; round < LEAST_ROUNDS || spent < LEAST_MS; round++) {
    const [first, again, step] = [await time(pass), await time(pass), await time(() => engine.adam(adam))];
    least = {
      first: Math.min(least.first, first),
      pass: Math.min(least.pass, again),
      adam: Math.min(least.adam, step),
    };
    spent += first + again + step;
  }
  return { ...least, first: Math.max(least.first, least.pass) };
}

/**
 * A stopwatch that stands still while other tasks compute. On our own threads it counts processor time, so that other
 * programs do not make a model look slow.
 */
function stopwatch(pause: Pause) {
  let now = () => performance.now();
  let rested = 0;
  const rest = async (waiting: Promise<void>) => {
    const start = now();
    await waiting;
    rested += now() - start;
  };
  return {
    start: (threads: number | null) => {
      if (threads !== null) now = () => processorTime() / threads;
    },
    pause: (): Promise<void> | null => {
      const waiting = pause();
      return waiting === null ? null : rest(waiting);
    },
    time: async (work: () => Promise<unknown>): Promise<number> => {
      const start = now() - rested;
      await work();
      return now() - rested - start;
    },
  };
}

/** Processor time of all threads of this process, ms. */
function processorTime(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}
