import type { Heap } from './heap.js';

/**
 * The arithmetic under the model, on one heap. Two sets exist: WebAssembly SIMD, and plain loops that are its test and
 * its fallback. Each kernel is documented once, beside its AssemblyScript source in `assembly/`.
 *
 * Arguments that calls share lie in records on the heap, see `records.ts`. Addresses are bytes; counts, widths and
 * strides are numbers of floats. Widths are multiples of 4, a vocabulary is any number (its rows are padded). The bits
 * of a row never depend on the other rows of the call.
 */
export type Kernels = {
  readonly backend: 'wasm' | 'loops' | 'float64';
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

  /** C (+)= A·B with the `Product` at `product`; B in panels of 8 columns, see `assembly/gemm.ts`. */
  gemm(product: number, rows: number, a: number, c: number, accumulate: 0 | 1): void;
  /** target += leftᵀ · right with the `OuterProduct` at `outer`: the gradient of a weight matrix. */
  addProduct(outer: number, rows: number, left: number, right: number, target: number, scratch: number): void;
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
  /** Rotates in place, with the `Rotation` at `rotation`. `direction` is 1, or −1 for the derivative. */
  rope(rotation: number, rows: number, x: number, positions: number, direction: 1 | -1): void;

  // The next four take the `AttentionShape` at `shape` and `count` of the `Span`s at `spans`.

  /** Copies the keys and values of all queries, in rows as long as those of queries, to the spans' own rows of `keys`. */
  appendKeys(shape: number, spans: number, count: number, from: number, keys: number): void;
  /** Copies the probabilities of all queries; `rows` and `places` give query i's row of `from` (see `Tape`). */
  gatherProbabilities(
    heads: number,
    spans: number,
    count: number,
    rows: number,
    places: number,
    from: number,
    to: number,
  ): void;
  /** Keeps the probabilities in p. */
  attention(shape: number, spans: number, count: number, q: number, keys: number, p: number, out: number): void;
  /** Adds to dq and dKeys. */
  attentionBackward(
    shape: number,
    spans: number,
    count: number,
    q: number,
    keys: number,
    p: number,
    dOut: number,
    dq: number,
    dKeys: number,
    scratch: number,
  ): void;

  swiglu(rows: number, width: number, gateUp: number, y: number): void;
  swigluBackward(rows: number, width: number, dy: number, gateUp: number, dGateUp: number): void;

  /** Turns scores into log-probabilities, in place. */
  logSoftmax(rows: number, vocabulary: number, stride: number, scores: number, entropies: number): void;
  /** The derivative w.r.t. the scores, less the chosen tokens' own terms. */
  logSoftmaxBackward(
    rows: number,
    stride: number,
    logprobs: number,
    entropies: number,
    dLogprobs: number,
    dEntropies: number,
    dScores: number,
  ): void;
  /** Draws a token by inverse CDF; the most likely one when `inverseTemperature` is Infinity. */
  sample(
    vocabulary: number,
    stride: number,
    logprobs: number,
    uniform: number,
    inverseTemperature: number,
    scratch: number,
  ): number;

  /**
   * Cuts a row of log-probabilities to the `most` likeliest tokens, then to probability `share`, and normalises it
   * again.
   */
  keepLikeliest(stride: number, logprobs: number, most: number, share: number, scratch: number): void;

  /** Takes one step with the `AdamSettings` at `settings`. Zeroes the gradient, and returns the sum of its squares. */
  adam(count: number, weights: number, gradient: number, m: number, v: number, settings: number): number;
};
