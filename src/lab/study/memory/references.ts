import type { ReferenceFile, ReferenceRow } from '../../reference/reference-file.js';
import type { Condition } from '../../environments/memory/task.js';

/**
 * Episodes that other learners need with the same rewards, for one setting of the memory task; Infinity: most seeds did
 * not reach the goal.
 */
export type Compared = {
  readonly ideal: number;
  /** Null: a table of logits does not learn from these rewards. */
  readonly table: number | null;
  /** I(R; S | G) while guesses are uniform, bits. */
  readonly mutualBits: number;
};

/** The reference rows of all files; the first file with a setting counts. `tables`: how their tables were trained, in words. */
export class References {
  readonly #rows = new Map<string, ReferenceRow>();
  readonly tables: readonly string[];

  constructor(files: readonly ReferenceFile[]) {
    for (const row of files.flatMap(({ rows }) => rows)) {
      const key = keyOf(row.condition, row.N);
      if (!this.#rows.has(key)) this.#rows.set(key, row);
    }
    this.tables = [
      ...new Set(
        files.map(({ tabular }) => `${tabular.optimizer} ${tabular.learning_rate}, groups of ${tabular.group_size}`),
      ),
    ];
  }

  /** The reference for a setting; null: there is none. */
  of(condition: Condition, N: number): Compared | null {
    const row = this.#rows.get(keyOf(condition, N));
    if (row === undefined) return null;
    const { ideal, tabular, mutualBits } = row;
    const table = tabular === null ? null : (tabular.median ?? Infinity);
    return { ideal: ideal.median ?? Infinity, table, mutualBits };
  }
}

function keyOf(condition: Condition, N: number): string {
  const detail = condition.kind === 'binned' ? condition.bins : condition.kind === 'dense' ? condition.credit : null;
  return JSON.stringify([condition.kind, detail, N]);
}
