/** Reads and writes the numbers of a tensor: little-endian bytes with a type. */
import { UserError } from '../../../base/user-error.js';

/** Codes of the element types in the protocol. */
export const dtypes = { float32: 1, int64: 2, int32: 3, bfloat16: 4 } as const;

/** A tensor whose numbers have been read; int64 numbers become floats. */
export type Tensor = {
  readonly values: Float32Array | Int32Array | Float64Array;
  readonly shape: readonly number[];
};

/** Decodes the elements. @throws UserError when the bytes are not a whole number of elements. */
export function numbersOf(bytes: Uint8Array, dtype: number): Tensor['values'] {
  const size = sizeOf(dtype);
  if (bytes.length % size !== 0) {
    throw new UserError(
      `A tensor has ${bytes.length} bytes, which is no multiple of ${size}.`,
      'Send whole numbers of its type.',
    );
  }
  // A copy, because a view must begin at a multiple of the element's size.
  const { buffer } = new Uint8Array(bytes);
  switch (dtype) {
    case dtypes.float32:
      return new Float32Array(buffer);
    case dtypes.int32:
      return new Int32Array(buffer);
    case dtypes.int64:
      return Float64Array.from(new BigInt64Array(buffer), Number);
    default:
      return new Float32Array(Uint32Array.from(new Uint16Array(buffer), (bits) => bits << 16).buffer);
  }
}

function sizeOf(dtype: number): number {
  const size = { [dtypes.float32]: 4, [dtypes.int64]: 8, [dtypes.int32]: 4, [dtypes.bfloat16]: 2 }[dtype];
  if (size !== undefined) return size;
  throw new UserError(
    `The tensor type ${dtype} is not supported.`,
    'Use 1 (float32), 2 (int64), 3 (int32) or 4 (bfloat16).',
  );
}

/** Limit of the size of a sparse tensor made dense, so that no small request becomes a large one. */
const MOST_DENSE = 2 ** 26;

/**
 * A sparse matrix (CSR) made dense.
 * @param sparse.rows Start of each row's numbers, and the end of the last.
 * @throws UserError when the indices do not fit the shape.
 */
export function denseOf(
  { values, rows, columns }: { values: Tensor['values']; rows: ArrayLike<number>; columns: ArrayLike<number> },
  shape: readonly number[],
): Tensor {
  requirePlaces({ count: values.length, rows, columns }, shape);
  const [height = 0, width = 0] = shape;
  const dense = new (values.constructor as Float32ArrayConstructor)(height * width);
  for (let row = 0; row < height; row++) {
    for (let at = rows[row]!; at < rows[row + 1]!; at++) dense[row * width + columns[at]!] = values[at]!;
  }
  return { values: dense, shape };
}

/** @throws UserError when the indices of a sparse matrix do not fit its shape. */
export function requirePlaces(
  { count, rows, columns }: { count: number; rows: ArrayLike<number>; columns: ArrayLike<number> },
  shape: readonly number[],
): void {
  const [height = 0, width = 0] = shape;
  const isMatrix = shape.length === 2 && height * width <= MOST_DENSE && rows.length === height + 1;
  const isOrdered = Array.from(rows).every((start, row) => row === 0 || start >= rows[row - 1]!);
  const isInside = Array.from(columns).every((column) => column >= 0 && column < width);
  const ends = [rows[0], rows[height], columns.length];
  if (isMatrix && isOrdered && isInside && ends.every((end, at) => end === [0, count, count][at])) return;
  throw new UserError(
    `The indices of a sparse tensor do not fit its shape [${shape.join(', ')}].`,
    `Send CSR of two dimensions and at most ${MOST_DENSE} numbers with its zeros, or send it dense.`,
  );
}

/** Views the bytes of an array without a copy. */
export function bytesOf(values: Float32Array | Int32Array | BigInt64Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

export function int64Bytes(values: ArrayLike<number>): Uint8Array {
  return bytesOf(BigInt64Array.from(Array.from(values), BigInt));
}
