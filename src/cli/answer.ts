import { UserError } from '../base/user-error.js';
import type { Ack } from '../client/fleet.js';

/**
 * What the supervisor has promised to do, in words.
 *
 * @throws {UserError} When it will not.
 */
export function promised(ack: Ack): string {
  if (ack.ok) return ack.message;
  const sentence = ack.message.endsWith('.') ? ack.message : `${ack.message}.`;
  throw new UserError(sentence, ack.fix ?? '`memrl-tui ls` shows where the runs are.');
}
