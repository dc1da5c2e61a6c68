import { type Forecast, forecastOf, forecastSetting, forecastSteps } from '../../analysis/forecast/forecast.js';
import type { Steps } from '../../base/steps.js';
import type { FleetPort } from '../state/port.js';

/** Up to this many runs a forecast is computed at once. */
const few = 300;
/** Minimum time between two forecasts, in ms: of a few runs, and of many. */
const periods = { few: 1000, many: 2000 };
/** Duration of one turn, in ms; its last step may exceed it. A key waits no longer than this. */
const turnTime = 3;

/**
 * The forecast over all sweeps, since they share the slots. With many runs it is computed between other turns of the event loop,
 * and the one before stays until then.
 */
export class ShownForecast {
  readonly #fleet: FleetPort;
  readonly #changed: () => void;
  #seen = { period: -1, runs: -1 };
  #forecast: Forecast = () => null;
  #steps: Steps<Forecast> | null = null;
  #turn: NodeJS.Immediate | null = null;

  /** @param changed Called when a forecast is there that was not computed at once. */
  constructor(fleet: FleetPort, changed: () => void) {
    this.#fleet = fleet;
    this.#changed = changed;
  }

  /** The last forecast; of nothing where none has been computed yet. */
  get current(): Forecast {
    return this.#forecast;
  }

  /** Makes a new forecast if the last one is too old, or of another number of runs. `now`: Unix ms. */
  refresh(now: number): void {
    const { runs, sweeps, status } = this.#fleet;
    const isMany = runs.size > few;
    const period = Math.floor(now / (isMany ? periods.many : periods.few));
    if (this.#steps !== null || (period === this.#seen.period && runs.size === this.#seen.runs)) return;
    this.#seen = { period, runs: runs.size };
    const [all, setting] = [[...runs.values()], forecastSetting({ status, sweeps }, now)];
    if (!isMany) this.#forecast = forecastOf(all, setting);
    else {
      this.#steps = forecastSteps(all, setting);
      this.#continue();
    }
  }

  close(): void {
    if (this.#turn !== null) clearImmediate(this.#turn);
  }

  #continue(): void {
    this.#turn = setImmediate(() => {
      this.#turn = null;
      const until = performance.now() + turnTime;
      let step = this.#steps!.next();
      while (step.done !== true && performance.now() < until) step = this.#steps!.next();
      if (step.done !== true) return this.#continue();
      this.#forecast = step.value;
      this.#steps = null;
      this.#changed();
    });
  }
}
