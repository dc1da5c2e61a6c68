import { hasEnded, type RunWord } from '../../base/run-words.js';

/** What is looked at in a run. Times: Unix ms, of its last attempt; `earlier`: of those before. */
type Lived = {
  readonly state: RunWord;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly earlier?: readonly (readonly [since: number, at: number])[] | undefined;
};

/** Milliseconds a run has taken so far or took, in all its attempts; null before it started. `now`: Unix ms. */
export function elapsedMs({ state, startedAt, endedAt, earlier = [] }: Lived, now: number): number | null {
  if (startedAt === null && earlier.length === 0) return null;
  const last = startedAt === null ? 0 : Math.max(0, (hasEnded(state) ? (endedAt ?? now) : now) - startedAt);
  return earlier.reduce((sum, [since, at]) => sum + Math.max(0, at - since), last);
}

/**
 * The time in which at least one of some runs was up: nights between two launches do not count. `since`: when the stretch began
 * that is not over, Unix ms; null: none of them is up. `ms`: of the stretches before.
 */
export type BusyTime = { readonly ms: number; readonly since: number | null };

/** Null: none of these runs has started, as far as is known. */
export function busyTimeOf(runs: readonly Lived[]): BusyTime | null {
  const spans = runs.flatMap(spansOf).sort((a, b) => a.from - b.from);
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

/** How long it is at a time, Unix ms. */
export function busyMs({ ms, since }: BusyTime, now: number): number {
  return ms + (since === null ? 0 : Math.max(0, now - since));
}

function spansOf({ state, startedAt, endedAt, earlier = [] }: Lived): { from: number; to: number }[] {
  const spans = earlier.map(([since, at]) => ({ from: since, to: Math.max(since, at) }));
  if (startedAt === null || (hasEnded(state) && endedAt === null)) return spans;
  return [...spans, { from: startedAt, to: hasEnded(state) ? Math.max(startedAt, endedAt!) : Infinity }];
}
