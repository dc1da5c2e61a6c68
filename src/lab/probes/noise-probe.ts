import type { Engine, Floats } from '../engine/engine.js';
import { deviation } from '../../analysis/statistics.js';
import type { Datum } from '../service/service.js';
import { noiseOfMicrobatches, type NoiseTerms } from './gradient-noise.js';
import { effectiveSampleSize } from './importance-sampling.js';
import { dot } from './vectors.js';

/**
 * The gradient noise of an optimizer step from its own microbatches: no forward or backward pass is added, only reads of the gradient as it
 * grows. Each microbatch adds 1/K of its own mean gradient, so its increment is multiplied by K before it is squared.
 */
export class NoiseProbe {
  readonly #engine: Engine;
  #before: Floats | null = null;
  #squares: number[] = [];

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** To be called when a microbatch has added its gradient. */
  async see(): Promise<void> {
    const gradient = await this.#engine.gradient();
    const before = this.#before;
    const added = before === null ? gradient : gradient.map((value, at) => value - before[at]!);
    this.#squares.push(dot(added, added));
    this.#before = gradient;
  }

  /**
   * The terms of the step whose microbatches were seen, which are then forgotten; null of fewer than two.
   *
   * @param examples Of a microbatch.
   */
  take(examples: number): NoiseTerms | null {
    const [squares, sum] = [this.#squares, this.#before];
    [this.#squares, this.#before] = [[], null];
    const count = squares.length;
    if (count < 2) return null;
    return noiseOfMicrobatches(
      squares.map((square) => count ** 2 * square),
      dot(sum!, sum!),
      examples,
    );
  }
}

/** The noise of the loss of an optimizer step, which is a sum over answers that have weights: what its microbatches say of it. */
export class LossProbe {
  #weights: number[] = [];
  #losses: number[] = [];

  /** To be called with each microbatch. @param loss Its part of the sum. */
  see(datums: readonly Pick<Datum, 'weights'>[], loss: number): void {
    for (const { weights } of datums) this.#weights.push(Math.max(...Array.from(weights)));
    this.#losses.push(loss);
  }

  /**
   * Of the step whose microbatches were seen, which are then forgotten. `ess`: how many answers of equal weight would be as many.
   * `error`: the standard error of the loss; null of one microbatch.
   */
  take(): { readonly ess: number; readonly error: number | null } {
    const [weights, losses] = [this.#weights, this.#losses];
    [this.#weights, this.#losses] = [[], []];
    const spread = deviation(losses);
    return { ess: effectiveSampleSize(weights), error: spread && Math.sqrt(losses.length) * spread };
  }
}
