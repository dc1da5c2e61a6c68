import { setImmediate as turn } from 'node:timers/promises';
import type { SummaryPort } from '../tui/summary-port.js';
import type { LaunchOptions } from './options.js';

/** The table a sweep comes to, for the window: worked out between its keys and frames. */
export class SweepSummary implements SummaryPort {
  readonly #sweep: string;
  readonly #options: LaunchOptions;
  #lines: SummaryPort['lines'] = null;
  #refreshing: Promise<void> | null = null;

  constructor(sweep: string, options: LaunchOptions) {
    this.#sweep = sweep;
    this.#options = options;
  }

  get lines(): SummaryPort['lines'] {
    return this.#lines;
  }

  refresh(): Promise<void> {
    this.#refreshing ??= this.#read().finally(() => (this.#refreshing = null));
    return this.#refreshing;
  }

  async #read(): Promise<void> {
    const { readReport } = await import('./print-report.js');
    this.#lines = await readReport(this.#sweep, this.#options, () => turn());
  }
}
