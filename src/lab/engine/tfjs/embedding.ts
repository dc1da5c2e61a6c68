import type { Device, Tensor } from './device.js';

/**
 * The derivative by a table, given those by rows looked up in it: `table[ids[i]] += dRows[i]`, on zeros.
 *
 * A product with a matrix of ones and zeros adds up the rows of the same id, always in the same order (a scattered sum on
 * a GPU has any); it has a row for each different id, not for the whole table.
 */
export function lookupBackward(device: Device, ids: readonly number[], dRows: Tensor, tableRows: number): Tensor {
  const { tf } = device;
  const different = [...new Set(ids)];
  const places = tf.reshape(device.ids(different), [-1, 1]);
  const size: [number, number] = [tableRows, dRows.shape[1]!];
  if (different.length === ids.length) return tf.scatterND(places, dRows, size);
  const isSame = tf.equal(places, tf.reshape(device.ids(ids), [1, -1]));
  const sums = device.product(tf.cast(isSame, 'float32'), dRows);
  return tf.scatterND(places, sums, size);
}
