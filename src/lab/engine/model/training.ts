import { UserError } from '../../../base/user-error.js';
import type { Floats, ForwardOptions, PromptGroup, TokenScores } from '../engine.js';
import type { Heap } from '../kernels/heap.js';
import { multiply } from '../kernels/matrices.js';
import { spanSize, writeSpan } from '../kernels/records.js';
import { checkScores, layOutBatch } from './batch.js';
import { afterAttention, beforeAttention, fromRow } from './layer.js';
import type { Model } from './model.js';
import type { DecodingMemory, TapeRows } from './decoding-memory.js';
import { checkTemperature } from './sampling.js';
import { partsOf, type RowRange, rowsOfStep, type Steps } from './steps.js';
import { type Pass, TrainingMemory } from './training-buffers.js';

/** Forward and backward over batches of prompt groups. Keeps the activations of the last forward pass. */
export class Training {
  readonly #model: Model;
  readonly #memory: TrainingMemory;
  readonly #decoded: DecodingMemory;
  #pass: Pass | null = null;

  /**
   * @param keptScores See `mostScores`.
   * @param decoded Activations that decoders have computed of the present weights are not computed again.
   */
  constructor(model: Model, decoded: DecodingMemory, keptScores: number) {
    this.#model = model;
    this.#memory = new TrainingMemory(model, keptScores);
    this.#decoded = decoded;
  }

  *forward(groups: readonly PromptGroup[], { temperature = 1 }: ForwardOptions): Steps<TokenScores> {
    checkTemperature(temperature);
    const model = this.#model;
    const batch = layOutBatch(model.shape, groups);
    this.#pass = null;
    const buffers = this.#memory.buffersFor(batch);
    const pass = { model, batch, buffers, temperature, version: model.parameters.version };
    yield* model.parameters.packForward();
    fillTables(pass);
    const recalled = groups.length === 1 ? this.#decoded.recall(groups[0]!) : null;
    if (recalled === null) yield* runLayers(pass);
    else recallLayers(pass, recalled);
    const scores = yield* headScores(pass);
    this.#pass = pass;
    return scores;
  }

  *backward(dLogprob: Floats, dEntropy: Floats | null): Steps<void> {
    const pass = this.#pass;
    if (pass === null) throw new UserError('`backward` was called before any forward pass.', 'Call `forward` first.');
    if (pass.version !== this.#model.parameters.version) {
      throw new UserError(
        'The weights have changed since the last forward pass, so its gradient can no longer be computed.',
        'Call `forward` again before `backward`.',
      );
    }
    checkScores('dLogprob', dLogprob, pass.batch);
    if (dEntropy !== null) checkScores('dEntropy', dEntropy, pass.batch);
    yield* this.#model.parameters.packBackward();
    yield* runBackward(pass, dLogprob, dEntropy);
  }
}

function fillTables({ model, batch, buffers }: Pass): void {
  const { kernels } = model;
  const { i32 } = kernels.heap;
  i32.set(batch.tokens, buffers.tokens / 4);
  i32.set(batch.positions, buffers.positions / 4);
  i32.set(batch.headRows, buffers.headRowIds / 4);
  batch.segments.forEach((span, index) => writeSpan(kernels.heap, buffers.spans + index * spanSize * 4, span));
}

/** Rows of a layer that are computed in one step. */
function blocksOf({ model, batch }: Pass): RowRange[] {
  const { width, feedForward } = model.shape;
  return partsOf({ first: 0, rows: batch.tokens.length }, rowsOfStep(width * (width + 3 * feedForward)));
}

function* runLayers(pass: Pass): Steps<void> {
  const { model, batch, buffers } = pass;
  const blocks = blocksOf(pass);
  const rows = batch.tokens.length;
  const x = buffers.layers[0]!.x;
  model.kernels.gatherRows(rows, model.shape.width, buffers.tokens, model.parameters.embedding.at, x);
  for (let index = 0; index < model.shape.layers; index++) {
    const layer = buffers.layers[index]!;
    for (const { first, rows: some } of blocks) {
      const positions = buffers.positions + first * 4;
      beforeAttention(model, index, { rows: some, positions, buffers: fromRow(model, layer, first) });
      if (blocks.length > 1) yield;
    }
    attendSegments(pass, index);
    for (const { first, rows: some } of blocks) {
      afterAttention(model, index, { rows: some, buffers: fromRow(model, layer, first) });
      yield;
    }
  }
}

/** Copies the activations that decoding left, which have the same bits as those of `runLayers`. */
function recallLayers({ model, batch, buffers }: Pass, { tape, rows }: TapeRows): void {
  const { kernels, shape, widths } = model;
  const { width, feedForward } = shape;
  const { f32, i32 } = kernels.heap;
  const count = rows.length;
  const ids = buffers.tapeRows;
  i32.set(rows, ids / 4);
  buffers.layers.forEach((layer, index) => {
    const kept = tape.layers[index]!;
    kernels.gatherRows(count, width, ids, kept.x, layer.x);
    kernels.gatherRows(count, width, ids, kept.normed, layer.normed);
    kernels.gatherRows(count, widths.qkv, ids, kept.qkv, layer.qkv);
    kernels.gatherRows(count, width, ids, kept.attended, layer.attended);
    kernels.gatherRows(count, width, ids, kept.middle, layer.middle);
    kernels.gatherRows(count, width, ids, kept.middleNormed, layer.middleNormed);
    kernels.gatherRows(count, 2 * feedForward, ids, kept.gateUp, layer.gateUp);
    kernels.gatherRows(count, feedForward, ids, kept.activated, layer.activated);
    for (let row = 0; row < count; row++) {
      f32[layer.normScale / 4 + row] = f32[kept.normScale / 4 + rows[row]!]!;
      f32[layer.middleScale / 4 + row] = f32[kept.middleScale / 4 + rows[row]!]!;
    }
    kernels.gatherProbabilities(shape.heads, buffers.spans, batch.segments.length, ids, tape.places, kept.p, layer.p);
  });
  kernels.gatherRows(count, width, ids, tape.layers.at(-1)!.next, buffers.layers.at(-1)!.next);
}

function attendSegments({ model, batch, buffers }: Pass, index: number): void {
  const { qkv, p, attended } = buffers.layers[index]!;
  const keys = qkv + model.shape.width * 4;
  model.kernels.attention(model.attention, buffers.spans, batch.segments.length, qkv, keys, p, attended);
}

/**
 * Adds to the gradient, from the derivative w.r.t. each target's log-probability and entropy. Reads the activations of the
 * forward pass and leaves them as they are, so it may be called again.
 */
function* runBackward(pass: Pass, dLogprob: Floats, dEntropy: Floats | null): Steps<void> {
  const { model, batch, buffers } = pass;
  const { kernels, shape, parameters } = model;
  const rows = batch.tokens.length;
  const blocks = blocksOf(pass);
  yield* headBackward(pass, dLogprob, dEntropy);
  kernels.zero(rows * shape.width, buffers.dx);
  kernels.scatterAddRows(batch.headRows.length, shape.width, buffers.headRowIds, buffers.dHeadX, buffers.dx);
  for (let index = shape.layers - 1; index >= 0; index--) {
    for (const block of blocks) {
      feedForwardBackward(pass, index, block);
      yield;
    }
    for (const block of blocks) {
      outputBackward(pass, index, block);
      if (blocks.length > 1) yield;
    }
    attentionBackward(pass, index);
    yield;
    for (const block of blocks) {
      projectionBackward(pass, index, block);
      if (blocks.length > 1) yield;
    }
  }
  kernels.scatterAddRows(rows, shape.width, buffers.tokens, buffers.dx, parameters.embedding.gradient);
}

// `dx` enters each half of a layer as the derivative w.r.t. its output and leaves as that w.r.t. its input: the residual path
// leaves it as it is, and the norm's backward adds the rest.

/** @param block As many rows as `addProduct` sums at a time, or a multiple, so that the order of sums is that of all rows. */
function feedForwardBackward({ model, buffers }: Pass, index: number, { first, rows }: RowRange): void {
  const { kernels, shape, parameters } = model;
  const { width, feedForward } = shape;
  const { down, gateUp, mlpNorm } = parameters.layers[index]!;
  const a = fromRow(model, buffers.layers[index]!, first);
  const { product } = buffers;
  const skip = first * 4;
  const [dx, dNormed] = [buffers.dx + skip * width, buffers.dNormed + skip * width];
  const [dActivated, dGateUp] = [buffers.dActivated + skip * feedForward, buffers.dGateUp + skip * 2 * feedForward];
  multiply(kernels, down.backward, rows, dx, dActivated, 0);
  kernels.addProduct(down.outer, rows, a.activated, dx, down.gradient, product);
  kernels.swigluBackward(rows, feedForward, dActivated, a.gateUp, dGateUp);
  multiply(kernels, gateUp.backward, rows, dGateUp, dNormed, 0);
  kernels.addProduct(gateUp.outer, rows, a.middleNormed, dGateUp, gateUp.gradient, product);
  kernels.rmsNormBackward(rows, width, dNormed, a.middle, mlpNorm.at, a.middleScale, dx, mlpNorm.gradient);
}

/** Derivatives w.r.t. the output of attention, into `dNormed`. */
function outputBackward({ model, buffers }: Pass, index: number, { first, rows }: RowRange): void {
  const { kernels, shape, parameters } = model;
  const { output } = parameters.layers[index]!;
  const skip = first * shape.width * 4;
  multiply(kernels, output.backward, rows, buffers.dx + skip, buffers.dNormed + skip, 0);
  const attended = buffers.layers[index]!.attended + skip;
  kernels.addProduct(output.outer, rows, attended, buffers.dx + skip, output.gradient, buffers.product);
}

/** Derivatives w.r.t. queries, keys and values before their rotation, into `dQkv`. */
function attentionBackward({ model, batch, buffers }: Pass, index: number): void {
  const { kernels, shape, widths, parameters } = model;
  const { qkvBias } = parameters.layers[index]!;
  const { qkv, p } = buffers.layers[index]!;
  const rows = batch.tokens.length;
  const { dNormed, dQkv, dP, spans } = buffers;
  kernels.zero(rows * widths.qkv, dQkv);
  const keys = shape.width * 4;
  const count = batch.segments.length;
  kernels.attentionBackward(model.attention, spans, count, qkv, qkv + keys, p, dNormed, dQkv, dQkv + keys, dP);
  kernels.rope(model.rotation, rows, dQkv, buffers.positions, -1);
  if (qkvBias !== null) addRows(kernels.heap, dQkv, { rows, columns: widths.qkv, to: qkvBias.gradient });
}

function projectionBackward({ model, buffers }: Pass, index: number, { first, rows }: RowRange): void {
  const { kernels, shape, widths, parameters } = model;
  const { qkv, attentionNorm } = parameters.layers[index]!;
  const a = fromRow(model, buffers.layers[index]!, first);
  const skip = first * 4;
  const dQkv = buffers.dQkv + skip * widths.qkv;
  const [dx, dNormed] = [buffers.dx + skip * shape.width, buffers.dNormed + skip * shape.width];
  multiply(kernels, qkv.backward, rows, dQkv, dNormed, 0);
  kernels.addProduct(qkv.outer, rows, a.normed, dQkv, qkv.gradient, buffers.product);
  const { at, gradient } = attentionNorm;
  kernels.rmsNormBackward(rows, shape.width, dNormed, a.x, at, a.normScale, dx, gradient);
}

/** Adds the sum of rows to a vector. */
function addRows(
  { f32 }: Heap,
  from: number,
  { rows, columns, to }: { rows: number; columns: number; to: number },
): void {
  for (let column = 0; column < columns; column++) {
    let sum = 0;
    for (let row = 0; row < rows; row++) sum += f32[from / 4 + row * columns + column]!;
    f32[to / 4 + column]! += sum;
  }
}

/** Norm, head and log-softmax on the head rows alone, and from them the scores of every target. */
function* headScores(pass: Pass): Steps<TokenScores> {
  const { model, batch, buffers } = pass;
  const { kernels, shape, parameters } = model;
  const rows = batch.headRows.length;
  const last = buffers.layers.at(-1)!.next;
  kernels.gatherRows(rows, shape.width, buffers.headRowIds, last, buffers.headX);
  const { headX, headNormed, headScale } = buffers;
  kernels.rmsNorm(rows, shape.width, headX, parameters.finalNorm.at, headNormed, headScale, shape.normEpsilon);
  const count = batch.targets.length;
  const scores = { logprobs: kernels.heap.floats(count), entropies: kernels.heap.floats(count) };
  for (const { first, rows: some } of chunksOf(pass)) {
    for (const piece of partsOf({ first, rows: some }, buffers.piece)) {
      pieceLogprobs(pass, first, piece);
      yield;
    }
    readScores(pass, first, some, scores);
  }
  return scores;
}

/** Derivatives w.r.t. the activations of the head rows into `dHeadX`, and w.r.t. head and norm into the gradient. */
function* headBackward(pass: Pass, dLogprob: Floats, dEntropy: Floats | null): Steps<void> {
  const { model, batch, buffers } = pass;
  const { kernels, shape, parameters } = model;
  const rows = batch.headRows.length;
  sumByHeadRow(pass, dLogprob, dEntropy);
  const rowBytes = pass.model.widths.scores * 4;
  const chunks = chunksOf(pass);
  for (const chunk of chunks) {
    const pieces = partsOf(chunk, buffers.piece);
    // A single chunk still holds the log-probabilities of the forward pass; of several chunks, only the last one does.
    for (const piece of chunks.length > 1 ? pieces : []) {
      pieceLogprobs(pass, chunk.first, piece);
      yield;
    }
    for (const piece of pieces) {
      pieceBackward(pass, { ...piece, logprobs: buffers.scores + (piece.first - chunk.first) * rowBytes }, dLogprob);
      yield;
    }
  }
  kernels.zero(rows * shape.width, buffers.dHeadX);
  kernels.rmsNormBackward(
    rows,
    shape.width,
    buffers.dHeadNormed,
    buffers.headX,
    parameters.finalNorm.at,
    buffers.headScale,
    buffers.dHeadX,
    parameters.finalNorm.gradient,
  );
}

/** Head rows whose log-probabilities are kept at the same time. */
function chunksOf({ batch, buffers }: Pass): RowRange[] {
  return partsOf({ first: 0, rows: batch.headRows.length }, buffers.chunk);
}

/** A piece of the chunk that begins at row `chunk`: its scores are still in the cache when they become log-probabilities. */
function pieceLogprobs({ model, buffers, temperature }: Pass, chunk: number, { first, rows }: RowRange): void {
  const { kernels, shape, widths, parameters } = model;
  const scores = buffers.scores + (first - chunk) * widths.scores * 4;
  multiply(kernels, parameters.head.forward, rows, buffers.headNormed + first * shape.width * 4, scores, 0);
  if (temperature !== 1) kernels.scale(rows * widths.scores, scores, 1 / temperature);
  kernels.logSoftmax(rows, shape.vocabulary, widths.scores, scores, buffers.entropies + first * 4);
}

function readScores({ model, batch, buffers }: Pass, first: number, rows: number, into: TokenScores): void {
  const { f32 } = model.kernels.heap;
  const stride = model.widths.scores;
  const scores = buffers.scores / 4;
  const { targets, targetHeads } = batch;
  for (let i = 0; i < targets.length; i++) {
    const head = targetHeads[i]! - first;
    if (head < 0 || head >= rows) continue;
    into.logprobs[i] = f32[scores + head * stride + targets[i]!]!;
    into.entropies[i] = f32[buffers.entropies / 4 + first + head]!;
  }
}

/** A head row may predict several targets: the first tokens of all continuations of a prompt. */
function sumByHeadRow({ model, batch, buffers }: Pass, dLogprob: Floats, dEntropy: Floats | null): void {
  const { f32 } = model.kernels.heap;
  const logprobs = buffers.dLogprobs / 4;
  const entropies = buffers.dEntropies / 4;
  const rows = batch.headRows.length;
  f32.fill(0, logprobs, logprobs + rows);
  f32.fill(0, entropies, entropies + rows);
  const { targetHeads } = batch;
  for (let i = 0; i < targetHeads.length; i++) {
    f32[logprobs + targetHeads[i]!]! += dLogprob[i]!;
    if (dEntropy !== null) f32[entropies + targetHeads[i]!]! += dEntropy[i]!;
  }
}

/** Head rows with the address of their log-probabilities. */
type Piece = RowRange & { readonly logprobs: number };

function pieceBackward(pass: Pass, { first, rows, logprobs }: Piece, dLogprob: Floats): void {
  const { model, batch, buffers, temperature } = pass;
  const { kernels, shape, widths, parameters } = model;
  const { width } = shape;
  const { entropies, dLogprobs, dEntropies, dScores } = buffers;
  const skip = first * 4;
  const stride = widths.scores;
  kernels.logSoftmaxBackward(rows, stride, logprobs, entropies + skip, dLogprobs + skip, dEntropies + skip, dScores);
  const { f32 } = kernels.heap;
  const { targets, targetHeads } = batch;
  for (let i = 0; i < targets.length; i++) {
    const head = targetHeads[i]! - first;
    if (head >= 0 && head < rows) f32[dScores / 4 + head * stride + targets[i]!]! += dLogprob[i]!;
  }
  if (temperature !== 1) kernels.scale(rows * stride, dScores, 1 / temperature);
  const normed = buffers.headNormed + skip * width;
  const { head } = parameters;
  multiply(kernels, head.backward, rows, dScores, buffers.dHeadNormed + skip * width, 0);
  kernels.addProduct(head.outer, rows, dScores, normed, head.gradient, buffers.product);
}
