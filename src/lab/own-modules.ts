/**
 * What a person's own modules may be: `memrl-tui/lab`, of which docs/extending.md tells.
 *
 * An environment, a reward, an objective or a probe is the default export of a module, whose path stands on the command line:
 * `memrl train environment=./mine.mjs objective=./loss.mjs probe=./look.mjs`. Nothing here is needed to write one; the types help.
 */
import type { Clip } from './objectives/objectives.js';
import type { Rng } from './rng.js';

export { cispo, dro, importanceSampling, ppo, type Clip } from './objectives/objectives.js';
export { rng, type Rng } from './rng.js';

// `environment=`

export type TextTask = {
  /** What the policy reads first; not empty. */
  readonly prompt: string;
  /** Default: the number of the task. */
  readonly id?: string;
  /** The right answer, or whatever else rewards look at and the policy never sees. */
  readonly gold?: unknown;
  readonly tags?: readonly string[];
};

/** What the policy said in a turn. `length`: it was cut off after `max_tokens`. */
export type TextTurn = { readonly text: string; readonly ended: 'stop' | 'length' };

export type TextResponse = {
  readonly reward: number;
  /** Named components of the reward, for logs. */
  readonly parts?: Readonly<Record<string, number>>;
  /** Measurements: their means over turns become `env/all/<name>`. */
  readonly metrics?: Readonly<Record<string, number>>;
  /** What the policy reads before its next turn; left out, the episode ends. */
  readonly next?: string | null;
};

export type TextEpisode = {
  readonly task: TextTask;
  readonly turns: readonly TextTurn[];
  /** One per turn. */
  readonly rewards: readonly number[];
};

export type TextEnvironment = {
  /** Default: the name of the file. */
  readonly name?: string;
  /** Number of tasks; left out, there is no end of them. */
  readonly size?: number;
  /** What ends a turn beside the token that ends a text: none of it is shown as said. */
  readonly stop?: readonly string[];
  /** @param index From 0, below `size`. @param random The same for this index in every process; all randomness is from here. */
  readonly task: (index: number, random: Rng) => TextTask;
  /** What the last of these turns earned, and what comes next. */
  readonly respond: (task: TextTask, turns: readonly TextTurn[]) => TextResponse | Promise<TextResponse>;
  /** Rewards from comparing the episodes of one task: added to those of their last turns. One number for each episode. */
  readonly scoreGroup?: (episodes: readonly TextEpisode[]) => readonly number[] | Promise<readonly number[]>;
  /** The right answer of a task of one turn, which `memrl sft` teaches. */
  readonly answer?: (task: TextTask) => string;
  /** Other tasks, for evaluations alone. */
  readonly test?: TextEnvironment;
};

/** What an environment's module may export as well: a function of `environment_params`. */
export type TextEnvironmentMaker = (
  params: Readonly<Record<string, unknown>>,
) => TextEnvironment | Promise<TextEnvironment>;

// `reward=`

/** What a policy wrote after a prompt; of several turns, all that it said. `ids`: its tokens. `gold`: the task's, where it has one. */
export type OwnCompletion = {
  readonly prompt: string;
  readonly text: string;
  readonly ids: readonly number[];
  readonly gold?: unknown;
};

/** One finite number for each completion. @param params Those that a YAML file gives (`config=`). */
export type OwnReward = (
  completions: readonly OwnCompletion[],
  params: Readonly<Record<string, unknown>>,
) => ArrayLike<number> | Promise<ArrayLike<number>>;

// `objective=`

/**
 * The loss of one token that the policy said; the loss of a batch is their weighted sum. `lp`: its log-probability under the model that
 * learns; `q`: under the one that sampled; `A`: its advantage.
 */
export type OwnObjective = {
  readonly name?: string;
  readonly loss: (lp: number, q: number, A: number) => number;
  /** The derivative of the loss by `lp`; left out, it is found from differences of the loss. */
  readonly gradient?: (lp: number, q: number, A: number) => number;
  /** Where the loss cuts the ratio exp(lp − q), for statistics. */
  readonly clip?: Clip;
};

// `probe=`

/** How a policy writes for a probe. `seed`: the same seed gives the same texts. */
export type Writing = { readonly maxTokens: number; readonly temperature?: number; readonly seed?: number };

/** What a probe may do with the weights as they are: look, and change nothing. */
export type ProbedPolicy = {
  /** Optimizer steps taken so far. */
  readonly updates: number;
  /** Continues each prompt. Log-probabilities are natural, at temperature 1, one for each token that was said. */
  readonly write: (prompts: readonly string[], how: Writing) => Promise<readonly Written[]>;
  /** Log-probability of each token of a text after a prompt. */
  readonly logprobs: (prompt: string, text: string) => Promise<Float32Array>;
  /** A copy of all numbers that are trained. */
  readonly weights: () => Promise<Float32Array>;
};

export type Written = { readonly text: string; readonly logprobs: Float32Array; readonly ended: 'stop' | 'length' };

/** Measurements by name; they are logged as `probe/<name>`. */
export type OwnProbe = (
  policy: ProbedPolicy,
) => Readonly<Record<string, number>> | Promise<Readonly<Record<string, number>>>;
