/** The thread of `memrl serve` that computes. */
import { parentPort, workerData } from 'node:worker_threads';
import { chooseEngine } from '../../engine/choose-engine.js';
import type { ModelShape } from '../../engine/engine.js';
import { Computation } from './computation.js';
import { ModelCatalogue } from './model-catalogue.js';
import { answerCalls, type ComputeSettings } from './thread-calls.js';
import { Turns } from './turns.js';

const { home, models, environment, ...request } = workerData as ComputeSettings;
const turns = new Turns();
const { pause } = turns;
const create = async (shape: ModelShape) => (await chooseEngine(shape, request, { environment, pause })).engine;
answerCalls(parentPort!, new Computation(new ModelCatalogue(home, models), create, turns), turns);
