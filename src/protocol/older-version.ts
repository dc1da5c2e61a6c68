/** What is said where a client asks a supervisor of an older version for what that does not know. Requests are only ever added, so it is the older one that does not understand. */
import packageJson from '../../package.json' with { type: 'json' };
import type { Ack } from './message.js';

/** Of this program. */
export const PROGRAM_VERSION: string = packageJson.version;

export const replaceSupervisor = '`memrl-tui restart` replaces it with this version; its runs continue.';

/** @param version What it said it is; null: nothing, as all up to 0.1.0. */
export function olderVersion(version: string | null): Extract<Ack, { ok: false }> {
  const told = version ?? '0.1.0 or earlier';
  const message = `the supervisor is an older version of memrl-tui (${told}) and does not know this request`;
  return { ok: false, message, fix: replaceSupervisor };
}
