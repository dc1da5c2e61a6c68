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

/** Carries out orders in sequence. Equal orders at the same time share the search for processes. */
export class Orders {
  readonly #isWatched: (attempt: Attempt) => boolean;
  #given: { order: Order; attempt: Attempt }[] = [];

  /** @param isWatched Whether an attempt is still watched: if it has ended, its pids may have been reused. */
  constructor(isWatched: (attempt: Attempt) => boolean) {
    this.#isWatched = isWatched;
  }

  give(order: Order, attempt: Attempt): void {
    // These pids belong to another machine or container.
    if (attempt.elsewhere !== null) return;
    if (this.#given.length === 0) inQuietTurn(() => this.#carryOut());
    this.#given.push({ order, attempt });
  }

  /** Carries out a sequence of equal orders together, one such sequence per turn. */
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
