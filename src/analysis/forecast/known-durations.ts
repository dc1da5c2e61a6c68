import { addTo } from '../../base/group-by.js';
import { DurationLine, USUAL_SPREAD } from './duration-line.js';
import type { Duration, Likeness, RunKind } from './durations.js';
import { deviationOf, probabilityOf, type TimeRange } from './time-range.js';

/** A running run that is expected to end in `left` seconds. `share`: as in `Duration`. */
export type Foreseen = {
  readonly kind: RunKind;
  readonly elapsed: number;
  readonly left: TimeRange;
  readonly share: number | null;
};

/**
 * The known durations of runs, from which those of others in their sweep are estimated. Warm-ups and other runs of a sweep are
 * estimated apart.
 */
export class KnownDurations {
  readonly #known: readonly Duration[];
  readonly #pools = new Map<string, Duration[]>();
  readonly #lines = new Map<string, DurationLine>();

  constructor(known: readonly Duration[]) {
    this.#known = known;
    for (const duration of known) addTo(this.#pools, poolOf(duration.kind), duration);
  }

  /** Adds the estimates of running runs: where no run of a group has ended yet, the one that is farthest tells about the others. */
  with(foreseen: readonly Foreseen[]): KnownDurations {
    if (foreseen.length === 0) return this;
    const more = foreseen.map((run) => this.#durationOf(run)).filter(({ weight }) => weight > 0);
    return new KnownDurations([...this.#known, ...more]);
  }

  /**
   * An estimate as a duration. Its weight is high where the estimate is precise, and more precise than that by others, or where the
   * run has outlasted others.
   */
  #durationOf({ kind, elapsed, left, share }: Foreseen): Duration {
    const like = this.like(kind);
    const deviation = deviationOf({ low: elapsed + left.low, high: elapsed + left.high });
    const spread = like?.spread ?? USUAL_SPREAD;
    const certainty = spread ** 2 / (spread ** 2 + deviation ** 2);
    const news = like === null ? 1 : Math.max(1 - (deviation / deviationAround(like)) ** 2, outlasted(elapsed, like));
    return { kind, seconds: elapsed + left.middle, share, weight: certainty * news };
  }

  /** The estimate for a kind of run; null: no duration of its sweep is known. */
  like(kind: RunKind): Likeness | null {
    const pool = poolOf(kind);
    const known = this.#pools.get(pool);
    if (known === undefined) return null;
    let line = this.#lines.get(pool);
    if (line === undefined) this.#lines.set(pool, (line = new DurationLine(known)));
    return line.like(kind);
  }
}

/** The share of similar runs that a run has outlasted. */
function outlasted(elapsed: number, like: Likeness): number {
  return elapsed <= 0 ? 0 : probabilityOf((Math.log(elapsed) - like.centre) / deviationAround(like));
}

function deviationAround({ doubt, spread }: Likeness): number {
  return Math.hypot(doubt, spread);
}

/** Number of runs of one group, the latest, that are looked at: more of them do not improve an estimate. */
export const MOST_PER_GROUP = 150;

function poolOf({ sweep, isPreparation }: RunKind): string {
  return `${sweep}\n${isPreparation}`;
}
