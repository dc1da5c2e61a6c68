/**
 * What a training recipe needs of a tensor engine, at the level of the model: coarse calls, so that a GPU
 * implementation is as natural as our WebAssembly one. No tape: objectives are small pure functions that give
 * the derivative of the loss by each token's log-probability (and entropy), and `backward` takes it from there.
 *
 * All methods are async because a GPU answers later. An engine does one thing at a time: await each call.
 */

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
  readonly normEpsilon: number;
  /** Longest sequence, prompt included. */
  readonly context: number;
};

/** Continuations of one prompt. The prompt is computed once however many continuations follow it. */
export type PromptGroup = {
  /** At least one token. */
  readonly prompt: Int32Array;
  /** Each at least one token. */
  readonly continuations: readonly Int32Array[];
};

/**
 * One number per continuation token: group by group, continuation by continuation, token by token.
 * The first token of a continuation is predicted from the last token of the prompt.
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
  readonly epsilon: number;
};

/** First and second moments and the number of steps taken; flat, in the order of the weights. */
export type OptimizerState = { readonly step: number; readonly m: Float32Array; readonly v: Float32Array };

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

/** A model with its gradient and optimizer. One flat parameter vector; `layout` names its parts. */
export type Engine = {
  readonly backend: string;
  readonly shape: ModelShape;
  readonly parameterCount: number;
  /** Scores of every continuation token. Keeps what `backward` needs until the next `forward`. */
  forward(groups: readonly PromptGroup[]): Promise<TokenScores>;
  /**
   * Adds to the gradient: the derivative of the loss by the scores of the last `forward`, token by token.
   * `dEntropy` may be null when the loss does not depend on entropy. May be called again after one `forward`.
   */
  backward(dLogprob: Float32Array, dEntropy: Float32Array | null): Promise<void>;
  /** A copy of the gradient accumulated since the last `adam` or `clearGradient`. */
  gradient(): Promise<Float32Array>;
  clearGradient(): Promise<void>;
  /** One Adam step on the accumulated gradient (bias-corrected, Kingma & Ba 2015), then clears it. Gives its L2 norm. */
  adam(options: AdamOptions): Promise<number>;
  /**
   * A new set of sequences that all begin with `prompt`, computed once. Ends the previous decoder of this engine, and
   * ends itself when the weights change. A token gets the same bits here and in `forward`, in any company.
   */
  decoder(prompt: Int32Array, sequences: number): Promise<Decoder>;
  weights(): Promise<Float32Array>;
  loadWeights(weights: Float32Array): Promise<void>;
  optimizerState(): Promise<OptimizerState>;
  loadOptimizerState(state: OptimizerState): Promise<void>;
};
