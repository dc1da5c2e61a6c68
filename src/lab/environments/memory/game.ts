import type { SolvedEnvironment } from '../../environment.js';
import type { AnswerFormat } from './answer-format.js';
import type { Message } from './prompts.js';

/** A memory game: a secret below N that the prompt does not tell, and a judge of answers. */
export type Game = SolvedEnvironment & { readonly kind: 'single_step' | 'multi_step' };

/** What both games are made of. */
export type GameSetup = {
  readonly N: number;
  readonly secret: number;
  /** Messages shown before the real question: none, or the standard demonstration. */
  readonly prefix: readonly Message[];
  /** How a number is written (single-step); `decimal` when left out. */
  readonly format?: AnswerFormat;
  /** Whether a number is taken from among other words, as by the first version of memory-rl; only of `decimal`. */
  readonly lenient?: boolean;
};
