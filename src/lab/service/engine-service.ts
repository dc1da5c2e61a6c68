import { UserError } from '../../base/user-error.js';
import { AdaptedEngine } from '../engine/adapters/adapted-engine.js';
import type { AdamOptions, Engine, Floats, Generated, PromptGroup } from '../engine/engine.js';
import { k3 } from '../objectives/objectives.js';
import { restoreModel, writeModel } from '../run/model-files.js';
import { type OptimizerName, takeStep } from './descent.js';
import {
  addDistance,
  addStatistics,
  type BatchStatistics,
  countClipped,
  type Datum,
  emptyStatistics,
  type ForwardBackward,
  type Loss,
  lossTerms,
  type RoutingPass,
  scoredTokens,
  type SampleRequest,
  type StepBound,
  type StepTaken,
  type TrainingService,
} from './service.js';

/** Maximum number of halvings: a smaller step would not change single-precision weights. */
const mostHalvings = 20;

/** The four operations on an engine in this process. */
export class EngineService implements TrainingService {
  /** The engine itself, for probes, which need more than the four operations; unused while an operation runs. */
  readonly engine: Engine;
  #last: Promise<unknown> = Promise.resolve();
  /** Calls without a result yet. */
  #waiting = 0;

  readonly #optimizer: OptimizerName;

  constructor(engine: Engine, optimizer: OptimizerName = 'adam') {
    this.engine = engine;
    this.#optimizer = optimizer;
  }

  sample({ prompts, sampling, stream }: SampleRequest): Promise<readonly Generated[]> {
    return this.#queued(() => this.engine.generate(prompts, sampling, stream));
  }

  forward(datums: readonly Datum[], { temperature = 1 } = {}): Promise<Float32Array[]> {
    return this.#queued(() => this.#logprobs(datums, temperature));
  }

  forwardBackward(
    datums: readonly Datum[],
    loss: Loss,
    { passes = null }: { readonly passes?: readonly RoutingPass[] | null } = {},
  ): Promise<ForwardBackward> {
    return this.#queued(() =>
      passes === null ? accumulateGradient(this.engine, datums, loss) : this.#routed(datums, loss, passes),
    );
  }

  optimStep(options: AdamOptions, bound: StepBound | null = null): Promise<StepTaken> {
    return this.#queued(async () =>
      bound === null
        ? { gradientNorm: await takeStep(this.engine, options, this.#optimizer), bounded: null }
        : this.#boundedStep(options, bound),
    );
  }

  weights(): Promise<Float32Array> {
    return this.#queued(() => this.engine.weights());
  }

  saveState(directory: string): Promise<void> {
    return this.#queued(() => writeModel(directory, this.engine));
  }

  loadState(directory: string): Promise<void> {
    return this.#queued(() => restoreModel(directory, this.engine));
  }

  /** Queues the work, since an engine does one thing at a time. */
  #queued<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#waiting === 0 ? work() : this.#last.then(work);
    const done = () => void this.#waiting--;
    this.#waiting++;
    this.#last = result.then(done, done);
    return result;
  }

  async #logprobs(datums: readonly Datum[], temperature: number): Promise<Float32Array[]> {
    const { logprobs } = await this.engine.forward(groupsOf(datums), { temperature });
    return byDatum(datums, logprobs);
  }

  /** Runs the passes one after the other; afterwards all adapters are trained, at their former scales. */
  async #routed(datums: readonly Datum[], loss: Loss, passes: readonly RoutingPass[]): Promise<ForwardBackward> {
    const { engine } = this;
    if (!(engine instanceof AdaptedEngine)) {
      throw new UserError('Gradients are routed between two adapters.', 'Open the model with both.');
    }
    const before = engine.scales;
    const sums = emptyStatistics();
    const logprobs = new Map<Datum, Float32Array>();
    try {
      for (const { takes, trained, scales } of passes) {
        const part = datums.filter((_, index) => takes[index]);
        if (part.length === 0) continue;
        await engine.setScales(scales);
        await engine.setTrained(trained);
        const output = await accumulateGradient(engine, part, loss);
        addStatistics(sums, output);
        part.forEach((datum, index) => logprobs.set(datum, output.logprobs[index]!));
      }
    } finally {
      await engine.setScales(before);
      await engine.setTrained(null);
    }
    return { ...sums, logprobs: datums.map((datum) => logprobs.get(datum) ?? new Float32Array(0)) };
  }

  /**
   * Takes an optimizer step, and halves it until the policy has moved by no more than the bound on the datums: the backtracking of
   * TRPO (Schulman et al. 2015, appendix C) on steps of Adam. The optimizer's moments stay as they are.
   *
   * Adam's steps have their full size however small the gradient is. Once a policy is right nearly always, one rare wrong answer
   * is the whole gradient, and a full-size step away from it moves the right answers, too.
   */
  async #boundedStep(options: AdamOptions, { datums, temperature, bound }: StepBound): Promise<StepTaken> {
    const { engine } = this;
    const scores = () => this.#logprobs(datums, temperature);
    const [before, start] = [await scores(), await engine.weights()];
    const distance = async () => klOfSample(datums, before, await scores()) / datums.length;
    const gradientNorm = await takeStep(engine, options, this.#optimizer);
    let kl = await distance();
    let halvings = 0;
    // A KL that is NaN counts as too large.
    while (!(kl <= bound) && halvings < mostHalvings) {
      const end = await engine.weights();
      await engine.loadWeights(start.map((weight, at) => (weight + end[at]!) / 2));
      halvings++;
      kl = await distance();
    }
    return { gradientNorm, bounded: { kl, halvings } };
  }
}

/** KL(before ‖ after) summed over all generated tokens, by the estimator k3. */
function klOfSample(datums: readonly Datum[], before: readonly Float32Array[], after: readonly Float32Array[]): number {
  let sum = 0;
  datums.forEach(({ weights }, index) => {
    for (let token = 0; token < weights.length; token++)
      if (weights[token] !== 0) sum += k3.loss(before[index]![token]!, after[index]![token]!);
  });
  return sum;
}

/** Datums that follow each other with the same prompt are computed together. */
function groupsOf(datums: readonly Datum[]): PromptGroup[] {
  const groups: { prompt: Int32Array; continuations: Int32Array[]; targets: (Int32Array | null)[] }[] = [];
  for (const { prompt, tokens, targets = null } of datums) {
    if (groups.at(-1)?.prompt !== prompt) groups.push({ prompt, continuations: [], targets: [] });
    const last = groups.at(-1)!;
    last.continuations.push(tokens);
    last.targets.push(targets);
  }
  return groups;
}

/** Adds the derivative of the datums' part of the loss to the engine's gradient. */
async function accumulateGradient(engine: Engine, datums: readonly Datum[], loss: Loss): Promise<ForwardBackward> {
  const { divisor = 1, temperature = 1, entropyCoefficient = 0 } = loss;
  const { logprobs, entropies } = await engine.forward(groupsOf(datums), { temperature });
  const dLogprob = zerosLike(logprobs);
  const dEntropy = entropyCoefficient === 0 ? null : zerosLike(logprobs);
  const sums = emptyStatistics();
  const scored = { logprobs, entropies, dLogprob, at: 0 };
  for (const datum of datums) addDatum(sums, datum, scored, loss);
  if (dEntropy !== null) {
    const weights = datums.flatMap((datum) => Array.from(datum.weights));
    weights.forEach((weight, token) => (dEntropy[token] = (-entropyCoefficient * weight) / divisor));
  }
  sums.loss /= divisor;
  await engine.backward(dLogprob, dEntropy);
  return { ...sums, logprobs: byDatum(datums, logprobs) };
}

/** An array in the precision of the engine that computed these scores. */
function zerosLike(scores: Floats): Floats {
  return scores instanceof Float64Array ? new Float64Array(scores.length) : new Float32Array(scores.length);
}

function byDatum(datums: readonly Datum[], logprobs: Float32Array): Float32Array[] {
  let at = 0;
  return datums.map((datum) => logprobs.slice(at, (at += scoredTokens(datum).length)));
}

/**
 * The policy's scores of the tokens of a batch, and the arrays for the derivative of the loss w.r.t. them. `at`: offset of
 * the next datum.
 */
type Scored = {
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  readonly dLogprob: Floats;
  at: number;
};

function addDatum(sums: BatchStatistics, datum: Datum, scored: Scored, loss: Loss): void {
  const { objective, divisor = 1, pull = null } = loss;
  const { weights, logprobs: sampled } = datum;
  const count = scoredTokens(datum).length;
  const reference = pull === null ? undefined : datum.reference;
  const terms = lossTerms(datum, scored.logprobs.subarray(scored.at, scored.at + count), objective);
  for (let token = 0; token < count; token++, scored.at++) {
    const weight = weights[token]!;
    if (weight === 0) continue;
    const [lp, q, A, clip] = terms(token);
    let value = objective.loss(lp, q, A, clip);
    let gradient = objective.gradient(lp, q, A, clip);
    if (reference !== undefined) {
      const { estimator, coefficient } = pull!;
      const distance = estimator.loss(lp, reference[token]!);
      value += coefficient * distance;
      gradient += coefficient * estimator.gradient(lp, reference[token]!);
      sums.pull += distance;
    }
    scored.dLogprob[scored.at] = (weight * gradient) / divisor;
    sums.loss += weight * value;
    sums.tokens++;
    sums.entropy += scored.entropies[scored.at]!;
    addDistance(sums, (sampled?.[token] ?? lp) - lp);
    if (clip !== undefined) countClipped(sums, Math.exp(lp - q), A, clip);
  }
}
