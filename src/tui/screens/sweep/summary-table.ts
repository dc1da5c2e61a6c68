import { errorText } from '../../../base/user-error.js';
import { Memoized } from '../../../base/memoize.js';
import type { MakeSummary, SummaryPort } from '../../state/summary-port.js';

/** The table of a sweep's results. Keeps the last version until it has been read again. */
export class SummaryTable {
  readonly #make: MakeSummary | undefined;
  readonly #changed: () => void;
  readonly #ports = new Memoized<SummaryPort | null>();
  /** The sweep that was read last, and whether it was over then; null: to be read again. */
  #read: { readonly port: SummaryPort; readonly isOver: boolean } | null = null;
  #problem: string | null = null;

  /** @param make Absent: there is no table. @param changed Called when the table has changed. */
  constructor(make: MakeSummary | undefined, changed: () => void) {
    this.#make = make;
    this.#changed = changed;
  }

  /**
   * Reads the table in the background, unless it was read since `rest` and all runs have not ended since. `sweep` null: several
   * sweeps have none.
   */
  want(sweep: string | null, isOver: boolean): void {
    const port = this.#portOf(sweep);
    if (port === null || (this.#read?.port === port && this.#read.isOver === isOver)) return;
    this.#read = { port, isOver };
    void this.#refresh(port);
  }

  /** Makes the next `want` read the table again. */
  rest(): void {
    this.#read = null;
  }

  /** Formatted lines of at most `width` columns; null: there is no table. */
  lines(sweep: string | null): ((width: number) => readonly string[]) | null {
    const port = this.#portOf(sweep);
    if (port === null) return null;
    if (this.#problem !== null) return (): string[] => [`The table could not be made: ${this.#problem}`];
    return port.lines ?? reading;
  }

  #portOf(sweep: string | null): SummaryPort | null {
    return this.#ports.value([sweep], () => (sweep === null ? null : (this.#make?.(sweep) ?? null)));
  }

  async #refresh(port: SummaryPort): Promise<void> {
    try {
      await port.refresh();
      this.#problem = null;
    } catch (error) {
      this.#problem = errorText(error);
    }
    this.#changed();
  }
}

const reading = (): string[] => ['reading…'];
