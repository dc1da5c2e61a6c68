import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { SummaryPort } from '../tui/summary-port.js';
import { runsDirectory, type LaunchOptions } from './options.js';

/** The table a sweep comes to, for the window: worked out between its keys and frames. */
export class SweepSummary implements SummaryPort {
  readonly #directory: string;
  readonly #ascii: boolean;
  #lines: SummaryPort['lines'] = null;
  #refreshing: Promise<void> | null = null;

  constructor(sweep: string, { runs, ascii }: LaunchOptions) {
    this.#directory = join(runsDirectory(runs), sweep);
    this.#ascii = ascii ?? false;
  }

  get lines(): SummaryPort['lines'] {
    return this.#lines;
  }

  refresh(): Promise<void> {
    this.#refreshing ??= this.#read().finally(() => (this.#refreshing = null));
    return this.#refreshing;
  }

  async #read(): Promise<void> {
    // Not before it is wanted: the first frame of the window does not wait for it.
    const [{ buildReport }, { reportLines }] = await Promise.all([
      import('../report/build-report.js'),
      import('../report/view/report-lines.js'),
    ]);
    const report = await buildReport(this.#directory, () => turn());
    this.#lines = (width) => reportLines(report, { width, ascii: this.#ascii });
  }
}
