/**
 * Probes of an optimizer step while a run trains: the noise scale of its gradient, its effect on the entropy of the
 * policy, and the Fisher kernel of its rollouts. They do not change the weights, and draw from random streams of their
 * own.
 */
import * as z from 'zod';
import { decayingWeights } from '../engine/double-precision.js';
import type { AdamOptions, Engine, Floats, OptimizerState } from '../engine/engine.js';
import type { Environment } from '../environments/environment.js';
import { rng } from '../rng.js';
import { rollOut, type Rollout, taskOf } from '../rollouts/rollouts.js';
import type { Row } from '../run/metrics-file.js';
import type { EngineService } from '../service/engine-service.js';
import type { Datum } from '../service/service.js';
import { entropyDerivatives } from './entropy-derivative.js';
import { entropyEstimates, total, type ScoredSequence } from './entropy-estimates.js';
import { cosineSummary, fisherKernel } from './fisher-kernel.js';
import { NoiseAverage, noiseOfTwoSizes, noiseScale, type NoiseTerms } from './gradient-noise.js';
import { entropyChange } from './importance-sampling.js';
import { LossProbe, NoiseProbe } from './noise-probe.js';
import { promptGradients, rewardedBatch } from './prompt-gradients.js';
import { batchOf, gradientOf, partOf, scoresOf, type Batch } from './scored-batch.js';
import { adamUpdate } from './update-vector.js';
import { dot } from './vectors.js';

export const probeNames = ['gns', 'entropy', 'fisher'] as const;
type ProbeName = (typeof probeNames)[number];

type Options = {
  readonly probes: readonly ProbeName[];
  /** Share of earlier measurements in the running means of both noise terms. */
  readonly noiseEma: number;
  /** Draws groups as a step does, only for the noise scale by two batch sizes; null leaves it out. */
  readonly drawGroups: ((step: number) => Promise<Rollout[][]>) | null;
  /** Prompts of a microbatch. */
  readonly microbatch: number;
  /** Number of answers to measure entropy on, each to a task of its own. */
  readonly entropyAnswers: number;
  /** Number of answers in the kernel. */
  readonly fisherAnswers: number;
  readonly sampling: { readonly maxTokens: number; readonly temperature: number };
  readonly seed: number;
};

type Player = { readonly service: EngineService; readonly environment: Environment };

/** State before a step: the entropy of the policy, on separately drawn answers, and the ingredients of the step. */
type StateBefore = {
  readonly E: Batch;
  readonly scores: readonly ScoredSequence[];
  /** ∇H. */
  readonly slope: Floats;
  readonly weights: Floats;
  readonly state: OptimizerState;
};

const Averaged = z.tuple([z.number(), z.number(), z.number()]).readonly();
export const ProbesState = z.object({ noise: Averaged, noiseOfTwoSizes: Averaged.default([0, 0, 0]) });
type ProbesState = z.infer<typeof ProbesState>;

/** Noise in units of prompts. Terms that are not above zero are written as they are, and the scale is then left out. */
function noiseRow(name: string, terms: NoiseTerms, average: NoiseAverage): Row {
  const scale = noiseScale(average.add(terms));
  return {
    [`${name}_G2`]: terms.signal,
    [`${name}_tr_sigma`]: terms.noise,
    ...(Number.isFinite(scale) && { [`${name}_B_simple`]: scale }),
  };
}

/** Probes of each step: call `before` it, `see` after each microbatch, and `after` it. */
export class StepProbes {
  readonly #player: Player;
  readonly #options: Options;
  readonly #average: NoiseAverage;
  readonly #averageOfTwo: NoiseAverage;
  readonly #noise: NoiseProbe;
  readonly #loss = new LossProbe();
  #before: StateBefore | null = null;
  #gradient: Floats | null = null;

  constructor(player: Player, options: Options) {
    this.#player = player;
    this.#options = options;
    this.#average = new NoiseAverage(options.noiseEma);
    this.#averageOfTwo = new NoiseAverage(options.noiseEma);
    this.#noise = new NoiseProbe(player.service.engine);
  }

  /** Running means of both noise scales, by microbatches and by two sizes, for a checkpoint. */
  get state(): ProbesState {
    return { noise: this.#average.state, noiseOfTwoSizes: this.#averageOfTwo.state };
  }

  restore({ noise, noiseOfTwoSizes }: ProbesState): void {
    this.#average.restore(noise);
    this.#averageOfTwo.restore(noiseOfTwoSizes);
  }

  /** Measures the state before the step. @param groups Rollouts that the step trains on. */
  async before(step: number, groups: readonly (readonly Rollout[])[]): Promise<Row> {
    const { engine } = this.#player.service;
    if (this.#has('entropy')) this.#before = await this.#measured(engine, step);
    return {
      ...(this.#has('gns') && (await this.#noiseOfTwoSizes(engine, step))),
      ...(this.#has('fisher') && (await this.#kernel(engine, groups))),
    };
  }

  /** @param loss Loss of these datums, a part of the step's. */
  async see(datums: readonly Datum[], loss: number): Promise<void> {
    if (this.#has('gns')) {
      this.#loss.see(datums, loss);
      await this.#noise.see();
    }
    if (this.#before !== null) this.#gradient = await this.#player.service.engine.gradient();
  }

  /** @param adam Options with which the step was taken. */
  async after({ learningRate, ...adam }: AdamOptions): Promise<Row> {
    const [before, gradient] = [this.#before, this.#gradient];
    [this.#before, this.#gradient] = [null, null];
    const noise = this.#noiseRow();
    if (before === null || gradient === null) return noise;
    const { engine } = this.#player.service;
    const { E, scores, slope, weights, state } = before;
    const { direction } = adamUpdate({ gradient, weights, state }, adam, decayingWeights(engine));
    const moved = await scoresOf(engine, E, this.#options.sampling.temperature);
    const sums = (rows: readonly ScoredSequence[], name: keyof ScoredSequence) => rows.map((row) => total(row[name]));
    const { change, ess } = entropyChange({
      logprobs: sums(scores, 'logprobs'),
      movedLogprobs: sums(moved, 'logprobs'),
      entropies: sums(scores, 'entropies'),
      movedEntropies: sums(moved, 'entropies'),
      lengths: scores.map(({ logprobs }) => logprobs.length),
    });
    const { simple, raoBlackwell } = entropyEstimates(scores);
    return {
      ...noise,
      'entropy/simple': simple.value,
      'entropy/rao_blackwell': raoBlackwell.value,
      'entropy/rao_blackwell_error': raoBlackwell.standardError,
      'entropy/predicted': learningRate * dot(slope, direction),
      'entropy/change': change,
      'entropy/ess': ess,
    };
  }

  #has(name: ProbeName): boolean {
    return this.#options.probes.includes(name);
  }

  #noiseRow(): Row {
    if (!this.#has('gns')) return {};
    const terms = this.#noise.take(this.#options.microbatch);
    const { ess, error } = this.#loss.take();
    return {
      ...(terms !== null && noiseRow('gns', terms, this.#average)),
      gns_ess: ess,
      ...(error !== null && { gns_loss_error: error }),
    };
  }

  /** The noise scale from single prompts, and the mean of as many others; none of them is trained on. */
  async #noiseOfTwoSizes(engine: Engine, step: number): Promise<Row> {
    const groups = (await this.#options.drawGroups?.(step)) ?? [];
    const half = Math.floor(groups.length / 2);
    if (half < 2) return {};
    const gradients = promptGradients(engine, rewardedBatch(groups, 'dr_grpo'), this.#options.sampling.temperature);
    const [sum, large] = [new Float64Array(engine.parameterCount), groups.length - half];
    let [squares, seen] = [0, 0];
    for await (const gradient of gradients) {
      if (seen++ < half) squares += dot(gradient, gradient);
      else gradient.forEach((value, at) => (sum[at]! += value / large));
    }
    const terms = noiseOfTwoSizes({ examples: 1, square: squares / half }, { examples: large, square: dot(sum, sum) });
    return noiseRow('gns_two_sizes', terms, this.#averageOfTwo);
  }

  async #measured(engine: Engine, step: number): Promise<StateBefore> {
    const { entropyAnswers: count, sampling, seed } = this.#options;
    const { environment } = this.#player;
    const random = rng(seed, `probe/${step}/tasks`);
    const tasks = Array.from({ length: count }, (_, at) => {
      const index = environment.size === Infinity ? at : random.below(environment.size);
      return taskOf(environment, index, { seed, name: `probe/${step}/task` });
    });
    const options = { copies: 1, sampling, streams: 'own' } as const;
    const E = batchOf(await rollOut(this.#player, tasks, options, rng(seed, `probe/${step}/sampling`)));
    const scores = await scoresOf(engine, E, sampling.temperature);
    const slope = await gradientOf(engine, E, entropyDerivatives(scores), sampling.temperature);
    return { E, scores, slope, weights: await engine.weights(), state: await engine.optimizerState() };
  }

  /** Mean cosines of ∇S in the metric of Adam's moments so far; before the first step in the Euclidean one. */
  async #kernel(engine: Engine, groups: readonly (readonly Rollout[])[]): Promise<Row> {
    const { fisherAnswers, sampling } = this.#options;
    const places = groups.flatMap((group, p) => group.map((_, g) => [p, g] as const)).slice(0, fisherAnswers);
    const batch = batchOf(groups);
    const gradients: Floats[] = [];
    for (const [p, g] of places) {
      const part = partOf(batch, p, g);
      const byLogprob = [new Float64Array(part.generated[0]!.length).fill(1)];
      gradients.push(await gradientOf(engine, part, { byLogprob, byEntropy: 0 }, sampling.temperature));
    }
    const { step, v } = await engine.optimizerState();
    const correction = 1 - 0.999 ** step;
    const metric = step === 0 ? undefined : Float64Array.from(v, (each) => 1 / (Math.sqrt(each / correction) + 1e-8));
    const prompts = places.map(([p]) => p);
    const { samePrompt, otherPrompt, all } = cosineSummary(fisherKernel(gradients, metric), prompts);
    return { 'fisher/same_prompt': samePrompt, 'fisher/other_prompt': otherPrompt, 'fisher/all': all };
  }
}
