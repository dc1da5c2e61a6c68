import type { Engine } from '../engine/engine.js';
import type { SolvedEnvironment } from '../environment.js';
import { rng } from '../rng.js';
import { play } from '../rollout.js';
import type { Row } from '../run/metrics-file.js';
import { bitsKnown } from './bits-known.js';
import { testRollouts, type TestSet } from './test-rollouts.js';

/** What an evaluation measures. `constants` are written with every evaluation. */
type Examination = {
  readonly environment: SolvedEnvironment;
  readonly test: TestSet;
  readonly bits: boolean;
  readonly seed: number;
  readonly constants: Row;
  /** Measures more of the weights; left out for nothing more. */
  readonly more?: (engine: Engine) => Promise<Row>;
};

/**
 * Measures the weights when asked, once per state of the weights: while they have not changed, neither has the answer.
 *
 * Test rollouts draw from a stream named by the number of updates, so an evaluation gives the same numbers whether it
 * is the first since a restart or not.
 */
export class Evaluator {
  readonly #engine: Engine;
  readonly #examination: Examination;
  #last: { updates: number; row: Row } | null = null;

  constructor(engine: Engine, examination: Examination) {
    this.#engine = engine;
    this.#examination = examination;
  }

  /** The last measurement, if there was one. */
  get last(): Row | null {
    return this.#last?.row ?? null;
  }

  /** @param updates How often the weights were changed so far. */
  async evaluate(updates: number): Promise<Row> {
    if (this.#last?.updates === updates) return this.#last.row;
    const row = await this.#measure(updates);
    this.#last = { updates, row };
    return row;
  }

  async #measure(updates: number): Promise<Row> {
    const { environment, test, bits, seed, constants, more } = this.#examination;
    const known = bits ? await bitsKnown(this.#engine, environment) : {};
    const greedy = await greedyAnswer(this.#engine, environment, test.maxTokens);
    const sampled = await testRollouts(this.#engine, environment, test, rng(seed, `test/${updates}`));
    const measured = more === undefined ? {} : await more(this.#engine);
    return { ...known, ...greedy, ...sampled, ...measured, ...constants };
  }
}

/** The answer the model would give at temperature 0, and how sure of it it is. */
type GreedyAnswer = {
  /** The integer, or null when the answer is none. */
  readonly 'test/greedy': number | null;
  /** The probability of saying exactly these tokens. Near 1 on a wrong integer, the run is stuck. */
  readonly 'test/greedy_prob': number;
};

export async function greedyAnswer(
  engine: Engine,
  environment: SolvedEnvironment,
  maxTokens: number,
): Promise<GreedyAnswer> {
  const manner = { episodes: 1, maxTokens, temperature: 0 };
  // At temperature 0 the numbers drawn decide nothing.
  const [episode] = await play(engine, environment, manner, rng(0, 'greedy'));
  const logprob = episode!.logprobs.reduce((sum, each) => sum + each, 0);
  return { 'test/greedy': environment.reading(episode!.answers), 'test/greedy_prob': Math.exp(logprob) };
}
