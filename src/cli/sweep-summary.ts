import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { buildReport } from '../report/build-report.js';
import { reportLines } from '../report/view/report-lines.js';
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
    const report = await buildReport(this.#directory, () => turn());
    this.#lines = (width) => reportLines(report, { width, ascii: this.#ascii });
  }
}
