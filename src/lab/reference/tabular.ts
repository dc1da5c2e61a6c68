import { type AdvantageEstimator, advantages } from '../advantages/advantages.js';
import { bitLength, signalBits } from '../environments/memory/rules.js';
import { secretBits } from '../environments/memory/secret.js';
import type { Rng } from '../rng.js';
import { MEMORISED_SHARE } from '../study/memory/verdict.js';
import { bitsOf, rewardsByDistance, type SingleStepCondition } from './channel.js';
import type { LabCondition } from './conditions.js';
import { type Optimizer, parameterSteps, type ParameterSteps } from './optimizer.js';

/** Settings of the tabular learner. */
export type TabularSettings = {
  readonly N: number;
  readonly secret: number;
  readonly groupSize: number;
  readonly optimizer: Optimizer;
  readonly learningRate: number;
  /** Episodes after which it stops. */
  readonly budget: number;
};

/**
 * Episodes until the table that fits the condition has memorised the secret; null when its budget ended before, or
 * when it cannot learn from rewards.
 */
export function tabular(condition: LabCondition, settings: TabularSettings, random: Rng): number | null {
  if (condition.kind === 'sft') return null;
  if (condition.kind === 'dense') return tabularBits(condition.credit, settings, random);
  return tabularNumber(condition, settings, random);
}

/**
 * Episodes until a table of N independent logits knows 95 % of the secret's bits: on-policy policy gradient, one group
 * a step, rewards less their mean over the group; null when its budget ended before.
 *
 * This is the cost of the algorithm without a network: a guess reveals nothing about its neighbours. The gradient of Σ
 * A log π with respect to a logit is Σ A over the episodes that chose it, for Σ A = 0 over the group: only the arms
 * that were chosen change.
 */
function tabularNumber(condition: SingleStepCondition, settings: TabularSettings, random: Rng): number | null {
  const { N, secret, groupSize } = settings;
  const earned = rewardsByDistance(condition, N);
  const policy = new WeightedChoice(N);
  const optimizer = parameterSteps(N, settings);
  const goal = MEMORISED_SHARE * signalBits(N);
  const guesses = new Int32Array(groupSize);
  for (let episodes = 0; episodes <= settings.budget; episodes += groupSize) {
    if (bitsOf(policy.probability(secret), N) >= goal) return episodes;
    let differ = false;
    for (let index = 0; index < groupSize; index++) {
      guesses[index] = policy.draw(random.next());
      differ ||= guesses[index] !== guesses[0];
    }
    if (differ) addGroup(optimizer, guesses, (guess) => earned[Math.abs(guess - secret)]!);
    optimizer.step((arm, change) => policy.raise(arm, change));
  }
  return null;
}

function addGroup(optimizer: ParameterSteps, guesses: Int32Array, reward: (guess: number) => number): void {
  const rewards = Array.from(guesses, (guess) => [reward(guess)]);
  const gains = advantages(rewards, 'stepwise');
  guesses.forEach((guess, index) => optimizer.add(guess, gains[index]![0]!));
}

/** Tabular learner of the multi-step environment: a logit for each bit, independent of the bits before it. */
function tabularBits(credit: AdvantageEstimator, settings: TabularSettings, random: Rng): number | null {
  const { N, secret, groupSize } = settings;
  const k = bitLength(N);
  const right = secretBits(secret, N);
  const logits = new Float64Array(k);
  const optimizer = parameterSteps(k, settings);
  const goal = MEMORISED_SHARE * signalBits(N);
  for (let episodes = 0; episodes <= settings.budget; episodes += groupSize) {
    const chances = Array.from(logits, (logit) => 1 / (1 + Math.exp(-logit)));
    const chance = chances.reduce((product, p, position) => product * (right[position] === 1 ? p : 1 - p), 1);
    if (bitsOf(chance, N) >= goal) return episodes;
    const guesses = Array.from({ length: groupSize }, () => chances.map((p) => Number(random.next() < p)));
    const rewards = guesses.map((bits) => bits.map((bit, position) => Number(bit === right[position])));
    const gains = advantages(rewards, credit);
    guesses.forEach((bits, episode) =>
      bits.forEach((bit, position) => optimizer.add(position, gains[episode]![position]! * bit)),
    );
    optimizer.step((position, change) => (logits[position]! += change));
  }
  return null;
}

/** Updates after which the sums are added up anew, so that rounding cannot build up. */
const REBUILD = 4096;

/**
 * Draws from a softmax over many arms of which a few change at a time: the weights e^logit in a Fenwick tree (Fenwick
 * 1994), so that a draw and a change cost log N instead of N.
 */
export class WeightedChoice {
  readonly #logits: Float64Array;
  readonly #weights: Float64Array;
  readonly #sums: Float64Array;
  readonly #top: number;
  #total = 0;
  #changes = 0;

  /** All logits begin at 0: every arm is equally likely. */
  constructor(size: number) {
    this.#logits = new Float64Array(size);
    this.#weights = new Float64Array(size).fill(1);
    this.#sums = new Float64Array(size + 1);
    this.#top = 2 ** Math.floor(Math.log2(size));
    this.#rebuild();
  }

  probability(arm: number): number {
    return this.#weights[arm]! / this.#total;
  }

  /** @param uniform In [0, 1). */
  draw(uniform: number): number {
    let rest = uniform * this.#total;
    let at = 0;
    for (let stride = this.#top; stride >= 1; stride /= 2) {
      const next = at + stride;
      if (next < this.#sums.length && this.#sums[next]! <= rest) {
        at = next;
        rest -= this.#sums[next]!;
      }
    }
    return Math.min(at, this.#weights.length - 1);
  }

  /** Adds to a logit. */
  raise(arm: number, by: number): void {
    this.#logits[arm]! += by;
    const weight = Math.exp(this.#logits[arm]!);
    const change = weight - this.#weights[arm]!;
    this.#weights[arm] = weight;
    if (++this.#changes % REBUILD === 0) return this.#rebuild();
    this.#total += change;
    for (let at = arm + 1; at < this.#sums.length; at += at & -at) this.#sums[at]! += change;
  }

  #rebuild(): void {
    this.#sums.fill(0);
    this.#total = 0;
    this.#weights.forEach((weight, arm) => {
      this.#total += weight;
      const at = arm + 1;
      this.#sums[at]! += weight;
      const above = at + (at & -at);
      if (above < this.#sums.length) this.#sums[above]! += this.#sums[at]!;
    });
  }
}
