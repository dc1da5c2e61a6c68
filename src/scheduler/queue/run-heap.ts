import type { RunId } from '../../base/ids.js';

/** The key of a run's order: the lower comes first; the second number breaks ties. Two runs of a heap never have equal ranks. */
export type Rank = readonly [number, number];

type Entry = { id: RunId; rank: Rank };

/**
 * Runs in the order of their ranks. A binary heap that knows the place of each run: adding, moving and removing take log n, reading
 * the first takes constant time, and a removed run leaves nothing behind.
 */
export class RunHeap {
  readonly #heap: Entry[] = [];
  readonly #places = new Map<RunId, number>();

  get size(): number {
    return this.#heap.length;
  }

  /** The run with the lowest rank, or null. */
  first(): RunId | null {
    return this.#heap[0]?.id ?? null;
  }

  /** The lowest rank, or null. */
  firstRank(): Rank | null {
    return this.#heap[0]?.rank ?? null;
  }

  /** Adds the run, or changes its rank. */
  set(id: RunId, rank: Rank): void {
    const place = this.#places.get(id);
    if (place === undefined) this.#settle(this.#heap.length, { id, rank });
    else if (compare(rank, this.#heap[place]!.rank) !== 0) this.#settle(place, { id, rank });
  }

  /** Removes the run; does nothing if it is not there. */
  delete(id: RunId): void {
    const place = this.#places.get(id);
    if (place === undefined) return;
    this.#places.delete(id);
    const last = this.#heap.pop()!;
    if (place < this.#heap.length) this.#settle(place, last);
  }

  /** Moves an entry from `place` up or down to where it belongs. */
  #settle(place: number, entry: Entry): void {
    this.#sink(this.#rise(place, entry), entry);
  }

  #rise(from: number, entry: Entry): number {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (compare(this.#heap[parent]!.rank, entry.rank) <= 0) break;
      this.#put(place, this.#heap[parent]!);
      place = parent;
    }
    return place;
  }

  #sink(from: number, entry: Entry): void {
    let place = from;
    for (let child = this.#lowerChild(place); child !== null; child = this.#lowerChild(place)) {
      if (compare(entry.rank, this.#heap[child]!.rank) <= 0) break;
      this.#put(place, this.#heap[child]!);
      place = child;
    }
    this.#put(place, entry);
  }

  #lowerChild(place: number): number | null {
    const left = 2 * place + 1;
    if (left >= this.#heap.length) return null;
    const right = left + 1;
    return right < this.#heap.length && compare(this.#heap[right]!.rank, this.#heap[left]!.rank) < 0 ? right : left;
  }

  #put(place: number, entry: Entry): void {
    this.#heap[place] = entry;
    this.#places.set(entry.id, place);
  }
}

function compare(a: Rank, b: Rank): number {
  return a[0] - b[0] || a[1] - b[1];
}
