import type { FleetStatus } from '../state/port.js';

/** Time between two samples, in ms, and the number of samples kept: ten minutes' worth. */
const PERIOD_MS = 5000;
const KEPT = 120;

/** Utilization of each GPU over the last minutes, collected while the window is open. */
export class GpuHistory {
  readonly #samples = new Map<number, (number | null)[]>();
  #heardAt = -Infinity;

  /** `now`: Unix ms. */
  hear({ gpus }: FleetStatus, now: number): void {
    if (gpus.length === 0 || now - this.#heardAt < PERIOD_MS) return;
    this.#heardAt = now;
    for (const { index, utilization } of gpus) {
      const samples = this.#samples.get(index) ?? [];
      samples.push(utilization);
      this.#samples.set(index, samples.slice(-KEPT));
    }
  }

  /** Utilization in percent, oldest first, five seconds apart; null where the driver reported none. */
  readonly of = (index: number): readonly (number | null)[] => this.#samples.get(index) ?? [];
}
