import type { RunSummary } from '../state/port.js';

/** Between two rings, ms: twelve runs that fail together ring once. */
const PAUSE_MS = 10_000;

/** Rings when a run fails or the sweep is over; tmux and most terminals then mark the window for those who look elsewhere. */
export class Bell {
  /** Failed runs at the last look; null before the first, since what failed yesterday is no news. */
  #failed: number | null = null;
  #wasOver = false;
  #rungAt = -Infinity;

  /** Whether to ring now. `now`: ms. */
  hear(runs: Iterable<RunSummary>, isOver: boolean, now: number): boolean {
    let failed = 0;
    for (const { state } of runs) if (state === 'failed' || state === 'lost') failed += 1;
    const isNews = this.#failed !== null && (failed > this.#failed || (isOver && !this.#wasOver));
    this.#failed = failed;
    this.#wasOver = isOver;
    if (!isNews || now - this.#rungAt < PAUSE_MS) return false;
    this.#rungAt = now;
    return true;
  }
}
