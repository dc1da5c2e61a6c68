import * as z from 'zod';
import type { Row } from './metrics-file.js';

/** Sum and count of a mean. */
export type Sums = { sum: number; count: number };

export const MeansState = z.record(z.string(), z.object({ sum: z.number(), count: z.number() }));
export type MeansState = z.infer<typeof MeansState>;

/** The means of measurements since the last row, by name; names without measurements are left out. */
export class Means {
  readonly #columns: readonly string[];
  #sums = new Map<string, Sums>();

  /** @param columns Names that come first in a row, in this order; others follow as they are first measured. */
  constructor(columns: readonly string[] = []) {
    this.#columns = columns;
    this.#begin();
  }

  /** Sum and count of a name, for the caller to add to. */
  of(name: string): Sums {
    const known = this.#sums.get(name);
    if (known !== undefined) return known;
    const sums = { sum: 0, count: 0 };
    this.#sums.set(name, sums);
    return sums;
  }

  /** Adds to the sum that is divided by the count. */
  add(name: string, sum: number, count = 1): void {
    const sums = this.of(name);
    sums.sum += sum;
    sums.count += count;
  }

  /** Adds measurements of one step; values that are not finite are left out. */
  addAll(row: Row): void {
    for (const [name, value] of Object.entries(row)) {
      if (value !== null && Number.isFinite(value)) this.add(name, value);
    }
  }

  /** Returns the means and resets them. */
  take(): Row {
    const row = this.row();
    this.#begin();
    return row;
  }

  row(): Row {
    return Object.fromEntries(this.#measured().map(([name, { sum, count }]) => [name, sum / count]));
  }

  /** Plain JSON, for a checkpoint. */
  state(): MeansState {
    return Object.fromEntries(this.#measured().map(([name, sums]) => [name, { ...sums }]));
  }

  restore(state: MeansState): void {
    this.#begin();
    for (const [name, { sum, count }] of Object.entries(state)) this.add(name, sum, count);
  }

  #measured(): [string, Sums][] {
    return [...this.#sums].filter(([, { count }]) => count > 0);
  }

  #begin(): void {
    this.#sums = new Map(this.#columns.map((name) => [name, { sum: 0, count: 0 }]));
  }
}
