/**
 * Arguments of kernels that belong together: written into the heap once, and read there by every call. Each is laid out
 * as the class of its name in `assembly/records.ts`; numbers are i32 but where they are said to be floats.
 */
import type { Heap } from './heap.js';

/** C (+)= A·B for any number of rows of A and C. Strides are in floats; see `assembly/gemm.ts`. */
type Product = {
  /** Multiple of 4. */
  readonly columns: number;
  readonly depth: number;
  readonly aRow: number;
  readonly aDepth: number;
  /** Address. */
  readonly b: number;
  readonly bRow: number;
  readonly bPanel: number;
  readonly cRow: number;
};

/** target [leftWidth × rightWidth] += leftᵀ · right, summed over rows. */
type OuterProduct = {
  readonly leftWidth: number;
  /** Floats from one row of the left factor to the next. */
  readonly leftRow: number;
  readonly rightWidth: number;
};

/** Arguments that all attention over one kind of rows shares. */
export type AttentionShape = {
  readonly heads: number;
  /** Divides `heads`; query head h reads kv head h · kvHeads / heads. */
  readonly kvHeads: number;
  readonly headWidth: number;
  /** Floats from one row of queries to the next; of keys and values; of results. */
  readonly qRow: number;
  readonly kvRow: number;
  readonly outRow: number;
  /** Factor of the scores, a float. */
  readonly scale: number;
};

/**
 * Consecutive queries of one sequence, and the rows of keys they see: all shared rows, which several sequences may
 * have in common, and for query i its own rows 0 … ownBefore + i.
 */
export type Span = {
  readonly queries: number;
  /** First of its rows of queries and of results. */
  readonly row: number;
  /** First of the rows of keys that it shares, and their number. */
  readonly shared: number;
  readonly sharedRows: number;
  /** First of its own rows of keys, and how many of them come before the row of the first query. */
  readonly own: number;
  readonly ownBefore: number;
  /** Offset of its probabilities, and their row stride, in floats. */
  readonly p: number;
  readonly pRow: number;
};

/** Rotation of the first `heads` heads of rows by their positions. */
type Rotation = {
  readonly heads: number;
  readonly headWidth: number;
  /** Floats from one row to the next. */
  readonly row: number;
  /** Addresses of the tables, [position × headWidth/2]. */
  readonly cos: number;
  readonly sin: number;
};

/** Settings of one `adam`, floats; bias corrections are in `step` and `epsilon`. */
type AdamSettings = {
  readonly step: number;
  /** 1 − β₁ and 1 − β₂. */
  readonly fresh1: number;
  readonly fresh2: number;
  readonly epsilon: number;
};

/** Floats that a span takes. */
export const spanSize = 8;

export function allocateProduct(heap: Heap, product: Product): number {
  const { columns, depth, aRow, aDepth, b, bRow, bPanel, cRow } = product;
  return allocate(heap, [columns, depth, aRow, aDepth, b, bRow, bPanel, cRow]);
}

export function allocateOuterProduct(heap: Heap, { leftWidth, leftRow, rightWidth }: OuterProduct): number {
  return allocate(heap, [leftWidth, leftRow, rightWidth]);
}

export function allocateAttentionShape(heap: Heap, shape: AttentionShape): number {
  const { heads, kvHeads, headWidth, qRow, kvRow, outRow, scale } = shape;
  const at = allocate(heap, [heads, kvHeads, headWidth, qRow, kvRow, outRow, 0]);
  heap.f32[at / 4 + 6] = scale;
  return at;
}

export function allocateRotation(heap: Heap, { heads, headWidth, row, cos, sin }: Rotation): number {
  return allocate(heap, [heads, headWidth, row, cos, sin]);
}

function allocate(heap: Heap, values: readonly number[]): number {
  const at = heap.allocate(values.length);
  heap.i32.set(values, at / 4);
  return at;
}

export function writeSpan({ i32 }: Heap, at: number, span: Span): void {
  const to = at / 4;
  i32[to] = span.queries;
  i32[to + 1] = span.row;
  i32[to + 2] = span.shared;
  i32[to + 3] = span.sharedRows;
  i32[to + 4] = span.own;
  i32[to + 5] = span.ownBefore;
  i32[to + 6] = span.p;
  i32[to + 7] = span.pRow;
}

export function writeAdamSettings({ f32 }: Heap, at: number, settings: AdamSettings): void {
  const to = at / 4;
  f32[to] = settings.step;
  f32[to + 1] = settings.fresh1;
  f32[to + 2] = settings.fresh2;
  f32[to + 3] = settings.epsilon;
}

// Read by the plain loops; the WebAssembly kernels read the same records.

export function readProduct({ i32 }: Heap, at: number): Product {
  const [columns, depth, aRow, aDepth, b, bRow, bPanel, cRow] = numbers(i32, at, 8);
  return {
    columns: columns!,
    depth: depth!,
    aRow: aRow!,
    aDepth: aDepth!,
    b: b! >>> 0,
    bRow: bRow!,
    bPanel: bPanel!,
    cRow: cRow!,
  };
}

export function readOuterProduct({ i32 }: Heap, at: number): OuterProduct {
  const [leftWidth, leftRow, rightWidth] = numbers(i32, at, 3);
  return { leftWidth: leftWidth!, leftRow: leftRow!, rightWidth: rightWidth! };
}

export function readAttentionShape({ f32, i32 }: Heap, at: number): AttentionShape {
  const [heads, kvHeads, headWidth, qRow, kvRow, outRow] = numbers(i32, at, 6);
  return {
    heads: heads!,
    kvHeads: kvHeads!,
    headWidth: headWidth!,
    qRow: qRow!,
    kvRow: kvRow!,
    outRow: outRow!,
    scale: f32[at / 4 + 6]!,
  };
}

export function readSpans({ i32 }: Heap, at: number, count: number): Span[] {
  return Array.from({ length: count }, (_, index) => {
    const span = numbers(i32, at + index * spanSize * 4, spanSize);
    const [queries, row, shared, sharedRows, own, ownBefore, p, pRow] = span;
    return {
      queries: queries!,
      row: row!,
      shared: shared!,
      sharedRows: sharedRows!,
      own: own!,
      ownBefore: ownBefore!,
      p: p!,
      pRow: pRow!,
    };
  });
}

export function readRotation({ i32 }: Heap, at: number): Rotation {
  const [heads, headWidth, row, cos, sin] = numbers(i32, at, 5);
  return { heads: heads!, headWidth: headWidth!, row: row!, cos: cos! >>> 0, sin: sin! >>> 0 };
}

export function readAdamSettings({ f32 }: Heap, at: number): AdamSettings {
  const [step, fresh1, fresh2, epsilon] = numbers(f32, at, 4);
  return { step: step!, fresh1: fresh1!, fresh2: fresh2!, epsilon: epsilon! };
}

function numbers(memory: Float32Array | Int32Array, at: number, count: number): Float32Array | Int32Array {
  return memory.subarray(at >>> 2, (at >>> 2) + count);
}
