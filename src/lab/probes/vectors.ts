/** Sums over vectors, in double precision. Σ a_i b_i, or Σ p_i a_i b_i with a preconditioner. */
export function dot(a: ArrayLike<number>, b: ArrayLike<number>, p?: ArrayLike<number>): number {
  let sum = 0;
  if (p === undefined) for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!;
  else for (let at = 0; at < a.length; at++) sum += p[at]! * a[at]! * b[at]!;
  return sum;
}

/** The Euclidean norm. */
export function norm(vector: ArrayLike<number>): number {
  return Math.sqrt(dot(vector, vector));
}
