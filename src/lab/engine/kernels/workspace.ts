import { alignedBytes, type Heap } from './heap.js';

/**
 * Memory for the intermediate results of one call; its contents are lost when it grows. It grows by half at least, so that batches of
 * changing sizes soon find it large enough.
 */
export class Workspace {
  readonly #heap: Heap;
  #address = 0;
  #capacity = 0;

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** Address of at least `count` floats. Earlier contents may have moved or be overwritten. */
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

/** Allocates the parts of one workspace in order. From address 0 it measures the size of a plan. */
export class Cursor {
  readonly #start: number;
  #at: number;

  constructor(start: number) {
    this.#start = start;
    this.#at = start;
  }

  /** Floats allocated so far. */
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
