import { alignedBytes } from './heap.js';
import type { Kernels } from './kernels.js';

/**
 * Depth up to which a panel of 8 columns is read where it lies: 64 rows touch at most the 64 lines that stay in the
 * first cache even when the stride is a power of two. A deeper matrix is packed first.
 */
const directDepth = 64;
/** Rows of activations that are multiplied at a time into a weight gradient, so that their panels stay in cache. */
const blockRows = 256;

/** A matrix B [depth × columns] in the form `gemm` reads, and where it is packed from. */
export type Panels = {
  readonly depth: number;
  /** Floats from one row of the left factor to the next: `depth`, or more when its rows are padded. */
  readonly inputRow: number;
  /** Multiple of 4. */
  readonly columns: number;
  readonly source: number;
  /** The source is [columns × depth] and is transposed on packing. `sourceColumns` of its rows exist. */
  readonly transposed: boolean;
  readonly sourceColumns: number;
  /** Equal to `source` when it is read in place. */
  readonly at: number;
  readonly row: number;
  readonly panel: number;
};

/** Panels of the row-major matrix [depth × columns] at `source`; read in place when that is as fast. */
export function rowPanels(kernels: Kernels, depth: number, columns: number, source: number, inputRow = depth): Panels {
  const common = { depth, inputRow, columns, source, transposed: false, sourceColumns: columns };
  if (depth <= directDepth) return { ...common, at: source, row: columns, panel: 8 };
  return { ...common, at: kernels.heap.allocate(packedSize(depth, columns)), row: 8, panel: 8 * depth };
}

/** Panels of the transpose of the row-major matrix [columns × depth] at `source`. */
export function columnPanels(kernels: Kernels, depth: number, columns: number, source: number): Panels {
  const at = kernels.heap.allocate(packedSize(depth, columns));
  const padded = Math.ceil(columns / 4) * 4;
  return {
    depth,
    inputRow: depth,
    columns: padded,
    source,
    transposed: true,
    sourceColumns: columns,
    at,
    row: 8,
    panel: 8 * depth,
  };
}

/** Brings the packed copy up to date with its source. */
export function pack(kernels: Kernels, panels: Panels): void {
  const { depth, sourceColumns, source, at } = panels;
  if (panels.transposed) kernels.packColumns(depth, sourceColumns, source, depth, at);
  else if (at !== source) kernels.packRows(depth, sourceColumns, source, sourceColumns, at);
}

/** y (+)= x · B for `rows` rows of x; a row of y is as long as B has columns. */
export function multiply(
  kernels: Kernels,
  { depth, inputRow, columns, at, row, panel }: Panels,
  rows: number,
  x: number,
  y: number,
  accumulate: 0 | 1,
): void {
  kernels.gemm(rows, columns, depth, x, inputRow, 1, at, row, panel, y, columns, accumulate);
}

/** Floats of scratch that `addProduct` needs for rows of at most `columns` floats. */
export function productScratch(columns: number): number {
  return packedSize(blockRows, columns);
}

/**
 * target [left width × right width] += leftᵀ · right, summed over rows: the gradient of a weight matrix.
 *
 * @param leftStride Floats from one row of `left` to the next, at least its width.
 */
export function addProduct(
  kernels: Kernels,
  rows: number,
  left: number,
  leftWidth: number,
  leftStride: number,
  right: number,
  rightWidth: number,
  target: number,
  scratch: number,
): void {
  for (let first = 0; first < rows; first += blockRows) {
    const depth = Math.min(blockRows, rows - first);
    const a = left + first * leftStride * 4;
    const b = right + first * rightWidth * 4;
    const direct = depth <= directDepth;
    if (!direct) kernels.packRows(depth, rightWidth, b, rightWidth, scratch);
    kernels.gemm(
      leftWidth,
      rightWidth,
      depth,
      a,
      1,
      leftStride,
      direct ? b : scratch,
      direct ? rightWidth : 8,
      direct ? 8 : 8 * depth,
      target,
      rightWidth,
      1,
    );
  }
}

function packedSize(depth: number, columns: number): number {
  return alignedBytes(depth * Math.ceil(columns / 8) * 8) / 4;
}
