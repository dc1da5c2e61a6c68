import type { RunSummary } from '../state/port.js';

/** Minimum time between two rings, in ms, so that twelve runs that fail together ring once. */
const PAUSE_MS = 10_000;

/**
 * Rings when a run fails or the sweep has ended; tmux and most terminals then mark the window for a user who is looking elsewhere.
 */
export class Bell {
  /** Number of failed runs at the last call; null before the first, so that earlier failures do not ring. */
  #failed: number | null = null;
  #wasOver = false;
  #rungAt = -Infinity;

  /** Whether to ring now. `now`: Unix ms. */
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
