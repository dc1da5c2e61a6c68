/**
 * What reinforcement learning is done in: tasks, a way to play them, and what that earns.
 *
 * Memory games, stories, arithmetic and a person's own module are all of this type; nothing that learns knows which it has.
 */
import type { Rng } from '../rng.js';
import type { Tokenizer } from '../text/tokenizer.js';

/** A question: all that differs between the prompts of one environment. */
export type Task = {
  /** The same in every process: logs, pass rates and curricula refer to it. */
  readonly id: string;
  /** At least one token. Rollouts of one task share the array, and are computed together. */
  readonly prompt: Int32Array;
  /** The prompt as rewards and logs show it. */
  readonly text: string;
  /** What rewards may look at and the policy never sees: the right answer, for example. */
  readonly gold?: unknown;
  readonly tags?: readonly string[];
};

/** What the policy said before the environment spoke again. */
export type Turn = {
  /** With the token that ended it, if one did. */
  readonly tokens: Int32Array;
  /** Natural logarithm of the probability that the policy gave each token, at temperature 1. */
  readonly logprobs: Float32Array;
  /** Without special tokens, and without the stop string. */
  readonly text: string;
  readonly ended: 'stop' | 'length';
};

/** What a turn earned. */
export type Reward = {
  /** What is learnt from. */
  readonly total: number;
  /** Named components: task, format, hack … */
  readonly parts?: Readonly<Record<string, number>>;
  /** Measurements: their means over turns become `env/all/<name>`. */
  readonly metrics?: Readonly<Record<string, number>>;
};

/** `next`: what the policy reads before its next turn; null ends the episode. */
export type Response = { readonly reward: Reward; readonly next: Int32Array | null };

/** A task that was played: `rewards` has one for each turn. */
export type Episode = {
  readonly task: Task;
  readonly turns: readonly Turn[];
  readonly rewards: readonly Reward[];
};

/** The right answer as the policy would say it, for teacher forcing. Arrays are aligned with `tokens`. */
export type Solution = {
  /** Prompt and answer. */
  readonly tokens: Int32Array;
  /** 1 for all learnt tokens: the answer, ends of messages, and what the format puts behind them. */
  readonly weights: Uint8Array;
  /** 1 for the answer itself. */
  readonly answerWeights: Uint8Array;
  /** Bits that the answer tells one who knew nothing: log2 of how many there could be; null: nobody knows how many. */
  readonly bits: number | null;
};

export type Environment = {
  /** Short, for logs: `single_step_N64_binary`. */
  readonly name: string;
  /** The vocabulary of its tokens; the policy must know it. */
  readonly tokenizer: Tokenizer;
  /** What ends a turn, beside its length. */
  readonly stop: { readonly tokens: readonly number[]; readonly strings: readonly string[] };
  /** Number of tasks; Infinity where they are drawn. */
  readonly size: number;
  /** The same index and stream give the same task on every machine. @param index From 0, below `size`. */
  task(index: number, random: Rng): Task;
  /** What the last of these turns earned, and what the policy reads next. */
  respond(task: Task, turns: readonly Turn[]): Response | Promise<Response>;
  /**
   * Rewards that look at more than one episode: comparisons in a group, functions of a whole batch. They are added to those of the
   * episodes' last turns.
   *
   * @param groups Episodes of one task each. @returns The same shape.
   */
  scoreGroups?(groups: readonly (readonly Episode[])[]): Promise<readonly (readonly Reward[])[]>;
  /** null: this task has no one right answer. */
  solution?(task: Task): Solution | null;
  /** Tasks that evaluations play and training does not, played alike. */
  readonly test?: Environment;
};

/** What an episode earned in all its turns. */
export function totalReward({ rewards }: Pick<Episode, 'rewards'>): number {
  return rewards.reduce((sum, { total }) => sum + total, 0);
}
