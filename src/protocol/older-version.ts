/**
 * The refusal of a request that an older supervisor does not know. Requests are only ever added, so it is always the older side
 * that does not understand.
 */
import packageJson from '../../package.json' with { type: 'json' };
import type { Ack } from './message.js';

/** The version of this program. */
export const PROGRAM_VERSION: string = packageJson.version;

export const replaceSupervisor = '`memrl-tui restart` replaces it with this version; its runs continue.';

/** @param version The version that the supervisor sent; null: it sent none, as all up to 0.1.0. */
export function olderVersion(version: string | null): Extract<Ack, { ok: false }> {
  const told = version ?? '0.1.0 or earlier';
  const message = `the supervisor is an older version of memrl-tui (${told}) and does not know this request`;
  return { ok: false, message, fix: replaceSupervisor };
}
