/**
 * An environment for reinforcement learning: tasks, a way to play them, and rewards.
 *
 * Memory games, stories, arithmetic and a user's own module are all of this type; no algorithm can tell them apart.
 */
import type { Rng } from '../rng.js';
import type { Tokenizer } from '../text/tokenizer.js';

/** A question: all that differs between the prompts of one environment. */
export type Task = {
  /** Stable between processes: logs, pass rates and curricula refer to it. */
  readonly id: string;
  /** At least one token. Rollouts of one task share the array, and are computed together. */
  readonly prompt: Int32Array;
  /** The prompt as text, for rewards and logs. */
  readonly text: string;
  /** Data for rewards that the policy never sees: the right answer, for example. */
  readonly gold?: unknown;
  readonly tags?: readonly string[];
};

/** The policy's tokens between two messages of the environment. */
export type Turn = {
  /** The turn's tokens, with the stop token if there was one. */
  readonly tokens: Int32Array;
  /** Natural logarithm of the probability that the policy gave each token, at temperature 1. */
  readonly logprobs: Float32Array;
  /** The turn's text, without special tokens and without the stop string. */
  readonly text: string;
  readonly ended: 'stop' | 'length';
};

/** The reward of a turn. */
export type Reward = {
  /** The number that is trained on. */
  readonly total: number;
  /** Named components: task, format, hack … */
  readonly parts?: Readonly<Record<string, number>>;
  /** Measurements: their means over turns become `env/all/<name>`. */
  readonly metrics?: Readonly<Record<string, number>>;
};

/** `next`: the environment's tokens before the policy's next turn; null ends the episode. */
export type Response = { readonly reward: Reward; readonly next: Int32Array | null };

/** A task that was played: `rewards` has one number for each turn. */
export type Episode = {
  readonly task: Task;
  readonly turns: readonly Turn[];
  readonly rewards: readonly Reward[];
};

/** The right answer in the form the policy would generate, for teacher forcing. Arrays are aligned with `tokens`. */
export type Solution = {
  /** Prompt and answer. */
  readonly tokens: Int32Array;
  /** 1 for all trained tokens: the answer, ends of messages, and the tokens that the format puts after them. */
  readonly weights: Uint8Array;
  /** 1 for the answer itself. */
  readonly answerWeights: Uint8Array;
  /**
   * Bits of information in the answer: log2 of the number of possible answers, all equally likely; null when that
   * number is unknown.
   */
  readonly bits: number | null;
};

export type Environment = {
  /** Short, for logs: `single_step_N64_binary`. */
  readonly name: string;
  /** The vocabulary of its tokens; the policy must know it. */
  readonly tokenizer: Tokenizer;
  /** Stop tokens and stop strings of a turn; its length also ends it. */
  readonly stop: { readonly tokens: readonly number[]; readonly strings: readonly string[] };
  /** Number of tasks; Infinity when they are drawn. */
  readonly size: number;
  /** The same index and stream give the same task on every machine. @param index From 0, below `size`. */
  task(index: number, random: Rng): Task;
  /** Scores the last of these turns, and returns the tokens that the policy reads next. */
  respond(task: Task, turns: readonly Turn[]): Response | Promise<Response>;
  /**
   * Rewards that compare more than one episode: within a group, or over a whole batch. They are added to those of the
   * episodes' last turns.
   *
   * @param groups Episodes of one task each.
   * @returns The same shape.
   */
  scoreGroups?(groups: readonly (readonly Episode[])[]): Promise<readonly (readonly Reward[])[]>;
  /** null when this task has no single right answer. */
  solution?(task: Task): Solution | null;
  /** Tasks for evaluations only, of the same kind. */
  readonly test?: Environment;
};

/** The sum of an episode's rewards over its turns. */
export function totalReward({ rewards }: Pick<Episode, 'rewards'>): number {
  return rewards.reduce((sum, { total }) => sum + total, 0);
}
