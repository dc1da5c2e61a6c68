import type { Engine, Floats } from '../engine/engine.js';
import { deviation } from '../../analysis/statistics.js';
import type { Datum } from '../service/service.js';
import { noiseOfMicrobatches, type NoiseTerms } from './gradient-noise.js';
import { effectiveSampleSize } from './importance-sampling.js';
import { dot } from './vectors.js';

/**
 * The gradient noise of an optimizer step from its own microbatches: it adds no forward or backward pass, only reads
 * of the accumulating gradient. Each microbatch adds 1/K of its own mean gradient, so its increment is multiplied by K
 * before it is squared.
 */
export class NoiseProbe {
  readonly #engine: Engine;
  #before: Floats | null = null;
  #squares: number[] = [];

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Call it after a microbatch has added its gradient. */
  async see(): Promise<void> {
    const gradient = await this.#engine.gradient();
    const before = this.#before;
    const added = before === null ? gradient : gradient.map((value, at) => value - before[at]!);
    this.#squares.push(dot(added, added));
    this.#before = gradient;
  }

  /**
   * Returns the noise terms of the step's microbatches and resets; null for fewer than two.
   *
   * @param examples Number of examples of a microbatch.
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

/** The noise of an optimizer step's loss, a weighted sum over answers, estimated from its microbatches. */
export class LossProbe {
  #weights: number[] = [];
  #losses: number[] = [];

  /** Call it with each microbatch. @param loss The microbatch's part of the sum. */
  see(datums: readonly Pick<Datum, 'weights'>[], loss: number): void {
    for (const { weights } of datums) this.#weights.push(Math.max(...Array.from(weights)));
    this.#losses.push(loss);
  }

  /**
   * Returns the statistics of the step's microbatches and resets. `ess`: effective sample size of the weights.
   * `error`: standard error of the loss; null for one microbatch.
   */
  take(): { readonly ess: number; readonly error: number | null } {
    const [weights, losses] = [this.#weights, this.#losses];
    [this.#weights, this.#losses] = [[], []];
    const spread = deviation(losses);
    return { ess: effectiveSampleSize(weights), error: spread && Math.sqrt(losses.length) * spread };
  }
}
