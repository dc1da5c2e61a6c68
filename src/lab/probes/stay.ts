import { MEMORISED_SHARE } from '../../analysis/verdict.js';
import type { Row } from '../run/metrics-file.js';

/**
 * How many evaluations in a row have found the secret memorised. The rule that ends a run belongs to its own evaluations: a
 * run that is ended from outside goes on for some steps more, as many as the machine pleases.
 */
export class Stay {
  length = 0;
  readonly #threshold: number;
  readonly #wanted: number | null;

  /** @param bits Of the secret. @param wanted After how many evaluations in a row it is enough; null: never. */
  constructor(bits: number, wanted: number | null) {
    this.#threshold = MEMORISED_SHARE * bits;
    this.#wanted = wanted;
  }

  see(row: Row): void {
    const known = row['test/bits/answer_raw'];
    this.length = typeof known === 'number' && known >= this.#threshold ? this.length + 1 : 0;
  }

  /** Why the run may end, in words; null when it may not. */
  enough(): string | null {
    if (this.#wanted === null || this.length < this.#wanted) return null;
    return `memorised at ${this.length} evaluations in a row`;
  }
}
