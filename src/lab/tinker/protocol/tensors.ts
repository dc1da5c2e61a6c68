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
  throw new UserError(`A tensor has the type ${dtype}.`, 'Use 1 (float32), 2 (int64), 3 (int32) or 4 (bfloat16).');
}

/** Views the bytes of an array without a copy. */
export function bytesOf(values: Float32Array | Int32Array | BigInt64Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

export function int64Bytes(values: ArrayLike<number>): Uint8Array {
  return bytesOf(BigInt64Array.from(Array.from(values), BigInt));
}
