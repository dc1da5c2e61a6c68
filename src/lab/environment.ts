import type { Tokenizer } from './text/tokenizer.js';

/** What a turn earned, and its measurements (means over turns become `env/all/<name>`). */
export type Verdict = { readonly reward: number; readonly metrics: Readonly<Record<string, number>> };

/** What episodes are played in: tokens in, rewards out. Every episode of one environment begins alike. */
export type Environment = {
  /** Short name for logs, e.g. `single_step_N64_binary`. */
  readonly tag: string;
  /** The vocabulary it is written in. The token that ends a text ends an answer. */
  readonly tokenizer: Tokenizer;
  /** The words before the first answer. */
  readonly prompt: Int32Array;
  readonly turns: number;
  /** What is said after the answer of this turn (from 0) when that answer was ended properly. */
  readonly observation: (turn: number) => readonly number[];
  /**
   * @param said Tokens of this turn's answer, its end included if it was said.
   * @param before Rewards of the turns before this one; their number is this turn's.
   */
  readonly judge: (said: readonly number[], before: readonly number[]) => Verdict;
};

/** The right answer as the model would say it, for teacher forcing. Arrays are aligned with `tokens`. */
export type Solution = {
  readonly tokens: Int32Array;
  /** 1 for what the source system counts: all learnt tokens, ends of messages and the tail included. */
  readonly weights: Uint8Array;
  /** 1 for the answer itself: the number and its end, or the bits alone. */
  readonly answerWeights: Uint8Array;
  /** Bits that the answer tells one who knew nothing: log2 of how many there could be. */
  readonly bits: number;
};

/** An environment with one right answer, of which probes can ask how well it is known. */
export type SolvedEnvironment = Environment & {
  readonly solution: Solution;
  /** The integer that these answers, one per turn, give; null when they give none. */
  readonly reading: (answers: readonly (readonly number[])[]) => number | null;
};
