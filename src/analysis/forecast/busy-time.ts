import { hasEnded, type RunWord } from '../../base/run-words.js';

/** The times of a run that count, Unix ms: those of its last attempt, and in `earlier` those of the attempts before. */
type Lived = {
  readonly state: RunWord;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly earlier?: readonly (readonly [since: number, at: number])[] | undefined;
};

/** Milliseconds for which a run has been up so far, in all its attempts; null before its first start. `now`: Unix ms. */
export function elapsedMs({ state, startedAt, endedAt, earlier = [] }: Lived, now: number): number | null {
  if (startedAt === null && earlier.length === 0) return null;
  const last = startedAt === null ? 0 : Math.max(0, (hasEnded(state) ? (endedAt ?? now) : now) - startedAt);
  return earlier.reduce((sum, [since, at]) => sum + Math.max(0, at - since), last);
}

/**
 * The time in which at least one of some runs was up: nights between two launches do not count. `since`: start of the present
 * stretch, Unix ms; null: none of them is up. `ms`: total of the stretches before.
 */
export type BusyTime = { readonly ms: number; readonly since: number | null };

/** The busy time of some runs; null: none has started, or its start is unknown. */
export function busyTimeOf(runs: readonly Lived[]): BusyTime | null {
  // What begins after the first of those that are up lies within its stretch.
  let first = Infinity;
  for (const { state, startedAt } of runs)
    if (startedAt !== null && startedAt < first && !hasEnded(state)) first = startedAt;
  const begins = ({ startedAt, earlier }: Lived) => (startedAt !== null && startedAt <= first) || earlier !== undefined;
  const spans = runs
    .filter(begins)
    .flatMap(spansOf)
    .sort((a, b) => a.from - b.from);
  if (spans.length === 0) return null;
  let ms = 0;
  let { from, to } = spans[0]!;
  for (const next of spans) {
    if (next.from > to) {
      ms += to - from;
      ({ from, to } = next);
    } else to = Math.max(to, next.to);
  }
  return to === Infinity ? { ms, since: from } : { ms: ms + to - from, since: null };
}

/** The busy time up to a moment (`now`, Unix ms). */
export function busyMs({ ms, since }: BusyTime, now: number): number {
  return ms + (since === null ? 0 : Math.max(0, now - since));
}

function spansOf({ state, startedAt, endedAt, earlier = [] }: Lived): { from: number; to: number }[] {
  const spans = earlier.map(([since, at]) => ({ from: since, to: Math.max(since, at) }));
  if (startedAt === null || (hasEnded(state) && endedAt === null)) return spans;
  return [...spans, { from: startedAt, to: hasEnded(state) ? Math.max(startedAt, endedAt!) : Infinity }];
}
