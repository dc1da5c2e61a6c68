/** The thread of `memrl serve` that computes. */
import { parentPort, workerData } from 'node:worker_threads';
import { chooseEngine } from '../../engine/choose-engine.js';
import { Computation } from './computation.js';
import { ModelCatalogue } from './model-catalogue.js';
import { answerCalls, type ComputeSettings } from './thread-calls.js';

const { home, models, environment, ...request } = workerData as ComputeSettings;
const create: ConstructorParameters<typeof Computation>[1] = async (shape) =>
  (await chooseEngine(shape, request, { environment })).engine;
answerCalls(parentPort!, new Computation(new ModelCatalogue(home, models), create));
