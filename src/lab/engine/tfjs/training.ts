import { UserError } from '../../../base/user-error.js';
import type { ForwardOptions, PromptGroup, TokenScores } from '../engine.js';
import { type Batch, checkScores, layOutBatch } from '../model/batch.js';
import { checkTemperature } from '../model/sampling.js';
import { type Steps, withPauses } from '../model/steps.js';
import { type Block, blocksOf, gradientPlaces, type Reader, resultPlaces } from './attention-plan.js';
import { attentionTables, type AttentionTables, gradientTables } from './attention.js';
import type { Device, Tensor } from './device.js';
import { type Chunk, chunksOf, distribution, type Distribution, type ScoreGradient, scoresBackward } from './head.js';
import { type LayerActivations, layerBackward, layerForward } from './layer.js';
import { type Model, readAndDispose } from './model.js';
import { type Normed, rmsNorm, rmsNormBackward } from './norm.js';
import { flatten, type LayerWeights } from './parameters.js';
import { type Rotation, rotationAt } from './rotation.js';

/** Tensors that the forward pass leaves on the device for the backward pass. */
type ForwardTensors = {
  readonly rotation: Rotation;
  readonly tables: AttentionTables;
  readonly layers: readonly LayerActivations[];
  /** The norm of the head rows. */
  readonly normed: Normed;
  /** The distribution of the head rows when one chunk holds them all, else null. */
  readonly distribution: Distribution | null;
};

type Pass = {
  readonly batch: Batch;
  readonly blocks: readonly Block[];
  readonly chunks: readonly Chunk[];
  readonly temperature: number;
  readonly version: number;
  readonly kept: ForwardTensors;
};

/** Forward and backward over batches of prompt groups. Keeps the activations of the last forward pass. */
export class Training {
  readonly #model: Model;
  #pass: Pass | null = null;

  constructor(model: Model) {
    this.#model = model;
  }

  async forward(groups: readonly PromptGroup[], { temperature = 1 }: ForwardOptions = {}): Promise<TokenScores> {
    checkTemperature(temperature);
    const { shape, parameters, keptScores } = this.#model;
    const batch = layOutBatch(shape, groups);
    this.dispose();
    const blocks = blocksOf(shape, readersOf(batch));
    const chunks = chunksOf(batch, shape.vocabulary, keptScores);
    const steps = forward(this.#model, { batch, blocks, chunks, temperature });
    const { scores, kept } = await withPauses(steps, this.#model.pause);
    const pass = { batch, blocks, chunks, temperature, version: parameters.version, kept };
    const values = await readAndDispose(scores);
    this.#pass = pass;
    return tokenScores(pass, values);
  }

  *backward(gradient: ScoreGradient): Steps<void> {
    const pass = this.#pass;
    if (pass === null) throw new UserError('`backward` was called before any forward pass.', 'Call `forward` first.');
    const { parameters } = this.#model;
    if (pass.version !== parameters.version) {
      throw new UserError(
        'The weights have changed since the last forward pass, so its gradient can no longer be computed.',
        'Call `forward` again before `backward`.',
      );
    }
    checkScores('dLogprob', gradient.dLogprob, pass.batch);
    if (gradient.dEntropy !== null) checkScores('dEntropy', gradient.dEntropy, pass.batch);
    yield* backward(this.#model, pass, gradient);
  }

  /** Forgets the last forward pass. */
  dispose(): void {
    if (this.#pass !== null) this.#model.device.free(this.#pass.kept);
    this.#pass = null;
  }
}

/** Prompts, which see themselves, and continuations, which see their prompt as well. */
function readersOf({ segments }: Batch): [Reader[], Reader[]] {
  const reader = ({ row, queries: rows, shared, sharedRows }: Batch['segments'][number]): Reader => ({
    row,
    rows,
    keys: [...rangeFrom(shared, sharedRows), ...rangeFrom(row, rows)],
  });
  const isPrompt = ({ sharedRows }: Batch['segments'][number]) => sharedRows === 0;
  return [segments.filter(isPrompt).map(reader), segments.filter((segment) => !isPrompt(segment)).map(reader)];
}

function rangeFrom(first: number, length: number): number[] {
  return Array.from({ length }, (_, index) => first + index);
}

function* forward(
  model: Model,
  { batch, blocks, chunks, temperature }: Omit<Pass, 'version' | 'kept'>,
): Steps<{ scores: Tensor; kept: ForwardTensors }> {
  const { device, shape, parameters } = model;
  const begun = device.run(() => ({
    rotation: rotationAt(device, model.rotation, device.ids(batch.positions)),
    tables: attentionTables(device, blocks, resultPlaces(shape, batch.tokens.length, blocks)),
    x: device.rows(parameters.parts.embedding, device.ids(batch.tokens)),
  }));
  const { rotation, tables } = begun;
  let { x } = begun;
  const layers: LayerActivations[] = [];
  let kept: ForwardTensors | null = null;
  try {
    for (let index = 0; index < shape.layers; index++) {
      const context = { device, shape, rotation, tables };
      const input = x;
      const { next, activations } = device.run(() =>
        layerForward(context, parameters.parts.layers[index]!, input, (rows) => rows),
      );
      device.free({ x });
      x = next;
      layers.push(activations);
      yield;
    }
    const { scores, ...head } = device.run(() => headForward(model, x, { batch, chunks, temperature }));
    kept = { rotation, tables, layers, ...head };
    return { scores, kept };
  } finally {
    device.free({ x });
    if (kept === null) device.free({ rotation, tables, layers });
  }
}

function headForward(
  model: Model,
  x: Tensor,
  { batch, chunks, temperature }: Pick<Pass, 'batch' | 'chunks' | 'temperature'>,
): Pick<ForwardTensors, 'normed' | 'distribution'> & { scores: Tensor } {
  const { device, shape, parameters } = model;
  const { tf } = device;
  const headX = device.rows(x, device.ids(batch.headRows));
  const normed = rmsNorm(device, headX, parameters.parts.finalNorm, shape.normEpsilon);
  const distributions = chunks.map((chunk) => chunkDistribution(model, normed, { ...chunk, temperature }));
  const chosen = distributions.map(({ logprobs }, index) =>
    device.rows(tf.reshape(logprobs, [-1]), device.ids(chunks[index]!.places)),
  );
  const entropies = distributions.map((chunk) => tf.reshape(chunk.entropies, [-1]));
  const distribution = chunks.length === 1 ? distributions[0]! : null;
  return { scores: tf.concat([...chosen, ...entropies], 0), normed, distribution };
}

function chunkDistribution(
  { device, parameters, shape }: Model,
  { result }: Normed,
  chunk: Pick<Chunk, 'first' | 'rows'> & { readonly temperature: number },
): Distribution {
  const rows = device.tf.slice(result, [chunk.first, 0], [chunk.rows, shape.width]);
  return distribution(device, rows, parameters.parts.head, chunk.temperature);
}

/** @param values Log-probabilities of the targets, chunk by chunk, and then the entropy of each head row. */
function tokenScores({ batch, chunks }: Pass, values: Float32Array): TokenScores {
  const scored = batch.targets.length;
  const logprobs = new Float32Array(scored);
  chunks
    .flatMap(({ targets }) => targets)
    .forEach((target, index) => {
      logprobs[target] = values[index]!;
    });
  return { logprobs, entropies: Float32Array.from(batch.targetHeads, (head) => values[scored + head]!) };
}

/** Adds to the gradient, given the derivative w.r.t. the scores of the forward pass. */
function* backward(model: Model, pass: Pass, gradient: ScoreGradient): Steps<void> {
  const { batch, blocks, kept } = pass;
  const { device, shape, parameters } = model;
  const rows = batch.tokens.length;
  const begun = device.run(() => {
    const head = headBackward(model, pass, gradient);
    const finalNorm = rmsNormBackward(device, head.dNormed, kept.normed, parameters.parts.finalNorm);
    return {
      places: gradientTables(device, gradientPlaces(shape, rows, blocks)),
      dX: lookupBackward(device, batch.headRows, finalNorm.dX, rows),
      finalNorm: finalNorm.dWeight,
      head: head.gradient,
    };
  });
  const { places, finalNorm, head } = begun;
  let { dX } = begun;
  const layers: LayerWeights[] = [];
  try {
    for (let index = shape.layers - 1; index >= 0; index--) {
      const context = { device, shape, rotation: kept.rotation, tables: kept.tables, gradientTables: places };
      const dNext = dX;
      const back = device.run(() =>
        layerBackward(context, parameters.parts.layers[index]!, kept.layers[index]!, dNext),
      );
      device.free({ dX });
      dX = back.dX;
      layers.unshift(back.gradient);
      yield;
    }
    device.run(() => {
      const lookedUp = lookupBackward(device, batch.tokens, dX, shape.vocabulary);
      const embedding = shape.tied ? device.tf.add(lookedUp, head) : lookedUp;
      const weights = { embedding, layers, finalNorm, head: shape.tied ? embedding : head };
      parameters.addGradient(flatten(device, weights));
    });
  } finally {
    device.free({ dX, places, layers, finalNorm, head });
  }
}

/** The derivatives w.r.t. the normed head rows and the head. */
function headBackward(
  model: Model,
  { chunks, kept, temperature }: Pass,
  gradient: ScoreGradient,
): { dNormed: Tensor; gradient: Tensor } {
  const { device, parameters } = model;
  const { tf } = device;
  const parts = chunks.map((chunk) => {
    const known = kept.distribution ?? chunkDistribution(model, kept.normed, { ...chunk, temperature });
    const dTempered = scoresBackward(device, chunk, known, gradient);
    const dScores = temperature === 1 ? dTempered : tf.div(dTempered, temperature);
    const rows = tf.slice(kept.normed.result, [chunk.first, 0], [chunk.rows, -1]);
    return { dNormed: device.product(dScores, parameters.parts.head), sum: device.transposedProduct(dScores, rows) };
  });
  return {
    dNormed: tf.concat(
      parts.map(({ dNormed }) => dNormed),
      0,
    ),
    gradient: tf.addN(parts.map(({ sum }) => sum)),
  };
}

/**
 * The derivative w.r.t. a table, given those w.r.t. rows looked up in it: `table[ids[i]] += dRows[i]`, on zeros.
 *
 * A product with a matrix of ones and zeros adds up the rows of the same id, always in the same order (a scattered sum on
 * a GPU has any); it has a row for each different id, not for the whole table.
 */
function lookupBackward(device: Device, ids: readonly number[], dRows: Tensor, tableRows: number): Tensor {
  const { tf } = device;
  const different = [...new Set(ids)];
  const places = tf.reshape(device.ids(different), [-1, 1]);
  const size: [number, number] = [tableRows, dRows.shape[1]!];
  if (different.length === ids.length) return tf.scatterND(places, dRows, size);
  const isSame = tf.equal(places, tf.reshape(device.ids(ids), [1, -1]));
  const sums = device.product(tf.cast(isSame, 'float32'), dRows);
  return tf.scatterND(places, sums, size);
}
