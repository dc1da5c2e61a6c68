import { UserError } from '../../../base/user-error.js';

const pageBytes = 65_536;
/** What a 32-bit address can reach, less one page. */
const mostBytes = 65_535 * pageBytes;
/** Of shared memory all addresses are reserved at once; `scripts/build.js` has the same number. */
const sharedPages = 65_535;

/**
 * The linear memory of one engine, handed out from the bottom up and never taken back (see `Workspace` for reuse).
 *
 * Addresses are bytes. `f32` and `i32` see the whole memory and are replaced when it grows: read them afresh.
 */
export class Heap {
  readonly memory: WebAssembly.Memory;
  f32: Float32Array;
  i32: Int32Array;
  #top = 64;

  /** @param shared Whether threads can use it, too. */
  constructor(shared = false) {
    this.memory = new WebAssembly.Memory(shared ? { initial: 16, maximum: sharedPages, shared } : { initial: 16 });
    this.f32 = new Float32Array(this.memory.buffer);
    this.i32 = new Int32Array(this.memory.buffer);
  }

  /** Bytes handed out. */
  get used(): number {
    return this.#top;
  }

  /** Keeps everything below `address` for others: a WebAssembly module's own constants. */
  skipTo(address: number): void {
    this.#top = Math.max(this.#top, address);
  }

  /** Address of room for `count` floats (or 32-bit integers), 64-byte aligned, zeroed. */
  allocate(count: number): number {
    const address = this.#top;
    this.#raise(address + alignedBytes(count));
    return address;
  }

  /** Makes the newest allocation longer, in place. False when `address` is not the newest. */
  extend(address: number, oldCount: number, newCount: number): boolean {
    if (address + alignedBytes(oldCount) !== this.#top) return false;
    this.#raise(address + alignedBytes(newCount));
    return true;
  }

  /** Nothing is taken when there is not enough. */
  #raise(top: number): void {
    // Kernels may read, and ignore, up to 16 bytes past a matrix.
    this.#reach(top + 64);
    this.#top = top;
  }

  #reach(bytes: number): void {
    const missing = bytes - this.memory.buffer.byteLength;
    if (missing <= 0) return;
    if (bytes > mostBytes) throw tooLarge(bytes);
    try {
      this.memory.grow(Math.ceil(missing / pageBytes));
    } catch (cause) {
      throw tooLarge(bytes, cause);
    }
    this.f32 = new Float32Array(this.memory.buffer);
    this.i32 = new Int32Array(this.memory.buffer);
  }
}

/** Bytes that `count` floats take, a multiple of 64. */
export function alignedBytes(count: number): number {
  return Math.ceil(count / 16) * 64;
}

function tooLarge(bytes: number, cause?: unknown): UserError {
  return new UserError(
    `The model and its batch need ${(bytes / 2 ** 30).toFixed(1)} GiB, more than the engine can have.`,
    'Use a smaller batch (fewer or shorter sequences) or a smaller model.',
    { cause },
  );
}
