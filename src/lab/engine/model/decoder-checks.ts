/** What may be asked of a decoder; everything else is refused before it does harm. */
import { UserError } from '../../../base/user-error.js';
import type { Model } from './model.js';

export function checkCount(sequences: number): void {
  if (Number.isSafeInteger(sequences) && sequences > 0) return;
  throw new UserError(`A decoder cannot have ${sequences} sequences.`, 'Ask for a whole number above 0.');
}

export function checkContext({ shape }: Model, length: number): void {
  if (length <= shape.context) return;
  throw new UserError(
    `A sequence of ${length} tokens is longer than the model's context, ${shape.context}.`,
    `Stop the sequence earlier, or make the model with \`context\` ${length} or more.`,
  );
}

export function checkDraw(uniforms: readonly number[], temperature: number, sequences: number): void {
  if (uniforms.length !== sequences) throw wrongCount('uniform numbers', uniforms.length, sequences);
  for (const uniform of uniforms) {
    if (Number.isNaN(uniform) || (uniform >= 0 && uniform < 1)) continue;
    throw new UserError(`${uniform} is not in [0, 1).`, 'Draw from a stream of uniform numbers, or give NaN to skip.');
  }
  if (temperature >= 0 && temperature < Infinity) return;
  throw new UserError(
    `The temperature ${temperature} is not a number from 0 up.`,
    'Use 1, or 0 for the likeliest token.',
  );
}

export function wrongCount(what: string, given: number, wanted: number): UserError {
  return new UserError(`${given} ${what} were given for ${wanted} sequences.`, 'Give one for each sequence.');
}
