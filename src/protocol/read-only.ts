import type { Ack } from './message.js';

/** Why nothing can be done in a window that only looks, in a sentence. */
export const looksOnly = 'This window is read-only.';

export const looksOnlyFix = 'Open one without --read-only.';

/** The answer to whatever a client that only looks asks for. */
export const readOnlyRefusal: Ack = {
  ok: false,
  message: 'this window is read-only',
  fix: looksOnlyFix,
};
