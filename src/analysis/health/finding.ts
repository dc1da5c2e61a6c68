import { type Ailment, ailments, type RunHealth } from '../../base/run-words.js';

/** Something that is wrong with a run, and how that is seen, in words for a person. */
export type Finding = { readonly word: Ailment; readonly reason: string };

/** The one word for a run, and the reasons of all that was found; null: nothing was. */
export type Health = { readonly word: RunHealth; readonly reason: string | null };

export const wellHealth: Health = { word: 'ok', reason: null };

/** The first of what was found, in the order of `ailments`; what else holds stands behind its reason, each with its word. */
export function healthOf(findings: readonly Finding[]): Health {
  if (findings.length === 0) return wellHealth;
  const [first, ...others] = findings.toSorted((a, b) => ailments.indexOf(a.word) - ailments.indexOf(b.word));
  const { word, reason } = first!;
  return { word, reason: [reason, ...others.map((other) => `${other.word}: ${other.reason}`)].join('; ') };
}

/** The word as a person reads it. */
export function healthWord(word: RunHealth): string {
  return word === 'nan' ? 'NaN' : word;
}

/** What is wrong with a run, as its row tells it: `silent: no output and no metrics for 12 min`; null: nothing. */
export function healthText(run: {
  readonly health: RunHealth;
  readonly healthReason?: string | null | undefined;
}): string | null {
  const { health, healthReason: reason = null } = run;
  if (health === 'ok') return null;
  return reason === null ? healthWord(health) : `${healthWord(health)}: ${reason}`;
}
