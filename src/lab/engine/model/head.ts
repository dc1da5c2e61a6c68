import type { TokenScores } from '../engine.js';
import { addProduct, multiply } from '../kernels/matrices.js';
import type { Pass } from './training-buffers.js';

/** Norm, head and log-softmax on the head rows alone, and from them the scores of every target. */
export function headScores(pass: Pass): TokenScores {
  const { model, batch, buffers } = pass;
  const { kernels, shape, parameters } = model;
  const rows = batch.headRows.length;
  const last = buffers.layers.at(-1)!.next;
  kernels.gatherRows(rows, shape.width, buffers.headRowIds, last, buffers.headX);
  const { headX, headNormed, headScale } = buffers;
  kernels.rmsNorm(rows, shape.width, headX, parameters.finalNorm.at, headNormed, headScale, shape.normEpsilon);
  const count = batch.targets.length;
  const scores = { logprobs: new Float32Array(count), entropies: new Float32Array(count) };
  forEachChunk(pass, (first, chunkRows) => {
    chunkLogprobs(pass, first, chunkRows);
    readScores(pass, first, chunkRows, scores);
  });
  return scores;
}

/** Derivatives by the head rows' activations into `dHeadX`, and by head and norm into the gradient. */
export function headBackward(pass: Pass, dLogprob: Float32Array, dEntropy: Float32Array | null): void {
  const { model, batch, buffers } = pass;
  const { kernels, shape, parameters } = model;
  const rows = batch.headRows.length;
  sumByHeadRow(pass, dLogprob, dEntropy);
  forEachChunk(pass, (first, chunkRows) => {
    // One chunk still holds the log-probabilities of the forward pass; of several, only the last.
    if (chunkRows < rows) chunkLogprobs(pass, first, chunkRows);
    chunkBackward(pass, first, chunkRows, dLogprob);
  });
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

function forEachChunk({ batch, buffers }: Pass, visit: (first: number, rows: number) => void): void {
  const rows = batch.headRows.length;
  for (let first = 0; first < rows; first += buffers.chunk) visit(first, Math.min(buffers.chunk, rows - first));
}

function chunkLogprobs({ model, buffers }: Pass, first: number, rows: number): void {
  const { kernels, shape, widths, parameters } = model;
  const { scores, entropies } = buffers;
  multiply(kernels, parameters.head.forward, rows, buffers.headNormed + first * shape.width * 4, scores, 0);
  kernels.logSoftmax(rows, shape.vocabulary, widths.scores, scores, entropies + first * 4);
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
function sumByHeadRow({ model, batch, buffers }: Pass, dLogprob: Float32Array, dEntropy: Float32Array | null): void {
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

function chunkBackward({ model, batch, buffers }: Pass, first: number, rows: number, dLogprob: Float32Array): void {
  const { kernels, shape, widths, parameters } = model;
  const { width, vocabulary } = shape;
  const { scores, entropies, dLogprobs, dEntropies, dScores } = buffers;
  const skip = first * 4;
  const stride = widths.scores;
  kernels.logSoftmaxBackward(rows, stride, scores, entropies + skip, dLogprobs + skip, dEntropies + skip, dScores);
  const { f32 } = kernels.heap;
  const { targets, targetHeads } = batch;
  for (let i = 0; i < targets.length; i++) {
    const head = targetHeads[i]! - first;
    if (head >= 0 && head < rows) f32[dScores / 4 + head * stride + targets[i]!]! += dLogprob[i]!;
  }
  const normed = buffers.headNormed + skip * width;
  const { head } = parameters;
  multiply(kernels, head.backward, rows, dScores, buffers.dHeadNormed + skip * width, 0);
  addProduct(kernels, rows, dScores, vocabulary, stride, normed, width, head.gradient, buffers.product);
}
