import { type BusyTime, busyTimeOf } from '../../analysis/forecast/busy-time.js';
import type { Forecast } from '../../analysis/forecast/forecast.js';
import type { TimeRange } from '../../analysis/forecast/time-range.js';
import type { RunSummary } from '../state/port.js';

/** Total time that runs have taken, and time until the rest have ended. */
export type Pace = {
  /** Time in which at least one run was up; null: none has begun. */
  readonly busy: BusyTime | null;
  /** Time until the last run has ended; null: unknown. */
  readonly left: TimeRange | null;
};

export function paceOf(runs: readonly RunSummary[], forecast: Forecast): Pace {
  return { busy: busyTimeOf(runs), left: forecast(runs) };
}
