import type { ProcessTable } from '../../processes/process-table.js';
import { type Attempt, isNamed } from './attempt.js';

/** Between looks at attempts whose command has not come up yet, ms. */
const NAMING_MS = 50;
/** Of them, so many are looked at in one go: 0.1 ms each. */
const NAMED_AT_ONCE = 50;

type NamingTools = {
  isWatched: (attempt: Attempt) => boolean;
  table: ProcessTable;
  /** The run's own process is known now. */
  named: (attempt: Attempt) => void;
};

/** Learns who the runs' own processes are. Most runs of a moment are over before anyone has asked. */
export class Naming {
  readonly #tools: NamingTools;
  /** Whose command is not known yet. */
  readonly #unnamed = new Set<Attempt>();
  #timer: NodeJS.Timeout | null = null;

  constructor(tools: NamingTools) {
    this.#tools = tools;
  }

  add(attempt: Attempt): void {
    this.#unnamed.add(attempt);
    this.#timer ??= setTimeout(() => this.#look(), NAMING_MS).unref();
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #look(): void {
    const { isWatched, table, named } = this.#tools;
    this.#timer = null;
    for (const attempt of [...this.#unnamed].slice(0, NAMED_AT_ONCE)) {
      const isOnTheWay = isWatched(attempt) && attempt.ending === null && attempt.orphan === null;
      this.#unnamed.delete(attempt);
      if (isOnTheWay && !isNamed(attempt, () => table.inThisTurn())) {
        // To the end of the line.
        this.#unnamed.add(attempt);
        continue;
      }
      if (isOnTheWay) named(attempt);
    }
    if (this.#unnamed.size > 0) this.#timer = setTimeout(() => this.#look(), NAMING_MS).unref();
  }
}
