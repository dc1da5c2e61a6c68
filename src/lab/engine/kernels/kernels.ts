import type { Heap } from './heap.js';

/**
 * The arithmetic under the model, on one heap. Two sets exist: WebAssembly SIMD, and plain loops that are its test and
 * its fallback. What each kernel computes is told once, beside its AssemblyScript source in `assembly/`.
 *
 * Addresses are bytes; counts, widths and strides are numbers of floats. Widths are multiples of 4, a vocabulary is any
 * number (its rows are padded). The bits of a row never depend on the other rows of the call.
 */
export type Kernels = {
  readonly backend: 'wasm' | 'loops';
  readonly heap: Heap;
  /** Another set of this kind, on a heap of its own. */
  fresh(): Promise<Kernels>;

  zero(count: number, at: number): void;
  copy(count: number, from: number, to: number): void;
  /** x · factor, in place. */
  scale(count: number, at: number, factor: number): void;
  /** to += factor · from. */
  addScaled(count: number, factor: number, from: number, to: number): void;
  sumSquares(count: number, at: number): number;
  /** to[i] = table[ids[i]]. */
  gatherRows(rows: number, width: number, ids: number, table: number, to: number): void;
  /** table[ids[i]] += from[i]. */
  scatterAddRows(rows: number, width: number, ids: number, from: number, table: number): void;

  /** C (+)= A·B; B in panels of 8 columns, see `assembly/gemm.ts`. */
  gemm(
    rows: number,
    columns: number,
    depth: number,
    a: number,
    aRow: number,
    aDepth: number,
    b: number,
    bRow: number,
    bPanel: number,
    c: number,
    cRow: number,
    accumulate: 0 | 1,
  ): void;
  /** Panels of B [depth × columns]. */
  packRows(depth: number, columns: number, from: number, stride: number, to: number): void;
  /** Panels of the transpose of `from` [columns × depth]. */
  packColumns(depth: number, columns: number, from: number, stride: number, to: number): void;

  rmsNorm(rows: number, width: number, x: number, w: number, y: number, scale: number, epsilon: number): void;
  /** dx += and dw +=. */
  rmsNormBackward(
    rows: number,
    width: number,
    dy: number,
    x: number,
    w: number,
    scale: number,
    dx: number,
    dw: number,
  ): void;
  /** In place. `direction` is 1, or −1 for the derivative. */
  rope(
    rows: number,
    heads: number,
    headWidth: number,
    x: number,
    xRow: number,
    positions: number,
    cos: number,
    sin: number,
    direction: 1 | -1,
  ): void;

  /** Queries of one sequence over shared rows and own rows; keeps the probabilities in p. */
  attention(
    heads: number,
    kvHeads: number,
    headWidth: number,
    queries: number,
    q: number,
    qRow: number,
    shared: number,
    sharedRows: number,
    own: number,
    ownBefore: number,
    kvRow: number,
    p: number,
    pRow: number,
    out: number,
    outRow: number,
    scale: number,
  ): void;
  /** Adds to dq, and to dk and dv of the shared and the own rows. */
  attentionBackward(
    heads: number,
    kvHeads: number,
    headWidth: number,
    queries: number,
    q: number,
    qRow: number,
    shared: number,
    sharedRows: number,
    own: number,
    kvRow: number,
    p: number,
    pRow: number,
    dOut: number,
    outRow: number,
    dq: number,
    dShared: number,
    dOwn: number,
    scale: number,
    scratch: number,
  ): void;

  swiglu(rows: number, width: number, gateUp: number, y: number): void;
  swigluBackward(rows: number, width: number, dy: number, gateUp: number, dGateUp: number): void;

  /** In place: scores become log-probabilities. */
  logSoftmax(rows: number, vocabulary: number, stride: number, scores: number, entropies: number): void;
  /** The derivative by the scores, less the chosen tokens' own terms. */
  logSoftmaxBackward(
    rows: number,
    stride: number,
    logprobs: number,
    entropies: number,
    dLogprobs: number,
    dEntropies: number,
    dScores: number,
  ): void;
  /** A token by inverse CDF; the most likely one when `inverseTemperature` is Infinity. */
  sample(
    vocabulary: number,
    stride: number,
    logprobs: number,
    uniform: number,
    inverseTemperature: number,
    scratch: number,
  ): number;

  /** Cuts a row of log-probabilities to the `most` likeliest tokens, of these to `share`, and normalises it again. */
  keepLikeliest(stride: number, logprobs: number, most: number, share: number, scratch: number): void;

  /** One step with the `AdamSettings` at `settings`. Zeroes the gradient. */
  adam(count: number, weights: number, gradient: number, m: number, v: number, settings: number): void;
};
