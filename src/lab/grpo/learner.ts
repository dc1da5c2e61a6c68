import { UserError } from '../../base/user-error.js';
import { AdaptedEngine } from '../engine/adapters/adapted-engine.js';
import type { Engine } from '../engine/engine.js';
import { tokenWeights } from '../objectives/normalization.js';
import { ppo } from '../objectives/objective.js';
import type { Passes } from '../rewards/labels.js';
import { differentiateRouted, type RoutingMode } from './routing.js';
import { differentiate, scores, type Learnt, type Loss, type Sample } from './samples.js';
import type { Rollout } from './rollouts.js';

/** How a batch becomes one optimizer step. */
export type Learning = {
  readonly beta: number;
  readonly temperature: number;
  /** null: no routing, the passes are of no account. */
  readonly routing: RoutingMode | null;
};

/** TRL's bounds of the ratio: 1 ± 0.2. */
const objective = ppo({ low: 0.8, high: 1.2 });

/** AdamW as the Trainer of transformers sets it, which does not decay, and its bound of the gradient's norm. */
const adamW = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, clipNorm: 1 };

/**
 * GRPO (Shao et al. 2024) as TRL computes it with `loss_type="grpo"`: (1/N) Σ_i (1/T_i) Σ_t of the loss of each token, T_i being
 * the length of completion i, its end included. Nothing that divides depends on which samples are learnt from together, so
 * passes over parts of a batch add up to one over all of it.
 */
export class Learner {
  readonly engine: Engine;
  readonly #reference: Engine | null;
  readonly #loss: Loss;
  readonly #routing: RoutingMode | null;

  /** @param reference The model to stay near; null where beta is 0. */
  constructor(engine: Engine, reference: Engine | null, { beta, temperature, routing }: Learning) {
    this.engine = engine;
    this.#reference = reference;
    this.#loss = { objective, beta, temperature };
    this.#routing = routing;
  }

  /**
   * Adds the gradient of the whole batch.
   *
   * @param advantages One for each rollout.
   */
  async differentiate(rollouts: readonly Rollout[], advantages: readonly number[], passes: Passes): Promise<Learnt> {
    const samples = await this.#samples(rollouts, advantages);
    if (this.#routing === null) return differentiate(this.engine, samples, this.#loss);
    if (!(this.engine instanceof AdaptedEngine)) {
      throw new UserError('Gradients are routed between two adapters.', 'Open the model with both.');
    }
    return differentiateRouted(this.engine, samples, passes, { ...this.#loss, mode: this.#routing });
  }

  /** One step of AdamW. @returns the norm of the gradient before it was bounded. */
  step(learningRate: number): Promise<number> {
    return this.engine.adam({ ...adamW, learningRate });
  }

  async #samples(rollouts: readonly Rollout[], advantages: readonly number[]): Promise<Sample[]> {
    const [weights] = tokenWeights([rollouts.map(({ tokens }) => tokens.length)], 'grpo') as [number[]];
    const plain = rollouts.map(({ prompt, tokens }) => ({ prompt: prompt.tokens, tokens }));
    const references = this.#reference === null ? null : await scores(this.#reference, plain, this.#loss.temperature);
    return plain.map((sample, index) => ({
      ...sample,
      advantage: advantages[index]!,
      weight: weights[index]!,
      reference: references?.[index] ?? null,
    }));
  }
}
