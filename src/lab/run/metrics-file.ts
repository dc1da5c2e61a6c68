import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import * as z from 'zod';

/** A row of measurements. NaN and the infinities are written as null, since JSON has no notation for them. */
export type Row = Readonly<Record<string, number | null>>;

/** Appends one row: one line of JSON, `step` first. */
export function appendRow(path: string, row: Row): void {
  // JSON.stringify writes non-finite numbers as null.
  appendJsonLine(path, row);
}

/** Any object with its `step`, as a line of JSON. */
export function appendJsonLine(path: string, row: { readonly step?: unknown }): void {
  appendFileSync(path, `${JSON.stringify(row)}\n`);
}

/**
 * Keeps only the rows of steps before `step`, for a run that resumes there: rows after its last checkpoint will be
 * written again. An incomplete line is removed too. The file is replaced by a rename.
 */
export function dropRowsFrom(path: string, step: number): void {
  if (!existsSync(path)) return;
  const text = readFileSync(path, 'utf8');
  const kept = text
    .split('\n')
    .filter((line) => isBefore(line, step))
    .map((line) => `${line}\n`)
    .join('');
  if (kept === text) return;
  const replacement = `${path}.new`;
  writeFileSync(replacement, kept);
  renameSync(replacement, path);
}

function isBefore(line: string, step: number): boolean {
  try {
    const row = JSON.parse(line) as { step?: unknown } | null;
    return typeof row?.step === 'number' && row.step < step;
  } catch {
    return false;
  }
}

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
