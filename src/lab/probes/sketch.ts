/**
 * A sketch of long vectors that preserves scalar products on average: r signed sums instead of D numbers.
 *
 * The signs are those of a subsampled randomised Hadamard transform (Ailon & Chazelle 2006; Tropp 2011): column signs
 * drawn at random, then r rows of a Hadamard matrix of the next power of two n ≥ D. Every entry is ±1, so E[⟨sketch a,
 * sketch b⟩] = a·b and the error falls as 1/√r. With r = n the rows are orthogonal and products are exact. A vector
 * costs n log₂ n additions, whatever r is.
 */
import type { Floats } from '../engine/engine.js';
import { rng, shuffle } from '../rng.js';

/** r numbers; each entry-wise product of two sketches is an unbiased estimate of the product of the vectors. */
type Sketch = Float64Array;

/** @param rows r; at least 2, and no more than the next power of two of `size`. */
export function sketcher(size: number, rows: number, seed: number): (vector: Floats, scale?: Floats) => Sketch {
  const length = 2 ** Math.ceil(Math.log2(size));
  const random = rng(seed, 'sketch');
  const signs = Int8Array.from({ length: size }, () => (random.next() < 0.5 ? -1 : 1));
  const chosen = shuffle(
    Array.from({ length }, (_, row) => row),
    random,
  ).slice(0, rows);
  return (vector, scale) => {
    const signed = new Float64Array(length);
    for (let at = 0; at < size; at++) signed[at] = vector[at]! * signs[at]! * (scale === undefined ? 1 : scale[at]!);
    transform(signed);
    return Float64Array.from(chosen, (row) => signed[row]!);
  };
}

/** @param length n of the transform. If given, the error accounts for rows drawn without replacement. */
export function sketchedProduct(a: Sketch, b: Sketch, length = Infinity): { value: number; standardError: number } {
  const rows = a.length;
  let [sum, squares] = [0, 0];
  for (let row = 0; row < rows; row++) sum += a[row]! * b[row]!;
  const value = sum / rows;
  for (let row = 0; row < rows; row++) squares += (a[row]! * b[row]! - value) ** 2;
  const left = Math.max(0, 1 - rows / length);
  return { value, standardError: Math.sqrt((left * squares) / (rows - 1) / rows) };
}

/** The Walsh–Hadamard transform in place, without normalisation. `values`: a power of two of them. */
function transform(values: Float64Array): void {
  for (let half = 1; half < values.length; half *= 2) {
    for (let from = 0; from < values.length; from += 2 * half) {
      for (let at = from; at < from + half; at++) {
        const [a, b] = [values[at]!, values[at + half]!];
        values[at] = a + b;
        values[at + half] = a - b;
      }
    }
  }
}
