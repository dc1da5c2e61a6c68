import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';

/** One metric over another: `y` at each `x`. NaN: the row has no number under that name. */
export type Curve = { readonly x: readonly number[]; readonly y: readonly number[] };

/** The rows of a `metrics.jsonl`. A line that is still being written is left out. */
export class RunRows {
  readonly #rows: readonly Readonly<Record<string, unknown>>[];
  readonly keys: ReadonlySet<string>;

  /** @param directory Directory of a run or of an evaluation; without the metrics file there are no rows. */
  constructor(directory: string) {
    this.#rows = linesOf(join(directory, runFiles.metrics)).flatMap((line) => {
      const row = parseJsonLine(line);
      return row === null ? [] : [row];
    });
    this.keys = new Set(this.#rows.flatMap((row) => Object.keys(row)));
  }

  /** The rows that have a metric; a null becomes NaN. */
  series(name: string, xName = 'step'): Curve {
    const rows = this.#rows.filter((row) => name in row);
    return { x: rows.map((row) => numberOf(row[xName])), y: rows.map((row) => numberOf(row[name])) };
  }

  /** The last value of a metric; null when it is not a number, undefined when no row has it. */
  last(name: string): number | null | undefined {
    const value = this.#rows.findLast((row) => name in row)?.[name];
    return value === undefined || (typeof value === 'number' && !Number.isNaN(value)) ? value : null;
  }
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}
