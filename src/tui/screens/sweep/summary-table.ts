import { errorText } from '../../../base/user-error.js';
import { Memoized } from '../../../base/memoize.js';
import type { MakeSummary, SummaryPort } from '../../state/summary-port.js';

/** What the runs of a sweep came to, as a table: as it was read last, until it has been read anew. */
export class SummaryTable {
  readonly #make: MakeSummary | undefined;
  readonly #changed: () => void;
  readonly #ports = new Memoized<SummaryPort | null>();
  /** What was read last: of which sweep, and when it is to be read again. */
  #read: { readonly port: SummaryPort; readonly isOver: boolean } | null = null;
  #problem: string | null = null;

  /** @param make Absent where there is no table. @param changed Called when the table is another one. */
  constructor(make: MakeSummary | undefined, changed: () => void) {
    this.#make = make;
    this.#changed = changed;
  }

  /** Reads it in the background where it was not read since `rest`, or all runs have ended since then. `sweep` null: of several there is none. */
  want(sweep: string | null, isOver: boolean): void {
    const port = this.#portOf(sweep);
    if (port === null || (this.#read?.port === port && this.#read.isOver === isOver)) return;
    this.#read = { port, isOver };
    void this.#refresh(port);
  }

  /** Read anew when it is wanted again. */
  rest(): void {
    this.#read = null;
  }

  /** Ready lines of at most `width` columns; null where there is no table. */
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
