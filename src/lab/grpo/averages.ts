import * as z from 'zod';
import type { Row } from '../run/metrics-file.js';

export const AveragesState = z.record(z.string(), z.object({ sum: z.number(), count: z.int() }));
type State = z.infer<typeof AveragesState>;

/** Means of what was measured since the last row. A measurement that is not a finite number is left out. */
export class Averages {
  #state: State = {};

  add(row: Row): void {
    for (const [name, value] of Object.entries(row)) {
      if (value === null || !Number.isFinite(value)) continue;
      const { sum, count } = this.#state[name] ?? { sum: 0, count: 0 };
      this.#state[name] = { sum: sum + value, count: count + 1 };
    }
  }

  /** The means, which are forgotten. */
  take(): Row {
    const row = Object.fromEntries(Object.entries(this.#state).map(([name, { sum, count }]) => [name, sum / count]));
    this.#state = {};
    return row;
  }

  /** A copy, for a checkpoint. */
  state(): State {
    return structuredClone(this.#state);
  }

  restore(state: State): void {
    this.#state = structuredClone(state);
  }
}
