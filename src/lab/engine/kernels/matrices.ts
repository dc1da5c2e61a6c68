import { alignedBytes } from './heap.js';
import type { Kernels } from './kernels.js';
import { allocateProduct } from './records.js';

/**
 * Depth up to which a panel of 8 columns is read where it lies: 64 rows touch at most the 64 lines that stay in the
 * first cache even when the stride is a power of two. A deeper matrix is packed first. `assembly/gemm.ts` has both numbers.
 */
const directDepth = 64;
/** Rows of activations that `addProduct` multiplies at a time. */
export const blockRows = 256;
/** Floats of the record that `addProduct` keeps before its packed rows. */
const productFloats = 16;

/** A matrix B [depth × columns] in the form `gemm` reads, and the source it is packed from. */
export type Panels = {
  readonly depth: number;
  readonly source: number;
  /** Whether the source is [columns × depth], and is transposed when it is packed. */
  readonly transposed: boolean;
  /** Columns of B that the source has, without the padding of the panels. */
  readonly sourceColumns: number;
  /** Equal to `source` when it is read in place. */
  readonly at: number;
  /** Address of the record of products with this matrix. */
  readonly product: number;
};

/**
 * Panels of the row-major matrix [depth × columns] at `source`; read in place when that is as fast.
 *
 * @param inputRow Floats from one row of the left factor to the next: `depth`, or more when its rows are padded.
 */
export function rowPanels(kernels: Kernels, depth: number, columns: number, source: number, inputRow = depth): Panels {
  const { heap } = kernels;
  const common = { depth, source, transposed: false, sourceColumns: columns };
  const sizes = { columns, depth, aRow: inputRow, aDepth: 1, cRow: columns };
  if (depth <= directDepth) {
    const product = allocateProduct(heap, { ...sizes, b: source, bRow: columns, bPanel: 8 });
    return { ...common, at: source, product };
  }
  const at = heap.allocate(packedSize(depth, columns));
  return { ...common, at, product: allocateProduct(heap, { ...sizes, b: at, bRow: 8, bPanel: 8 * depth }) };
}

/** Panels of the transpose of the row-major matrix [columns × depth] at `source`. */
export function columnPanels(kernels: Kernels, depth: number, columns: number, source: number): Panels {
  const { heap } = kernels;
  const at = heap.allocate(packedSize(depth, columns));
  const padded = Math.ceil(columns / 4) * 4;
  const sizes = { columns: padded, depth, aRow: depth, aDepth: 1, cRow: padded };
  const product = allocateProduct(heap, { ...sizes, b: at, bRow: 8, bPanel: 8 * depth });
  return { depth, source, transposed: true, sourceColumns: columns, at, product };
}

/** Packs the source again, after it has changed. */
export function pack(kernels: Kernels, panels: Panels): void {
  const { depth, sourceColumns, source, at } = panels;
  if (panels.transposed) kernels.packColumns(depth, sourceColumns, source, depth, at);
  else if (at !== source) kernels.packRows(depth, sourceColumns, source, sourceColumns, at);
}

/** y (+)= x · B for `rows` rows of x; a row of y is as long as B has columns. */
export function multiply(
  kernels: Kernels,
  { product }: Panels,
  rows: number,
  x: number,
  y: number,
  accumulate: 0 | 1,
): void {
  kernels.gemm(product, rows, x, y, accumulate);
}

/** Floats of scratch that `addProduct` needs for rows of at most `columns` floats. */
export function productScratch(columns: number): number {
  return productFloats + packedSize(blockRows, columns);
}

function packedSize(depth: number, columns: number): number {
  return alignedBytes(depth * Math.ceil(columns / 8) * 8) / 4;
}
