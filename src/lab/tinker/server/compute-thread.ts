/** The thread of `memrl serve` that computes. */
import { parentPort, workerData } from 'node:worker_threads';
import { chooseEngine, usualThreads } from '../../engine/choose-engine.js';
import { Computation } from './computation.js';
import { ModelCatalogue } from './model-catalogue.js';
import type { EngineFactory } from './parameters.js';
import { answerCalls, type ComputeSettings } from './thread-calls.js';
import { Turns } from './turns.js';

const { home, models, environment, engine, threads } = workerData as ComputeSettings;
const turns = new Turns();
const create: EngineFactory['create'] = async (shape, { of, pause } = { of: shape, pause: turns.pause }) => {
  const request = { engine, threads: threads ?? usualThreads(of, { environment }) };
  return chooseEngine(shape, request, { environment, pause });
};
answerCalls(parentPort!, new Computation(new ModelCatalogue(home, models), create, turns), turns);
