import type { RunId } from '../base/ids.js';

type Entry = { order: number; id: RunId };

/**
 * Runs that could start, lowest order first. A binary heap: adding and taking cost log n.
 *
 * Entries are not removed when a run leaves the queue by another door (it was stopped, its group is
 * blocked again); `peek` drops those that are no longer wanted when they come to the front.
 */
export class ReadyQueue {
  readonly #heap: Entry[] = [];

  add(id: RunId, order: number): void {
    const heap = this.#heap;
    let place = heap.push({ id, order }) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (heap[parent]!.order <= order) break;
      this.#swap(place, parent);
      place = parent;
    }
  }

  /** The first run that is still wanted, or null. */
  peek(isWanted: (id: RunId) => boolean): RunId | null {
    while (this.#heap.length > 0) {
      const { id } = this.#heap[0]!;
      if (isWanted(id)) return id;
      this.#removeFirst();
    }
    return null;
  }

  #removeFirst(): void {
    const last = this.#heap.pop()!;
    if (this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink();
  }

  #sink(): void {
    const heap = this.#heap;
    for (let place = 0; ;) {
      const left = 2 * place + 1;
      if (left >= heap.length) return;
      const right = left + 1;
      const child = right < heap.length && heap[right]!.order < heap[left]!.order ? right : left;
      if (heap[place]!.order <= heap[child]!.order) return;
      this.#swap(place, child);
      place = child;
    }
  }

  #swap(a: number, b: number): void {
    [this.#heap[a], this.#heap[b]] = [this.#heap[b]!, this.#heap[a]!];
  }
}
