import { groupBy } from '../../base/group-by.js';
import type { Likeness } from './durations.js';
import { KnownDurations } from './known-durations.js';
import {
  durationOf,
  type Forecast,
  forecastOf,
  type ForecastRun,
  type ForecastSetting,
  foreseen,
  leftOf,
  runKinds,
} from './forecast.js';
import type { TimeRange } from './time-range.js';

/**
 * A run with the total amount of its work, in the unit of its budget (1 where it has none); null: unknown. The parameter that sets
 * the budget is left out of its parameters, so that runs with another budget count as alike.
 */
export type BudgetedRun = ForecastRun & {
  readonly units: number | null;
  /** The parameter that is its budget; null: it has none. An epoch is not a step, and tells nothing about how long one takes. */
  readonly unit: string | null;
  /** Work that an edit adds to the budget of the present attempt, in the same unit; absent: none. */
  readonly moreUnits?: number;
};

/** The runs of all sweeps and the room for them, before and after an edit. */
type Edit = {
  readonly sweep: string;
  readonly before: { readonly runs: readonly BudgetedRun[]; readonly setting: ForecastSetting };
  readonly after: { readonly runs: readonly BudgetedRun[]; readonly setting: ForecastSetting };
};

/**
 * How long the edited sweep takes until its end, and how many seconds of that the edit adds (negative: it ends sooner); null: the
 * duration of some run is unknown.
 *
 * A run is expected to take as long per unit of its budget as similar runs with the same unit that are done or have an estimate;
 * where no run has its unit, as long as a whole run of another.
 */
export function addedTime({ sweep, before, after }: Edit): { total: TimeRange; added: number } | null {
  const paceOf = paces(before, after);
  const end = ({ runs, setting }: Edit['before']) => {
    const own = runs.filter((run) => run.sweep === sweep && isUnderWay(run));
    const expected = runs.map((run) => withPace(run, paceOf(run)));
    return own.length === 0 ? NOTHING : endOfAll(own, forecastOf(expected, setting));
  };
  const [was, total] = [end(before), end(after)];
  return was === null || total === null ? null : { total, added: total.middle - was.middle };
}

const NOTHING: TimeRange = { low: 0, middle: 0, high: 0 };

function isUnderWay({ state }: ForecastRun): boolean {
  return state === 'queued' || state === 'starting' || state === 'running' || state === 'stopping';
}

/**
 * Time until the last of some runs has ended; null also where one of them cannot start, as there is no such slot, or a run that it
 * waits for will not be done.
 */
function endOfAll(runs: readonly BudgetedRun[], ends: Forecast): TimeRange | null {
  return runs.every((run) => ends([run]) !== null) ? ends(runs) : null;
}

/** `isPerUnit`: of its budget; otherwise of a whole run. */
type Pace = { readonly like: Likeness; readonly isPerUnit: boolean };

/** Estimates how long a run takes per unit of its budget, from runs before the edit. */
function paces({ runs, setting }: Edit['before'], after: Edit['after']): (run: BudgetedRun) => Pace | null {
  const kindOf = runKinds(after.runs, after.setting);
  const knownOf = (some: readonly BudgetedRun[], per: (run: BudgetedRun) => number) => {
    const done = some.flatMap((run) => {
      const duration = durationOf(run, kindOf(run));
      return duration === null ? [] : [{ ...duration, seconds: duration.seconds / per(run) }];
    });
    const up = some.flatMap((run) => {
      const known = foreseen(run, kindOf(run), setting.now);
      if (known === null) return [];
      const { low, middle, high } = known.left;
      const left = { low: low / per(run), middle: middle / per(run), high: high / per(run) };
      return [{ ...known, elapsed: known.elapsed / per(run), left }];
    });
    return new KnownDurations(done).with(up);
  };
  const counted = runs.filter(({ units }) => units !== null);
  const byUnit = groupBy(counted, ({ unit }) => unit);
  const perUnit = new Map([...byUnit].map(([unit, some]) => [unit, knownOf(some, ({ units }) => units!)]));
  const whole = knownOf(counted, () => 1);
  return (run) => {
    const own = perUnit.get(run.unit)?.like(kindOf(run)) ?? null;
    const like = own ?? whole.like(kindOf(run));
    return like === null ? null : { like, isPerUnit: own !== null };
  };
}

/** The run with an estimate of its end: that of its present attempt, and the additional work after it. */
function withPace(run: BudgetedRun, pace: Pace | null): BudgetedRun {
  const { units, moreUnits = 0, state } = run;
  const like = pace === null || units === null ? null : scaled(pace, units);
  if (moreUnits === 0 || !(state === 'running' || state === 'starting')) return { ...run, like };
  if (like === null || !pace!.isPerUnit) return { ...run, state: 'starting', like: null };
  const left = leftOf(run);
  // Its progress is relative to the budget of the present attempt, and so is left out here.
  if (left === null) return { ...run, progress: null, like: scaled(pace!, units! + moreUnits) };
  const more = Math.exp(pace!.like.centre) * moreUnits;
  return { ...run, etaSeconds: left.middle + more, etaRange: [left.low + more, left.high + more] };
}

/** The duration of so many units. */
function scaled({ like, isPerUnit }: Pace, units: number): Likeness {
  return isPerUnit ? { ...like, centre: like.centre + Math.log(units) } : like;
}
