import type { SummaryPort } from '../../src/tui/state/port.js';

/** A summary table that has been read before, and does not change. */
export function knownSummary(lines: (width: number) => readonly string[]): SummaryPort {
  return { lines, refresh: () => Promise.resolve() };
}
