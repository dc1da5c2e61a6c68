/**
 * The types of user-written modules and scripts: `memrl-tui/lab`, described in docs/extending.md.
 *
 * An environment, a reward, an objective or a probe is the default export of a module, whose path stands on the
 * command line: `memrl train environment=./mine.mjs objective=./loss.mjs probe=./look.mjs`. A module needs nothing of this
 * file; the types help.
 */
import type { Clip } from './objectives/objectives.js';
import type { Rng } from './rng.js';

export { cispo, dro, importanceSampling, ppo, type Clip } from './objectives/objectives.js';
export { rng, type Rng } from './rng.js';

// Scripts

/** Options of `openPolicy`. */
export type PolicyOptions = {
  /** Shape of a new model that reads and writes characters, `micro` or `tiny`; or the directory of a saved one. */
  readonly model?: string;
  /** Seed of a new model's weights. Default 0. */
  readonly seed?: number;
  /** Threads that compute. Default 1. */
  readonly threads?: number;
};

/** A text that the policy wrote. `logprobs`: of each token when it was drawn, at temperature 1. */
export type Sample = Written & { readonly prompt: string; readonly tokens: Int32Array };

/** A sequence to train on. Without `logprobs` the policy that sampled is the one being trained, and the ratio is 1. */
export type TrainingExample = Pick<Sample, 'prompt' | 'tokens'> & {
  readonly logprobs?: ArrayLike<number>;
  /** One number for all tokens, or one for each. */
  readonly advantage: number | readonly number[];
};

/** Settings of a step of Adam. Defaults: betas 0.9 and 0.95, epsilon 1e-8, no weight decay, no bound of the norm. */
export type StepSettings = {
  readonly learningRate: number;
  readonly beta1?: number;
  readonly beta2?: number;
  readonly epsilon?: number;
  readonly weightDecay?: number;
  /** Bound of the gradient's L2 norm. */
  readonly clipNorm?: number;
};

/** A language model in this process, with the four operations of training. */
export type Policy = {
  /** Continues each prompt with the present weights. */
  readonly sample: (prompts: readonly string[], how: Writing) => Promise<Sample[]>;
  /**
   * Adds the gradient of a batch's loss: the sum over all tokens, divided by the number of examples.
   *
   * @param objective Default: importance sampling.
   * @returns the loss, and the mean entropy of the tokens' distributions in nats.
   */
  readonly forwardBackward: (
    examples: readonly TrainingExample[],
    objective?: OwnObjective,
  ) => Promise<{ readonly loss: number; readonly entropy: number }>;
  /** Takes a step of Adam on the gradient, and clears it. @returns the norm before it was bounded. */
  readonly optimStep: (settings: StepSettings) => Promise<{ readonly gradientNorm: number }>;
  /** Writes a directory that `openPolicy` and every command of memrl open as a model. */
  readonly save: (directory: string) => Promise<void>;
};

// `environment=`

export type TextTask = {
  /** The text that the policy reads first; not empty. */
  readonly prompt: string;
  /** Default: the number of the task. */
  readonly id?: string;
  /** The right answer, or other data for rewards that the policy never sees. */
  readonly gold?: unknown;
  /** Information in the right answer: log2 of the number of answers that are equally likely. */
  readonly bits?: number;
  readonly tags?: readonly string[];
};

/** The policy's text in one turn. `length`: the turn was cut off after `max_tokens`. */
export type TextTurn = { readonly text: string; readonly ended: 'stop' | 'length' };

export type TextResponse = {
  readonly reward: number;
  /** Named components of the reward, for logs. */
  readonly parts?: Readonly<Record<string, number>>;
  /** Measurements: their means over turns become `env/all/<name>`. */
  readonly metrics?: Readonly<Record<string, number>>;
  /** The text that the policy reads before its next turn. Without it the episode ends. */
  readonly next?: string | null;
};

export type TextEpisode = {
  readonly task: TextTask;
  readonly turns: readonly TextTurn[];
  /** Has one number per turn. */
  readonly rewards: readonly number[];
};

export type TextEnvironment = {
  /** Default: the name of the file. */
  readonly name?: string;
  /** Number of tasks; unlimited when left out. */
  readonly size?: number;
  /** Strings that end a turn, besides the token that ends a text. They are not part of the turn's text. */
  readonly stop?: readonly string[];
  /**
   * @param index From 0, below `size`.
   * @param random Has the same seed for this index in every process; the only source of randomness.
   */
  readonly task: (index: number, random: Rng) => TextTask;
  /** Scores the last of these turns, and says what comes next. */
  readonly respond: (task: TextTask, turns: readonly TextTurn[]) => TextResponse | Promise<TextResponse>;
  /**
   * Rewards from comparing the episodes of one task, one number for each episode; added to the reward of its last
   * turn.
   */
  readonly scoreGroup?: (episodes: readonly TextEpisode[]) => readonly number[] | Promise<readonly number[]>;
  /** The right answer of a task of one turn, which `memrl sft` teaches. */
  readonly answer?: (task: TextTask) => string;
  /** Other tasks, used only for evaluations. */
  readonly test?: TextEnvironment;
};

/** A module may also export a function that makes the environment from `environment_params`. */
export type TextEnvironmentMaker = (
  params: Readonly<Record<string, unknown>>,
) => TextEnvironment | Promise<TextEnvironment>;

// `reward=`

/**
 * The policy's answer to a prompt; all of its turns, if there are several. `ids`: its tokens. `gold`: the task's, if
 * it has one.
 */
export type OwnCompletion = {
  readonly prompt: string;
  readonly text: string;
  readonly ids: readonly number[];
  readonly gold?: unknown;
};

/** Returns one finite number for each completion. @param params Those that a YAML file gives (`config=`). */
export type OwnReward = (
  completions: readonly OwnCompletion[],
  params: Readonly<Record<string, unknown>>,
) => ArrayLike<number> | Promise<ArrayLike<number>>;

// `objective=`

/**
 * The loss of one token of the policy; the loss of a batch is the weighted sum over tokens. `lp`: log-probability
 * under the model that is trained; `q`: under the one that sampled; `A`: advantage.
 */
export type OwnObjective = {
  readonly name?: string;
  readonly loss: (lp: number, q: number, A: number) => number;
  /** The derivative of the loss w.r.t. `lp`. Without it, finite differences of the loss are used. */
  readonly gradient?: (lp: number, q: number, A: number) => number;
  /** Bounds at which the loss clips the ratio exp(lp − q), for statistics. */
  readonly clip?: Clip;
};

// `probe=`

/** Sampling settings of a probe. `seed`: the same seed gives the same texts. */
export type Writing = { readonly maxTokens: number; readonly temperature?: number; readonly seed?: number };

/** Read-only access of a probe to the policy. */
export type ProbedPolicy = {
  /** Optimizer steps taken so far. */
  readonly updates: number;
  /** Continues each prompt. Log-probabilities are natural, at temperature 1, one for each new token. */
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
