import { Durations, type RunKind } from './durations.js';
import {
  type Forecast,
  forecastOf,
  type ForecastRun,
  type ForecastSetting,
  runKinds,
  wholeSeconds,
} from './forecast.js';

/**
 * A run, and how much it has to do in all, in whatever its budget counts (1 where it has none); null: that cannot be told. Its
 * budget is not among its parameters: runs like it may have another one.
 */
export type BudgetedRun = ForecastRun & {
  readonly units: number | null;
  /** What it has to do beyond the budget of its present attempt, in the same; absent: nothing. */
  readonly moreUnits?: number;
};

/** The runs of all sweeps before and after an edit, and the room there is for them before and after. */
type Edit = {
  readonly sweep: string;
  readonly before: { readonly runs: readonly BudgetedRun[]; readonly setting: ForecastSetting };
  readonly after: { readonly runs: readonly BudgetedRun[]; readonly setting: ForecastSetting };
};

/**
 * Seconds until a sweep has ended as it is edited, and how many of them the edit adds (below 0: it ends sooner); null: nothing
 * tells how long one of its runs will take.
 *
 * A run takes as long per unit of its budget as those like it that are done or know when they end.
 */
export function addedTime({ sweep, before, after }: Edit): { total: number; added: number } | null {
  const paces = new Paces(before.runs, runKinds(after.runs, after.setting), before.setting.now);
  const end = ({ runs, setting }: Edit['before']) => {
    const own = runs.filter((run) => run.sweep === sweep && isUnderWay(run));
    return own.length === 0 ? 0 : endOfAll(own, forecast(runs, setting, paces));
  };
  const [was, total] = [end(before), end(after)];
  return was === null || total === null ? null : { total, added: total - was };
}

function isUnderWay({ state }: ForecastRun): boolean {
  return state === 'queued' || state === 'starting' || state === 'running' || state === 'stopping';
}

/** Null also where one of them cannot start, as there is no such slot, or what it waits for will not be done. */
function endOfAll(runs: readonly BudgetedRun[], ends: Forecast): number | null {
  return runs.every((run) => ends([run]) !== null) ? ends(runs) : null;
}

function forecast(runs: readonly BudgetedRun[], setting: ForecastSetting, paces: Paces): Forecast {
  return forecastOf(
    runs.map((run) => paces.expected(run, setting.now)),
    setting,
  );
}

/** How long runs take for each unit of their budget, seconds. */
class Paces {
  readonly #known = new Durations();
  readonly #kindOf: (run: ForecastRun) => RunKind;

  constructor(runs: readonly BudgetedRun[], kindOf: (run: ForecastRun) => RunKind, now: number) {
    this.#kindOf = kindOf;
    for (const run of runs) {
      const seconds = wholeSeconds(run, now);
      if (seconds !== null && run.units !== null) this.#known.note(this.#kindOf(run), seconds / run.units);
    }
  }

  /** The run with what can be said of its end. */
  expected(run: BudgetedRun, now: number): BudgetedRun {
    const { units, moreUnits = 0, progress, state } = run;
    const pace = this.#known.like(this.#kindOf(run))?.mean ?? null;
    const whole = times(pace, units);
    if (state === 'queued') return { ...run, expectedSeconds: times(whole, 1 - (progress ?? 0)) };
    if (moreUnits === 0 || !isUp(run)) return { ...run, expectedSeconds: whole };
    if (pace === null || whole === null) return { ...run, state: 'starting', expectedSeconds: null };
    return { ...run, state: 'running', etaSeconds: leftOf(run, whole, now) + pace * moreUnits };
  }
}

/** Seconds to the end of the present attempt. @param whole From its start. */
function leftOf({ etaSeconds, startedAt }: BudgetedRun, whole: number, now: number): number {
  return etaSeconds ?? Math.max(0, whole - (now - (startedAt ?? now)) / 1000);
}

function isUp({ state }: BudgetedRun): boolean {
  return state === 'running' || state === 'starting';
}

function times(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a * b;
}
