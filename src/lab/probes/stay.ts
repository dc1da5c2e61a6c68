import * as z from 'zod';
import { MEMORISED_SHARE } from '../study/memory/verdict.js';
import type { Row } from '../run/metrics-file.js';

/**
 * `length`: number of consecutive evaluations, up to the last, that found the secret memorised. `lost`: how often it
 * was forgotten.
 */
export const StayState = z.object({ length: z.int().default(0), lost: z.int().default(0) });
type StayState = z.infer<typeof StayState>;

/**
 * Number of consecutive evaluations after which a secret that is no longer known counts as forgotten, rather than as
 * not yet learnt.
 */
const SETTLED = 100;

/**
 * Tracks whether the secret is known, and stays so. The run itself applies the rule that ends it, at its own
 * evaluations: a run ended from outside would continue for a number of steps that depends on the machine.
 */
export class Stay {
  readonly #threshold: number;
  readonly #wanted: number | null;
  #state: StayState = { length: 0, lost: 0 };

  /**
   * @param bits Bits of the secret.
   * @param wanted Number of consecutive evaluations after which the run may end; null: never.
   */
  constructor(bits: number, wanted: number | null) {
    this.#threshold = MEMORISED_SHARE * bits;
    this.#wanted = wanted;
  }

  /** State for a checkpoint. */
  get state(): StayState {
    return { ...this.#state };
  }

  restore(state: StayState): void {
    this.#state = { ...state };
  }

  /** @returns the evaluation with the length of the stay added; unchanged when it did not measure bits. */
  see(row: Row): Row {
    const known = row['test/bits/answer_raw'];
    if (typeof known !== 'number') return row;
    const { length, lost } = this.#state;
    const isKnown = known >= this.#threshold;
    this.#state = { length: isKnown ? length + 1 : 0, lost: lost + Number(!isKnown && length >= SETTLED) };
    return { ...row, 'test/bits/times_lost': this.#state.lost };
  }

  /** Why the run may end, in words; null when it may not. */
  enough(): string | null {
    const { length } = this.#state;
    if (this.#wanted === null || length < this.#wanted) return null;
    return `memorised at ${length} evaluations in a row`;
  }
}
