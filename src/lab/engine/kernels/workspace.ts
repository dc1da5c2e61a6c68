import { alignedBytes, type Heap } from './heap.js';

/** Room whose contents need not outlive a change of size: grows by half at least, so that ragged batches settle. */
export class Workspace {
  readonly #heap: Heap;
  #address = 0;
  #capacity = 0;

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** Address of at least `count` floats. What was there before may have moved or be overwritten. */
  reserve(count: number): number {
    if (count <= this.#capacity) return this.#address;
    const capacity = Math.max(count, Math.ceil(this.#capacity * 1.5));
    if (this.#capacity === 0 || !this.#heap.extend(this.#address, this.#capacity, capacity)) {
      this.#address = this.#heap.allocate(capacity);
    }
    this.#capacity = capacity;
    return this.#address;
  }
}

/** Hands out the parts of one workspace in order. From address 0 it measures what a plan needs. */
export class Cursor {
  readonly #start: number;
  #at: number;

  constructor(start: number) {
    this.#start = start;
    this.#at = start;
  }

  /** Floats handed out so far. */
  get taken(): number {
    return (this.#at - this.#start) / 4;
  }

  /** Address of `count` floats, 64-byte aligned if the start is. */
  take(count: number): number {
    const address = this.#at;
    this.#at += alignedBytes(count);
    return address;
  }
}
