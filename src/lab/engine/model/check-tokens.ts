import { UserError } from '../../../base/user-error.js';
import type { ModelShape } from '../engine.js';

/** Throws a UserError when there is no token, or one that the vocabulary does not have. `what`: "A prompt". */
export function checkTokens(shape: ModelShape, tokens: ArrayLike<number>, what: string): void {
  if (tokens.length === 0) throw new UserError(`${what} has no tokens.`, 'Give at least one token.');
  for (let i = 0; i < tokens.length; i++) checkToken(shape, tokens[i]!, what);
}

export function checkToken({ vocabulary }: ModelShape, token: number, what: string): void {
  if (Number.isInteger(token) && token >= 0 && token < vocabulary) return;
  throw new UserError(
    `${what} contains ${token}, which is not a token of this model.`,
    `Use whole numbers from 0 to ${vocabulary - 1}, or a model with a larger vocabulary.`,
  );
}
