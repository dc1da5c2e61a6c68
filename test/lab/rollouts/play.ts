import type { Engine } from '../../../src/lab/engine/engine.js';
import type { Environment } from '../../../src/lab/environments/environment.js';
import type { Rng } from '../../../src/lab/rng.js';
import { rollOut, type Rollout } from '../../../src/lab/rollouts/rollouts.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';

type Batch = {
  readonly groups: number;
  readonly groupSize: number;
  readonly maxTokens: number;
  readonly temperature: number;
};

/** Groups of episodes of an environment's first task, all drawn from one stream. */
export function playBatch(engine: Engine, environment: Environment, batch: Batch, random: Rng): Promise<Rollout[][]> {
  const { groups, groupSize: copies, maxTokens, temperature } = batch;
  const task = environment.task(0, random);
  const tasks = Array.from({ length: groups }, () => task);
  const options = { copies, sampling: { maxTokens, temperature }, streams: 'shared' } as const;
  return rollOut({ service: new EngineService(engine), environment }, tasks, options, random);
}

/** So many episodes of one group. */
export async function play(
  engine: Engine,
  environment: Environment,
  { episodes, ...sampling }: { episodes: number; maxTokens: number; temperature: number },
  random: Rng,
): Promise<Rollout[]> {
  return (await playBatch(engine, environment, { groups: 1, groupSize: episodes, ...sampling }, random)).flat();
}
