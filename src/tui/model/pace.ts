import { type BusyTime, busyTimeOf } from '../../analysis/forecast/busy-time.js';
import type { Forecast } from '../../analysis/forecast/forecast.js';
import type { TimeRange } from '../../analysis/forecast/time-range.js';
import type { RunSummary } from '../state/port.js';

/** How long runs have taken together, and how long the rest will take. */
export type Pace = {
  /** The time in which one of them was up; null: none has begun. */
  readonly busy: BusyTime | null;
  /** Until the last of them has ended; null while nothing tells. */
  readonly left: TimeRange | null;
};

export function paceOf(runs: readonly RunSummary[], forecast: Forecast): Pace {
  return { busy: busyTimeOf(runs), left: forecast(runs) };
}
