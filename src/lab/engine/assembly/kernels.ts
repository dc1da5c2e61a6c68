/**
 * The lab's kernels: single-precision SIMD loops on one linear memory that the host owns and lays out.
 *
 * AssemblyScript, not TypeScript. Addresses are bytes (`usize`), 16-byte aligned; counts, widths and row strides are
 * numbers of floats. Widths are multiples of 4 unless a kernel says otherwise. No kernel allocates or keeps state, and
 * the value of a row never depends on the other rows of the call, so a token gets the same bits in any batch.
 */
export { addScaled, copy, gatherRows, heapBase, scale, scatterAddRows, sumSquares, zero } from './memory';
export { addProduct, gemm, packAt, packingBytes } from './gemm';
export { packColumns, packRows } from './packing';
export { rmsNorm, rmsNormBackward } from './rms-norm';
export { rope } from './rope';
export { appendKeys, attention, gatherProbabilities } from './attention';
export { attentionBackward } from './attention-backward';
export { swiglu, swigluBackward } from './swiglu';
export { keepLikeliest, logSoftmax, logSoftmaxBackward, sample } from './softmax';
export { adam } from './adam';
