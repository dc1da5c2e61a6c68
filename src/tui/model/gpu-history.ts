import type { FleetStatus } from '../state/port.js';

/** Time between two samples, ms, and how many are kept: ten minutes. */
const PERIOD_MS = 5000;
const KEPT = 120;

/** How busy each GPU was in the last minutes, from what is published while the window is open. */
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

  /** Percent, oldest first, five seconds apart; null where the driver did not say. */
  readonly of = (index: number): readonly (number | null)[] => this.#samples.get(index) ?? [];
}
