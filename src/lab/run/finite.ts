import { UserError } from '../../base/user-error.js';

/**
 * Fails a run whose values are no longer finite: later rows would look like a result.
 *
 * @param what Name of the value, for the error: `the loss`.
 * @throws UserError
 */
export function requireFinite(value: number, what: string, step: number): void {
  if (!Number.isFinite(value)) throw divergedError(`${what} is ${value}`, step);
}

/** @throws UserError when a weight is not a finite number. @param step Steps done. */
export function requireFiniteWeights(weights: Float32Array, step: number): void {
  const at = weights.findIndex((weight) => !Number.isFinite(weight));
  if (at >= 0) throw divergedError(`weight ${at} of ${weights.length} is ${weights[at]}`, step);
}

function divergedError(what: string, step: number): UserError {
  return new UserError(
    `The run diverged: at step ${step}, ${what}.`,
    'Try a smaller learning_rate. Earlier checkpoints are kept; nothing of this step is.',
  );
}
