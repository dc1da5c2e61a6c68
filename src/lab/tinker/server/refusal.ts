import * as z from 'zod';
import { UserError } from '../../../base/user-error.js';

/** Ends a request with an HTTP status and a sentence that says what is wrong with it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;

  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}

export const bugWords = 'This is a bug in memrl serve; its log has the details.';

/**
 * Maps an error of a request to a response: HTTP status and text. null for an error that is no fault of the request.
 */
export function refusalOf(error: unknown): { readonly status: number; readonly detail: string } | null {
  if (error instanceof Refusal) return { status: error.status, detail: error.message };
  if (error instanceof UserError) return { status: 400, detail: `${error.message} ${error.fix}` };
  if (!(error instanceof z.ZodError)) return null;
  const { path, message } = error.issues[0]!;
  const field = path.map(String).join('.') || '(all)';
  return { status: 422, detail: `The field ${field} of the request is wrong: ${message}.` };
}
