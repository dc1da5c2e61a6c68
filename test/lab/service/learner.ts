import type { Engine } from '../../../src/lab/engine/engine.js';
import { k3, ppo } from '../../../src/lab/objectives/objectives.js';
import type { Rollout } from '../../../src/lab/rollouts/rollouts.js';
import { routingPasses, type Passes, type RoutingMode } from '../../../src/lab/service/dual-adapters.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';
import type { BatchStatistics, Datum } from '../../../src/lab/service/service.js';
import { datumsOf, withReference } from '../../../src/lab/update/update.js';

export type Learning = {
  readonly beta: number;
  readonly temperature: number;
  /** null: no routing, the passes are of no account. */
  readonly routing: RoutingMode | null;
};

/** The parts of a step of GRPO, one at a time. */
export class Learner {
  readonly #service: EngineService;
  readonly #reference: EngineService | null;
  readonly #learning: Learning;

  constructor(engine: Engine, reference: Engine | null, learning: Learning) {
    this.#service = new EngineService(engine);
    this.#reference = reference === null ? null : new EngineService(reference);
    this.#learning = learning;
  }

  /** @param advantages One for each rollout. */
  async differentiate(
    rollouts: readonly Rollout[],
    advantages: readonly number[],
    passes: Passes,
  ): Promise<BatchStatistics> {
    const { beta, temperature, routing } = this.#learning;
    const plain = rolloutDatums(rollouts, advantages);
    const datums = this.#reference === null ? plain : await withReference(plain, this.#reference, temperature);
    const pull = beta === 0 ? null : { estimator: k3, coefficient: beta };
    const loss = { objective: ppo({ low: 0.8, high: 1.2 }), temperature, pull };
    return this.#service.forwardBackward(datums, loss, {
      passes: routing === null ? null : routingPasses(passes, routing),
    });
  }

  step(learningRate: number): Promise<unknown> {
    return this.#service.optimStep({ beta1: 0.9, beta2: 0.999, epsilon: 1e-8, clipNorm: 1, learningRate });
  }
}

/** Tokens count by their own completion. */
export function rolloutDatums(rollouts: readonly Rollout[], advantages: readonly number[]): Datum[] {
  const ofTurns = rollouts.map(({ turns }, index) => turns.map(() => advantages[index]!));
  return datumsOf([rollouts], { advantages: [ofTurns], normalization: 'grpo', sampled: null });
}
