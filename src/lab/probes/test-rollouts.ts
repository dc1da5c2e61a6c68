import type { Engine } from '../engine/engine.js';
import type { Environment } from '../environment.js';
import type { Rng } from '../rng.js';
import { play } from '../rollout.js';
import { emptyTally, tallyRow, tallyStep } from '../tally.js';

/** `groups` of `groupSize` episodes, sampled as in training. */
export type TestSet = { readonly groups: number; readonly groupSize: number; readonly maxTokens: number };

/** Episodes that are sampled side by side; bounds the memory of a large test set. */
const atOnce = 256;

/** Sampled accuracy: `test/env/all/…`, named as the training rollouts. Empty when the test set is. */
export async function testRollouts(
  engine: Engine,
  environment: Environment,
  test: TestSet,
  random: Rng,
): Promise<Record<string, number>> {
  const tally = emptyTally();
  const perCall = Math.max(1, Math.floor(atOnce / test.groupSize));
  for (let done = 0; done < test.groups; done += perCall) {
    const groups = Math.min(perCall, test.groups - done);
    const manner = { episodes: groups * test.groupSize, maxTokens: test.maxTokens, temperature: 1 };
    const episodes = await play(engine, environment, manner, random);
    tallyStep(tally, inGroups(episodes, test.groupSize));
  }
  return test.groups === 0 ? {} : tallyRow({ ...tally, steps: 1 }, 'test/env/all/');
}

/** Cuts a list into consecutive groups of `size`. */
export function inGroups<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}
