import { bitLength, signalBits } from '../environments/memory/rules.js';
import type { Condition } from '../environments/memory/task.js';
import { scoreGuess, type RewardRule } from '../environments/memory/rewards.js';

/**
 * The channel from the secret to a learner, without any model: the whole game as a table.
 *
 * Two secrets that a guess's reward cannot tell apart have the same `rewardIndex`. Supervised learning observes the secret
 * itself, whatever the guess.
 */
export type Channel = {
  readonly condition: Condition;
  readonly N: number;
  /** Number of possible guesses: N in the single-step environment, 2^`bitLength(N)` in the multi-step one. */
  readonly guesses: number;
  /** Index of the reward for this guess and secret; from 0, below `answers`. */
  readonly rewardIndex: (guess: number, secret: number) => number;
  readonly answers: number;
};

export function channelOf(condition: Condition, N: number): Channel {
  const k = bitLength(N);
  switch (condition.kind) {
    case 'sft':
      return { condition, N, guesses: 1, rewardIndex: (_, secret) => secret, answers: N };
    case 'dense':
      return condition.credit === 'trajectory'
        ? { condition, N, guesses: 2 ** k, rewardIndex: (guess, secret) => ones(guess ^ secret), answers: k + 1 }
        : { condition, N, guesses: 2 ** k, rewardIndex: (guess, secret) => guess ^ secret, answers: 2 ** k };
    default: {
      const { levels, count } = rewardLevels(rewardsByDistance(condition, N));
      return {
        condition,
        N,
        guesses: N,
        rewardIndex: (guess, secret) => levels[Math.abs(guess - secret)]!,
        answers: count,
      };
    }
  }
}

/** A condition with one reward per guess of one number. */
export type SingleStepCondition = Exclude<Condition, { kind: 'sft' | 'dense' }>;

export function rewardsByDistance(condition: SingleStepCondition, N: number): Float64Array {
  const rule = ruleOf(condition);
  return Float64Array.from({ length: N }, (_, distance) => scoreGuess(distance, 0, N, rule).reward);
}

function ruleOf(condition: SingleStepCondition): RewardRule {
  if (condition.kind === 'binned') return { type: 'binned_log_distance', bins: condition.bins };
  return { type: condition.kind === 'binary' ? 'binary' : 'log_distance' };
}

/** Maps each distance to the index of its reward among the distinct rewards. */
function rewardLevels(rewards: Float64Array): { levels: Int32Array; count: number } {
  const known = new Map<number, number>();
  const levels = Int32Array.from(rewards, (reward) => {
    if (!known.has(reward)) known.set(reward, known.size);
    return known.get(reward)!;
  });
  return { levels, count: known.size };
}

/**
 * Mean bits that one episode reveals about a uniform secret by a random guess: I(R; S | G) with S and G uniform and
 * independent. Exact, by counting pairs; the reward is a function of the two, so it is H(R | G).
 */
export function mutualBits({ N, guesses, rewardIndex, answers }: Channel): number {
  let sum = 0;
  const counts = new Int32Array(answers);
  // A guess and its mirror image (for bits: its complement) reveal equally much.
  for (let guess = 0; 2 * guess < guesses; guess++) {
    counts.fill(0);
    for (let secret = 0; secret < N; secret++) counts[rewardIndex(guess, secret)]!++;
    sum += entropyOf(counts, N) * (2 * guess + 1 === guesses ? 1 : 2);
  }
  return sum / guesses;
}

function entropyOf(counts: Int32Array, total: number): number {
  let sum = 0;
  for (const count of counts) if (count > 0) sum += count * Math.log2(count);
  return Math.log2(total) - sum / total;
}

/** Number of 1 bits in a word (below 2³²). */
function ones(word: number): number {
  let count = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** Bits known by a learner that gives the secret this probability. */
export function bitsOf(probability: number, N: number): number {
  return signalBits(N) + Math.log2(probability);
}
