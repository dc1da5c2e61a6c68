import { addTo } from '../../base/group-by.js';
import { DurationLine, USUAL_SPREAD } from './duration-line.js';
import type { Duration, Likeness, RunKind } from './durations.js';
import { deviationOf, probabilityOf, type TimeRange } from './time-range.js';

/** A run that is up, and is expected to end in so long, seconds. `share`: as of a duration. */
export type Foreseen = {
  readonly kind: RunKind;
  readonly elapsed: number;
  readonly left: TimeRange;
  readonly share: number | null;
};

/**
 * What the durations of some runs tell of others of their sweep. A sweep tells nothing of its warm-ups by its other runs, nor the
 * other way round.
 */
export class KnownDurations {
  readonly #known: readonly Duration[];
  readonly #pools = new Map<string, Duration[]>();
  readonly #lines = new Map<string, DurationLine>();

  constructor(known: readonly Duration[]) {
    this.#known = known;
    for (const duration of known) addTo(this.#pools, poolOf(duration.kind), duration);
  }

  /** With what is known of runs that are up: where all of a group are up, the one that has come farthest tells of the others. */
  with(foreseen: readonly Foreseen[]): KnownDurations {
    if (foreseen.length === 0) return this;
    const more = foreseen.map((run) => this.#durationOf(run)).filter(({ weight }) => weight > 0);
    return new KnownDurations([...this.#known, ...more]);
  }

  /** It counts as far as it is known when it ends, and that is more than what others say, or it has outlasted them. */
  #durationOf({ kind, elapsed, left, share }: Foreseen): Duration {
    const like = this.like(kind);
    const deviation = deviationOf({ low: elapsed + left.low, high: elapsed + left.high });
    const spread = like?.spread ?? USUAL_SPREAD;
    const certainty = spread ** 2 / (spread ** 2 + deviation ** 2);
    const news = like === null ? 1 : Math.max(1 - (deviation / deviationAround(like)) ** 2, outlasted(elapsed, like));
    return { kind, seconds: elapsed + left.middle, share, weight: certainty * news };
  }

  /** Null: nothing is known of any run of its sweep. */
  like(kind: RunKind): Likeness | null {
    const pool = poolOf(kind);
    const known = this.#pools.get(pool);
    if (known === undefined) return null;
    let line = this.#lines.get(pool);
    if (line === undefined) this.#lines.set(pool, (line = new DurationLine(known)));
    return line.like(kind);
  }
}

/** The share of the runs like it that a run has outlasted. */
function outlasted(elapsed: number, like: Likeness): number {
  return elapsed <= 0 ? 0 : probabilityOf((Math.log(elapsed) - like.centre) / deviationAround(like));
}

function deviationAround({ doubt, spread }: Likeness): number {
  return Math.hypot(doubt, spread);
}

/** Of one group, the latest say what the next ones take; more of them say no more. */
export const MOST_PER_GROUP = 150;

function poolOf({ sweep, isPreparation }: RunKind): string {
  return `${sweep}\n${isPreparation}`;
}
