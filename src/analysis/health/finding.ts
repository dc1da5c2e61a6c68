import { type Ailment, ailments, type RunHealth } from '../../base/run-words.js';

/** A problem of a run, and the evidence for it in words. */
export type Finding = { readonly word: Ailment; readonly reason: string };

/** The one word for a run's health, and the reasons of all findings; null: there are none. */
export type Health = { readonly word: RunHealth; readonly reason: string | null };

export const wellHealth: Health = { word: 'ok', reason: null };

/** Like `healthOf`; a finding both in last values and in the course of a metric is listed once. */
export function joinedHealth(ofLastValues: readonly Finding[], others: readonly Finding[]): Health {
  return healthOf([
    ...ofLastValues,
    ...others.filter(({ word }) => ofLastValues.every((finding) => finding.word !== word)),
  ]);
}

/** The worst finding, in the order of `ailments`; its reason lists the others, each with its word. */
export function healthOf(findings: readonly Finding[]): Health {
  if (findings.length === 0) return wellHealth;
  const [first, ...others] = findings.toSorted((a, b) => ailments.indexOf(a.word) - ailments.indexOf(b.word));
  const { word, reason } = first!;
  return { word, reason: [reason, ...others.map((other) => `${other.word}: ${other.reason}`)].join('; ') };
}

/** The metrics without a finite last value among those that matter: shown or judged ones, and losses. */
export function notFiniteAmong(
  metrics: Readonly<Record<string, number | null>>,
  { show, judged }: { readonly show: readonly string[]; readonly judged: string | undefined },
): string[] {
  const matters = (key: string) => key === judged || show.includes(key) || /loss/i.test(key);
  return Object.keys(metrics).filter((key) => !Number.isFinite(metrics[key]) && matters(key));
}

/** Number of metrics named in a reason before the rest is only counted. */
const NAMED = 3;

/** The problem of a run whose metrics have no finite last value. @param metrics Their last values; null: NaN. */
export function notFiniteFindings(
  names: readonly string[],
  metrics: Readonly<Record<string, number | null>>,
  isOver: boolean,
): Finding[] {
  const [nan, infinite] = [true, false].map((isNan) =>
    names.filter((name) => Number.isNaN(metrics[name] ?? Number.NaN) === isNan),
  ) as [string[], string[]];
  const diverges = isOver ? 'diverged' : 'diverging';
  return [
    ...(nan.length === 0 ? [] : [{ word: 'nan' as const, reason: said(nan, ['is not a number', 'are not numbers']) }]),
    ...(infinite.length === 0
      ? []
      : [{ word: diverges, reason: said(infinite, ['is infinite', 'are infinite']) } as const]),
  ];
}

function said(names: readonly string[], [one, several]: readonly [string, string]): string {
  const rest = names.length - NAMED;
  const list = `${names.slice(0, NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  return `${list} ${names.length === 1 ? one : several}`;
}

/** The health word as it is shown. */
export function healthWord(word: RunHealth): string {
  return shownWords[word] ?? word;
}

const shownWords: Partial<Record<RunHealth, string>> = { nan: 'NaN', limit: 'over limit' };

/** The problem of a run as its row shows it: `silent: no output and no metrics for 12 min`; null: none. */
export function healthText(run: {
  readonly health: RunHealth;
  readonly healthReason?: string | null | undefined;
}): string | null {
  const { health, healthReason: reason = null } = run;
  if (health === 'ok') return null;
  return reason === null ? healthWord(health) : `${healthWord(health)}: ${reason}`;
}
