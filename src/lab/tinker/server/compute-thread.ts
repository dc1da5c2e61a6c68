/** The thread of `memrl serve` that computes. */
import { parentPort, workerData } from 'node:worker_threads';
import { decideEngine, openEngine } from '../../engine/choose-engine.js';
import type { ModelShape } from '../../engine/engine.js';
import { noPause } from '../../engine/model/steps.js';
import { Computation } from './computation.js';
import { ModelCatalogue } from './model-catalogue.js';
import type { EngineFactory } from './parameters.js';
import { stepTime } from './step-time.js';
import { answerCalls, type ComputeSettings } from './thread-calls.js';
import { TimeSlices } from './time-slices.js';

const { home, models, environment, engine, threads } = workerData as ComputeSettings;
const slices = new TimeSlices();
/** Engines are compared by training steps, since TensorFlow is slow at drawing tokens one by one and at small steps. */
const time: Time = (shape, open, { isGpu }) => {
  // On a CPU, processor time is compared, whatever the threads, so that other programs do not affect the choice.
  const timed = async (part: ModelShape) => ({ ...(await open(part)), threads: isGpu ? null : 1 });
  // No pauses, because other tasks may wait for the same decision.
  return stepTime(shape, { open: timed, pause: noPause });
};
type Time = NonNullable<Parameters<typeof decideEngine>[2]['time']>;

/** Engines of the models, by their shape: each is chosen when it is first used. */
const decisions = new Map<string, ReturnType<typeof decideEngine>>();
const create: EngineFactory['create'] = async (shape, { of, pause } = { of: shape, pause: slices.pause }) => {
  // One engine for a model with and without adapters, in sampling and in training.
  const key = JSON.stringify({ ...of, tied: true });
  const decision =
    decisions.get(key) ?? decideEngine(of, { engine, threads, onProcessor: true }, { environment, time });
  decisions.set(key, decision);
  return openEngine(shape, await decision, { pause });
};
answerCalls(parentPort!, new Computation(new ModelCatalogue(home, models), create, slices), slices);
