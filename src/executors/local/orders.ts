import { inQuietTurn } from '../../processes/turn.js';
import { continueTrees, killTrees, pauseTrees, terminateTrees, type Tree } from '../../processes/process-tree.js';
import { type Attempt, treeOf } from './attempt.js';

/** An order to the processes of an attempt. */
type Order = 'terminate' | 'kill' | 'pause' | 'continue';

const carryOut: Readonly<Record<Order, (trees: readonly Tree[]) => void>> = {
  terminate: terminateTrees,
  kill: killTrees,
  pause: pauseTrees,
  continue: continueTrees,
};

/** Carries orders out, in the order in which they were given. Equal ones of one moment share the search for the processes. */
export class Orders {
  readonly #isWatched: (attempt: Attempt) => boolean;
  #given: { order: Order; attempt: Attempt }[] = [];

  /** @param isWatched One that has ended meanwhile is left alone: its pids may be others'. */
  constructor(isWatched: (attempt: Attempt) => boolean) {
    this.#isWatched = isWatched;
  }

  give(order: Order, attempt: Attempt): void {
    // The same pids are others here.
    if (attempt.elsewhere !== null) return;
    if (this.#given.length === 0) inQuietTurn(() => this.#carryOut());
    this.#given.push({ order, attempt });
  }

  /** Equal ones in a row together, and one such row in a turn. */
  #carryOut(): void {
    const given = this.#given.filter(({ attempt }) => this.#isWatched(attempt));
    const first = given[0]?.order;
    const end = given.findIndex(({ order }) => order !== first);
    const same = given.splice(0, end < 0 ? given.length : end);
    this.#given = given;
    if (given.length > 0) inQuietTurn(() => this.#carryOut());
    if (first !== undefined) carryOut[first](same.map(({ attempt }) => treeOf(attempt)));
  }
}
