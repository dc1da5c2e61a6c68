/**
 * The tensor engine of a training recipe, at the level of the model: its calls are coarse, so that a GPU
 * implementation is as natural as our WebAssembly one. There is no tape: objectives are small pure functions that
 * return the derivative of the loss w.r.t. each token's log-probability (and entropy), and `backward` continues from
 * there.
 *
 * All methods are async because a GPU answers later. An engine does one thing at a time: await each call.
 */
import type { Rng } from '../rng.js';

/**
 * Input numbers of an engine. Its outputs are Float32Arrays; the double-precision loops (`loopKernels('double')`)
 * return Float64Arrays in their place, under the same type.
 */
export type Floats = Float32Array | Float64Array;

/**
 * How Llama 3.1 scales RoPE for contexts longer than those that it was first trained on (`originalContext`, tokens): a frequency with
 * fewer than `lowFrequency` turns in these is divided by `factor`, one with more than `highFrequency` stays.
 */
export type RopeScaling = {
  readonly factor: number;
  readonly lowFrequency: number;
  readonly highFrequency: number;
  readonly originalContext: number;
};

/** Shape of a LLaMA-family model: RMSNorm, RoPE, grouped-query attention, SwiGLU. */
export type ModelShape = {
  readonly vocabulary: number;
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  /** Divides `heads`. Equal to `heads` for plain multi-head attention. */
  readonly kvHeads: number;
  readonly feedForward: number;
  /** Whether the head shares the embedding's weights. */
  readonly tied: boolean;
  readonly ropeTheta: number;
  /** Absent when RoPE is not scaled. */
  readonly ropeScaling?: RopeScaling | undefined;
  /** Whether queries, keys and values have a bias, as in Qwen2. Absent means no. */
  readonly qkvBias?: boolean | undefined;
  readonly normEpsilon: number;
  /** Longest sequence, prompt included. */
  readonly context: number;
};

/** Continuations of one prompt. The prompt is computed once however many continuations follow it. */
export type PromptGroup = {
  /** Has at least one token. */
  readonly prompt: Int32Array;
  /** Each has at least one token. */
  readonly continuations: readonly Int32Array[];
  /**
   * Tokens of each continuation to score in the place of its own: as many for each of its tokens, token by token. Whatever is scored,
   * the model reads the continuation. Absent, or null for a continuation: its own tokens.
   */
  readonly targets?: readonly (Int32Array | null)[];
};

/**
 * Scores with one number per token that is scored: group by group, continuation by continuation, token by token. The
 * first token of a continuation is predicted from the last token of the prompt.
 */
export type TokenScores = {
  /** Natural log of the probability the model gave the token. */
  readonly logprobs: Float32Array;
  /** Entropy in nats of the distribution the token was drawn from. */
  readonly entropies: Float32Array;
};

export type AdamOptions = {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  /** Above 0. */
  readonly epsilon: number;
  /**
   * Decoupled, as in AdamW (Loshchilov & Hutter 2019): before the step a weight loses learningRate · weightDecay of
   * itself. Norms do not decay unless a group says so. Default 0.
   */
  readonly weightDecay?: number;
  /**
   * Greatest L2 norm of the gradient, frozen tensors left out: a longer one is scaled by clipNorm / (norm + 1e-6), as
   * `torch.nn.utils.clip_grad_norm_` does. Default: none.
   */
  readonly clipNorm?: number;
  /** Tensors with settings of their own; each may be in one group. Tensors in no group use the settings above. */
  readonly groups?: readonly ParameterGroup[];
};

/** Tensors that share settings. A setting left out is the step's. */
export type ParameterGroup = {
  /** Names, as `layout` gives them. */
  readonly tensors: readonly string[];
  readonly learningRate?: number;
  /** Applies to all tensors of the group, norms too. */
  readonly weightDecay?: number;
  /**
   * Weights and moments stay as they are, byte for byte, and the gradient is cleared as usual. All tensors share one
   * step count: the bias correction of a tensor that is thawed is as if it had been trained all along.
   */
  readonly frozen?: boolean;
};

/** First and second moments and the number of steps taken; flat, in the order of the weights. */
export type OptimizerState = { readonly step: number; readonly m: Float32Array; readonly v: Float32Array };

/**
 * How tokens are drawn: from softmax(scores / temperature), of which first `topK` and then `topP` may leave only the
 * likeliest tokens, with ties of the last of them. The rest is normalised.
 */
export type Sampling = {
  /** Limit of each sequence's new tokens; the model's context may end it earlier. */
  readonly maxTokens: number;
  /** 0 takes the likeliest token, the first of equals. */
  readonly temperature: number;
  /** A whole number from 1 up. Default: every token. */
  readonly topK?: number;
  /** The fewest of the likeliest tokens whose probabilities sum to this, in (0, 1]. Default 1: every token. */
  readonly topP?: number;
  /**
   * Repetition penalty (Keskar et al. 2019; `RepetitionPenaltyLogitsProcessor` of transformers): before the
   * temperature, the score of each token that the prompt or the sequence has is divided by this where it is above 0,
   * and multiplied where it is below. Above 0; default 1: none. TensorFlow.js refuses any other value.
   */
  readonly repetitionPenalty?: number;
  /** Tokens that end a sequence. Default: none. */
  readonly stop?: readonly number[];
  /**
   * Called after each token, for endings that tokens alone do not show; a sequence that it ends has `ended` as if by a
   * stop token.
   */
  readonly ends?: (tokens: readonly number[]) => boolean;
};

/**
 * The tokens a sequence begins with, and the seed of the stream that draws the rest: `rng(seed, 'generate')`, one
 * number a token.
 */
export type SeededPrompt = {
  /** At least one token. */
  readonly tokens: Int32Array;
  readonly seed: number;
};

/** The continuation of a prompt; each array has one number per token. */
export type Generated = {
  /** The stop token, if one was drawn, is the last. */
  readonly tokens: Int32Array;
  /** Log-probability under the model itself, as `forward` gives it: temperature 1, no top-k or top-p. */
  readonly logprobs: Float32Array;
  /**
   * Log-probability in the distribution the token was drawn from. Without top-k and top-p that is what `forward` gives
   * at the same temperature; at temperature 0 it is 0.
   */
  readonly samplingLogprobs: Float32Array;
  /** `length`: at `maxTokens`, or at the end of the model's context. */
  readonly ended: 'stop' | 'length';
};

/** Sequences that grow together from one prompt, with their keys and values cached. */
export type Decoder = {
  readonly sequences: number;
  /** Appends tokens to each sequence; ragged, and `[]` leaves a sequence as it is. The next `sample` follows them. */
  extend(tokens: readonly (readonly number[])[]): Promise<void>;
  /**
   * Draws one next token for each sequence from softmax(scores / temperature) by inverse CDF; does not append it.
   *
   * @param uniforms One number in [0, 1) per sequence; NaN skips that sequence (its token is -1).
   * @param temperature 0 takes the most likely token.
   * @returns With each token the log-probability that the model itself gave it (that of temperature 1, as in
   *   `TokenScores`); 0 for a skipped sequence.
   */
  sample(uniforms: readonly number[], temperature: number): Promise<{ tokens: Int32Array; logprobs: Float32Array }>;
  /** Log-probabilities of every next token, `[sequences × vocabulary]`, row by row; a copy. */
  logprobs(): Promise<Float32Array>;
};

export type ForwardOptions = {
  /**
   * The scores are those of softmax(scores / temperature), and `backward` applies its derivative. Above 0; default
   * 1.
   */
  readonly temperature?: number;
};

/** A model with its gradient and optimizer. One flat parameter vector; `layout` names its parts. */
export type Engine = {
  readonly backend: string;
  readonly shape: ModelShape;
  readonly parameterCount: number;
  /**
   * Scores of every continuation token. Keeps what `backward` needs until the next `forward`.
   *
   * Token weights are not an argument of `forward`: they belong in the `dLogprob` of the loss.
   */
  forward(groups: readonly PromptGroup[], options?: ForwardOptions): Promise<TokenScores>;
  /**
   * Adds to the gradient: the derivative of the loss w.r.t. the scores of the last `forward`, token by token.
   * `dEntropy` may be null when the loss does not depend on entropy. May be called again after one `forward`.
   */
  backward(dLogprob: Floats, dEntropy: Floats | null): Promise<void>;
  /**
   * A copy of the gradient accumulated since the last `adam` or `clearGradient`.
   *
   * @param into A vector as long as the weights to write to and return, for callers that read the gradient every step.
   */
  gradient(into?: Float32Array): Promise<Float32Array>;
  clearGradient(): Promise<void>;
  /** Remembers the accumulated gradient; the function that is returned puts it back, with the same bits. */
  keepGradient(): Promise<() => Promise<void>>;
  /**
   * Takes one step of Adam (bias-corrected, Kingma & Ba 2015) or AdamW on the accumulated gradient, then clears it.
   *
   * @returns The L2 norm of the gradient before clipping, frozen tensors left out.
   */
  adam(options: AdamOptions): Promise<number>;
  /** weights ← weights + scale · direction, in the engine's precision; the optimizer's state stays as it is. */
  addToWeights(direction: Floats, scale: number): Promise<void>;
  /**
   * Continues many prompts at once, each until a stop token or its length. Prefixes that prompts share are computed
   * once. The result of a prompt depends on weights, prompt, seed and sampling alone, not on the rest of the batch.
   * May be called between `forward` and `backward`.
   *
   * @param stream Replaces the seeds: all sequences draw from this one stream, token by token in the order of the
   * prompts.
   */
  generate(prompts: readonly SeededPrompt[], sampling: Sampling, stream?: Rng): Promise<Generated[]>;
  /**
   * A new set of sequences that all begin with `prompt`, computed once. It can be used until the weights change,
   * beside other decoders. A token gets the same bits here and in `forward`, whatever the rest of the batch.
   */
  decoder(prompt: Int32Array, sequences: number): Promise<Decoder>;
  weights(): Promise<Float32Array>;
  loadWeights(weights: Floats): Promise<void>;
  optimizerState(): Promise<OptimizerState>;
  loadOptimizerState(state: OptimizerState): Promise<void>;
  /**
   * Another engine of this kind and shape with a copy of the weights, a fresh optimizer and no gradient: for a
   * reference model, whose scores are its own `forward`, and to look at θ + ηv (`addToWeights`) without touching θ.
   */
  clone(): Promise<Engine>;
  /** Frees the memory that garbage collection would not. The engine must not be used afterwards. */
  dispose(): Promise<void>;
};
