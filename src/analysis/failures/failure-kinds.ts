import { groupBy } from '../../base/group-by.js';
import { errorOf, isUnhealthy, type RunHealth, type RunWord } from '../../base/run-words.js';
import type { Parameters } from '../../base/scalar.js';
import { lineText } from '../../text/display-text.js';
import { countText } from '../../text/numbers.js';
import { healthWord } from '../health/finding.js';
import { causesOfFailure, chanceText, conditionsText, type FailureCause } from './failure-causes.js';

/** A run with what went wrong in it. `trouble`: the kind of that; null: nothing did. `error`: the message itself, where it has one. */
type TroubledRun = {
  readonly parameters: Parameters;
  readonly state: RunWord;
  readonly trouble: string | null;
  readonly error: string | null;
};

/** The most certain cause of one kind of failure. */
export type FoundCause = {
  /** Null: no parameter is associated with the failure beyond chance. */
  readonly cause: FailureCause | null;
  /** Whether only a sample of the runs was examined. */
  readonly isSampled: boolean;
};

/** What went wrong in the same way in some runs. `words`: the message where it is a single run, else what the messages share. */
export type FailureKind<Run> = { readonly words: string; readonly runs: readonly Run[]; readonly found: FoundCause };

/** Maximum number of runs examined at once, about 100 ms of work. */
const MOST_COMPARED = 5000;
/** Limit on the kinds whose cause is searched for. */
const MOST_CAUSES = 12;
const UNKNOWN: FoundCause = { cause: null, isSampled: false };

/** The kinds of failure among these runs, the most frequent first, each with the parameters behind it. */
export function failureKinds<Run extends TroubledRun>(runs: readonly Run[]): FailureKind<Run>[] {
  const troubled = runs.filter(({ trouble }) => trouble !== null);
  return [...groupBy(troubled, ({ trouble }) => trouble!)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([kind, own], place) => ({
      words: lineText(own.length === 1 ? (own[0]!.error ?? kind) : kind),
      runs: own,
      found: place < MOST_CAUSES ? causeOfKind(own, runs) : UNKNOWN,
    }));
}

/** The kinds of error among failed runs alone: what is wrong with others, their health says. */
export function errorKinds<Run extends Pick<TroubledRun, 'parameters' | 'state'> & { readonly reason: string | null }>(
  runs: readonly Run[],
): FailureKind<Run>[] {
  return failureKinds(
    runs.map((run) => {
      const error = errorOf(run);
      return { ...run, error, trouble: error === null ? null : kindOfError(error) };
    }),
  );
}

/** The cause of one kind of failure. @param runs All of which the done ones are compared with this kind. */
export function causeOfKind<Run extends Pick<TroubledRun, 'parameters' | 'state'>>(
  kind: readonly Run[],
  runs: readonly Run[],
): FoundCause {
  const ofKind = new Set(kind);
  const done = runs.filter((run) => run.state === 'done' && !ofKind.has(run));
  const every = Math.ceil((kind.length + done.length) / MOST_COMPARED);
  const some = (all: readonly Run[], failed: boolean) =>
    all.filter((_, index) => index % every === 0).map(({ parameters }) => ({ parameters, failed }));
  const [cause = null] = causesOfFailure([...some(kind, true), ...some(done, false)]);
  return { cause, isSampled: every > 1 };
}

/** `lr=1 (6 of 6 runs, else 0 of 12; p < 1e-3)`; null: chance may explain it. */
export function causeText({ cause, isSampled }: FoundCause): string | null {
  if (cause === null) return null;
  const { conditions, inside, outside, log10P } = cause;
  const share = `${countText(inside.failed)} of ${countText(inside.runs)}${isSampled ? ' sampled' : ''} runs`;
  const others = `else ${countText(outside.failed)} of ${countText(outside.runs)}`;
  return `${conditionsText(conditions)} (${share}, ${others}; ${chanceText(log10P)})`;
}

/** The kind of error of a failed run, or otherwise its health problem; null: neither. */
export function troubleOf(run: { state: RunWord; reason: string | null; health: RunHealth }): string | null {
  const error = errorOf(run);
  if (error !== null) return kindOfError(error);
  return isUnhealthy(run) ? healthWord(run.health) : null;
}

/** Cache of kinds by error text, because the same texts recur with each publication and grouping. */
const kinds = new Map<string, string>();
const MOST_KINDS = 20_000;

/** The kind of an error message; an empty message is its own kind. */
export function kindOfError(error: string): string {
  let kind = kinds.get(error);
  if (kind === undefined) {
    if (kinds.size >= MOST_KINDS) kinds.clear();
    kinds.set(error, (kind = errorKind(error) || 'no message'));
  }
  return kind;
}

/** `6 × ValueError: the loss has exploded at step <n>, with lr=1 (6 of 6 runs, else 0 of 12; p < 1e-3)`. */
export function failureSentence<Run>({ words, runs, found }: FailureKind<Run>): string {
  const cause = causeText(found);
  return `${countText(runs.length)} × ${words}${cause === null ? '' : `, with ${cause}`}`;
}

/**
 * Patterns of text that differs between occurrences of an error, and its replacement. Later masks see the result of earlier ones.
 */
const masks: readonly (readonly [RegExp, string])[] = [
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s'"<>)\]]+/gi, '<url>'],
  [/(?<![\w.])(?:~|\.{1,2}|[A-Za-z]:)?(?:[\\/][\w.@+=~-]+){2,}[\\/]?/g, '<path>'],
  [/(?<![\w.])(?:~|\.{1,2})[\\/][\w.@+=~-]+/g, '<path>'],
  [/\b0x[0-9a-f]+\b/gi, '<hex>'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '<id>'],
  // An id has a digit among its letters (`deadbeef1`, not `effaced`), and is not part of a number such as `1.2345678e-30`.
  [/(?<![\w.])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}(?!\w|\.\d|[+-]\d)/gi, '<id>'],
  // A number is not part of a name, as in `float16` or `conv2d`; a unit may follow (`20.5GiB`).
  [/(?<![A-Za-z_\d.])[+-]?\d+(?:[.,_]\d+)*(?:e[+-]?\d+)?(?![\d_])/gi, '#'],
  // Shapes of any length: `[32, 128]`, `32x128x3`.
  [/#(?:\s*(?:,|x|×)\s*#)+/g, '#, …'],
  [/\s+/g, ' '],
];
/** Length limit of a kind, in characters; errors differ near their beginning. */
const LONGEST = 200;

/**
 * The kind of an error: its text with numbers, paths, addresses and ids masked, so that the same failure of two runs is one
 * kind. `CUDA out of memory. Tried to allocate 2.50 GiB` → `CUDA out of memory. Tried to allocate # GiB`.
 */
export function errorKind(text: string): string {
  const masked = masks.reduce((rest, [pattern, stand]) => rest.replace(pattern, stand), text.slice(0, 10 * LONGEST));
  return masked.trim().slice(0, LONGEST);
}
