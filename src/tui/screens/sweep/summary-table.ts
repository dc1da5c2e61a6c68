import { errorText } from '../../../base/user-error.js';
import { Memoized } from '../../../base/memoize.js';
import type { SummaryPort } from '../../state/summary-port.js';
import type { UiState } from '../../state/ui-state.js';

/** The summary table on the screen: as it was read last, until it has been read anew. */
export class SummaryTable {
  readonly #port: SummaryPort | undefined;
  readonly #changed: () => void;
  #problem: string | null = null;
  /** A frame that changes nothing of it does not lay it out again. */
  readonly #laid = new Memoized<readonly string[]>();

  /** @param port Undefined where there is no table. @param changed Called when the table is another one. */
  constructor(port: SummaryPort | undefined, changed: () => void) {
    this.#port = port;
    this.#changed = changed;
  }

  get isThere(): boolean {
    return this.#port !== undefined;
  }

  /** Of the open table; while it is not open all that matters is whether there is one. */
  shownLines({ dialog }: UiState, width: number): readonly string[] | null {
    if (dialog.kind === 'table') return this.lines(width);
    return this.isThere ? [] : null;
  }

  /** Ready lines of at most `width` columns; null where there is no table. */
  lines(width: number): readonly string[] | null {
    if (this.#port === undefined) return null;
    if (this.#problem !== null) return [`The table could not be made: ${this.#problem}`];
    const { lines } = this.#port;
    return lines === null ? ['reading…'] : this.#laid.value([lines, width], () => lines(width));
  }

  /** Reads it anew, in the background. */
  async read(): Promise<void> {
    try {
      await this.#port?.refresh();
      this.#problem = null;
    } catch (error) {
      this.#problem = errorText(error);
    }
    this.#changed();
  }
}
