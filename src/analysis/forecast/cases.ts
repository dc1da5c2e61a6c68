import type { Steps } from '../../base/steps.js';
import type { Likeness } from './durations.js';
import type { Failing } from './failed-runs.js';
import { deviationsAt, timeAt, type TimeRange } from './time-range.js';

/**
 * How long a run takes from now on, or from its start. `never`: it is paused or stands still, keeps its slot, and is not waited
 * for.
 */
export type Takes = TimeRange | Likeness | MayFail | 'unknown' | 'never';

/** A waiting run that takes as long as those like it, or fails as others have. */
type MayFail = { readonly like: Likeness; readonly failing: Failing };

/** A run that is up or waits. `work`: the share of its duration that is left. `pause`: seconds from when there is room until it is up. */
type Expected = { readonly id: string; readonly takes: Takes; readonly work: number; readonly pause: number };

/** Number of runs in one step. */
export const RUNS_A_STEP = 500;

/** Number of cases in which the queue is simulated; fewer where single runs matter less, among many. Primes, so that no order repeats. */
const CASES = 11;
const CASES_OF_MANY = 7;
const MANY = 1000;

/** Standard deviation of the logarithm of the time that a start takes, which depends on the load of the machine. */
const PAUSE_DOUBT = 0.2;

/**
 * For each case, the seconds that each run takes. Over the cases every run goes through its whole distribution, in an order of its
 * own.
 */
export function* caseSteps(open: readonly Expected[]): Steps<Float64Array[]> {
  const count = open.length > MANY ? CASES_OF_MANY : CASES;
  const cases = Array.from({ length: count }, () => new Float64Array(open.length));
  const deviations = cases.map((_, of) => deviationsAt((of + 0.5) / count));
  const pauseIn = deviations.map((deviation) => Math.exp(PAUSE_DOUBT * deviation));
  const known = new Map<Takes, Spread>();
  for (const [place, { id, takes, work, pause }] of open.entries()) {
    if (place % RUNS_A_STEP === RUNS_A_STEP - 1) yield;
    let spread = known.get(takes);
    if (spread === undefined) known.set(takes, (spread = spreadOf(takes, deviations)));
    const hash = hashOf(id);
    const [step, first] = [1 + (hash % (count - 1)), (hash >>> 8) % count];
    for (let of = 0; of < count; of++) {
      const own = spread.own[(of * step + first) % count]!;
      cases[of]![place] = work * own * spread.shared[of]! + pause * pauseIn[of]!;
    }
  }
  return cases;
}

/** The FNV-1a hash. It gives a run the same cases in every forecast, so that a forecast changes only when its inputs do. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** `own`: the possible durations of a run, the shortest first. `shared`: for each case a factor that holds for all its runs. */
type Spread = { readonly own: readonly number[]; readonly shared: readonly number[] };

function spreadOf(takes: Takes, deviations: readonly number[]): Spread {
  const same = deviations.map(() => 1);
  if (typeof takes === 'string') return { own: deviations.map(() => Infinity), shared: same };
  if ('middle' in takes) return { own: deviations.map((deviation) => timeAt(takes, deviation)), shared: same };
  if ('failing' in takes) return spreadOfBoth(takes, deviations);
  const { centre, doubt, spread } = takes;
  const { marks } = takes.shape();
  const step = marks.length / deviations.length;
  return {
    own: deviations.map((_, of) => Math.exp(centre + spread * marks[Math.floor((of + 0.5) * step)]!.at)),
    shared: deviations.map((deviation) => Math.exp(doubt * deviation)),
  };
}

/** In as many cases as it may fail a run takes as long as those that did, the shorter ones first. */
function spreadOfBoth({ like, failing: { share, seconds } }: MayFail, deviations: readonly number[]): Spread {
  const count = deviations.length;
  const whole = spreadOf(like, deviations);
  const own = deviations.map((_, of) => {
    const at = (of + 0.5) / count;
    if (at < share) return seconds[Math.floor((at / share) * seconds.length)]!;
    return whole.own[Math.floor(((at - share) / (1 - share)) * count)]!;
  });
  return { own, shared: whole.shared };
}
