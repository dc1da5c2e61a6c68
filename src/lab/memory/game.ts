import type { Message } from './prompts.js';

/** What a turn earned, and its measurements (means over turns become `env/all/<name>`). */
type Verdict = { readonly reward: number; readonly metrics: Readonly<Record<string, number>> };

/** The right answer as the model would say it, for teacher forcing. Arrays are aligned with `tokens`. */
export type Solution = {
  readonly tokens: Int32Array;
  /** 1 for what the source system counts: all learnt tokens, ends of messages and the tail included. */
  readonly weights: Uint8Array;
  /** 1 for the answer itself: the number and its end, or the bits alone. */
  readonly answerWeights: Uint8Array;
};

/** A memory game: a secret below N that the prompt does not tell, and a judge of answers. Tokens in, rewards out. */
export type Game = {
  readonly kind: 'single_step' | 'multi_step';
  /** Short name for logs, e.g. `single_step_N64_binary`. */
  readonly tag: string;
  readonly N: number;
  readonly secret: number;
  /** The words before the first answer; the same for every episode. */
  readonly prompt: Int32Array;
  readonly turns: number;
  /** What is said after the answer of this turn (from 0) when that answer was ended properly. */
  readonly request: (turn: number) => readonly number[];
  /**
   * @param said Tokens of this turn's answer, its end included if it was said.
   * @param before Rewards of the turns before this one; their number is this turn's.
   */
  readonly judge: (said: readonly number[], before: readonly number[]) => Verdict;
  /** The integer that these answers, one per turn, give; null when they give none. */
  readonly reading: (answers: readonly (readonly number[])[]) => number | null;
  readonly solution: Solution;
};

/** What both games are made of. */
export type GameSetup = {
  readonly N: number;
  readonly secret: number;
  /** Messages shown before the real question: none, or the standard demonstration. */
  readonly prefix: readonly Message[];
};
