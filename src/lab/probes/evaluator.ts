import type { Environment, Task } from '../environments/environment.js';
import { isMemoryEnvironment, type MemoryEnvironment } from '../environments/memory/memory-environment.js';
import { rng } from '../rng.js';
import { type Player, rollOut, type Rollout, type RolloutOptions, taskOf } from '../rollouts/rollouts.js';
import { addRolloutStatistics } from '../rollouts/statistics.js';
import { Means, type Row } from '../run/metrics-file.js';
import type { EngineService } from '../service/engine-service.js';
import type { TrainingService } from '../service/service.js';
import { answersKnown, bitsKnown } from './bits-known.js';

/** A measurement of the weights, which must not change them. @param updates Number of updates so far. */
export type Probe = (service: TrainingService, updates: number) => Promise<Row>;

/** The measurements of all probes. @param updates Number of updates of the weights so far. */
export async function measureProbes(probes: readonly Probe[], service: TrainingService, updates: number): Promise<Row> {
  const row: Row = {};
  for (const probe of probes) Object.assign(row, await probe(service, updates));
  return row;
}

/**
 * Measures of an evaluation. `bits`: whether to measure bits known of a memory game. `constants` are written with
 * every evaluation.
 */
export type Evaluation = {
  readonly environment: Environment;
  readonly test: TestSet;
  readonly bits: boolean;
  readonly seed: number;
  readonly constants: Row;
  readonly probes?: readonly Probe[];
};

/**
 * Measures the weights on request, once per state of the weights: the result is cached until they change.
 *
 * Test rollouts draw from a stream named by the number of updates, so an evaluation gives the same numbers after a
 * restart.
 */
export class Evaluator {
  readonly #service: EngineService;
  readonly #evaluation: Evaluation;
  #last: { updates: number; row: Row } | null = null;

  constructor(service: EngineService, evaluation: Evaluation) {
    this.#service = service;
    this.#evaluation = evaluation;
  }

  /** The last measurement, if there was one. */
  get last(): Row | null {
    return this.#last?.row ?? null;
  }

  /** @param updates Number of updates of the weights so far. */
  async evaluate(updates: number): Promise<Row> {
    if (this.#last?.updates === updates) return this.#last.row;
    const row = await this.#measure(updates);
    this.#last = { updates, row };
    return row;
  }

  async #measure(updates: number): Promise<Row> {
    const { environment, test, seed, constants, probes = [] } = this.#evaluation;
    const known = isMemoryEnvironment(environment)
      ? await this.#memoryMeasures(environment)
      : await answersKnown(this.#service, environment, seed);
    const sampled = await testRollouts({ service: this.#service, environment }, test, { seed, updates });
    return { ...known, ...sampled, ...(await measureProbes(probes, this.#service, updates)), ...constants };
  }

  async #memoryMeasures(environment: MemoryEnvironment): Promise<Row> {
    const { bits, test } = this.#evaluation;
    const known = bits ? await bitsKnown(this.#service, environment.solution()) : {};
    return { ...known, ...(await greedyAnswer(this.#service, environment, test.maxTokens)) };
  }
}

/** The model's answer at temperature 0, and its probability. */
type GreedyAnswer = {
  /** The integer, or null for an invalid answer. */
  readonly 'test/greedy': number | null;
  /** The probability of exactly these tokens. When it is near 1 for a wrong integer, the run is stuck. */
  readonly 'test/greedy_prob': number;
};

export async function greedyAnswer(
  service: Player['service'],
  environment: MemoryEnvironment,
  maxTokens: number,
): Promise<GreedyAnswer> {
  const options = { copies: 1, sampling: { maxTokens, temperature: 0 }, streams: 'shared' } as const;
  // Random numbers have no effect at temperature 0.
  const [group] = await rollOut({ service, environment }, [environment.task()], options, rng(0, 'greedy'));
  const { logprobs, turns } = group![0]!;
  const logprob = logprobs.reduce((sum, each) => sum + each, 0);
  return { 'test/greedy': environment.reading(turns), 'test/greedy_prob': Math.exp(logprob) };
}

/** `groups` of `groupSize` episodes, sampled as in training. */
type TestSet = {
  readonly groups: number;
  readonly groupSize: number;
  readonly maxTokens: number;
  /** Default: shared. */
  readonly streams?: RolloutOptions['streams'];
  /** Called with the groups as they are played. */
  readonly seen?: (groups: readonly (readonly Rollout[])[]) => void;
};

/** Number of episodes sampled side by side; bounds the memory of a large test set. */
const atOnce = 256;

/** `testRollouts` of single episodes, each with a random stream of its own; no more than there are tasks. */
export function testEpisodes(
  player: Player,
  { episodes, ...test }: { readonly episodes: number } & Pick<TestSet, 'maxTokens' | 'seen'>,
  at: { readonly seed: number; readonly updates: number },
): Promise<Row> {
  const { size } = player.environment.test ?? player.environment;
  return testRollouts(player, { ...test, groups: Math.min(episodes, size), groupSize: 1, streams: 'own' }, at);
}

/**
 * Sampled accuracy: `test/env/all/…`, named like statistics of training rollouts; no columns for an empty test set.
 * Tasks are the environment's test tasks; else tasks that training does not have, if their number is unlimited; else
 * the first ones.
 */
async function testRollouts(
  player: Player,
  test: TestSet,
  { seed, updates }: { readonly seed: number; readonly updates: number },
): Promise<Row> {
  const random = rng(seed, `test/${updates}`);
  const { streams = 'shared' } = test;
  const environment = player.environment.test ?? player.environment;
  const tasks = testTasks(environment, seed);
  const row = new Means();
  const perCall = Math.max(1, Math.floor(atOnce / test.groupSize));
  const sampling = { maxTokens: test.maxTokens, temperature: 1 };
  for (let done = 0; done < test.groups; done += perCall) {
    const these = Array.from({ length: Math.min(perCall, test.groups - done) }, (_, at) => tasks(done + at));
    const groups = await rollOut(
      { ...player, environment },
      these,
      { copies: test.groupSize, sampling, streams },
      random,
    );
    test.seen?.(groups);
    // Totals are over the whole test set.
    addRolloutStatistics(row, 'test/env/all/', groups, done === 0 ? 1 : 0);
  }
  return row.row();
}

function testTasks(environment: Environment, seed: number): (index: number) => Task {
  const { size } = environment;
  if (size === Infinity) return (index) => taskOf(environment, index, { seed, name: 'test task' });
  return (index) => taskOf(environment, index % size, { seed, name: 'task' });
}
