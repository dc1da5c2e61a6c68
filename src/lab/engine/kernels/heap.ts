import { UserError } from '../../../base/user-error.js';

const pageBytes = 65_536;
/** Bytes that a 32-bit address can reach, less one page. */
const mostBytes = 65_535 * pageBytes;
/** Pages of shared memory, whose addresses are all reserved at once; `scripts/build.js` has the same number. */
const sharedPages = 65_535;

/**
 * The linear memory of one engine, allocated from the bottom up and never freed (see `Workspace` for reuse).
 *
 * Addresses are bytes. `f32` and `i32` see the whole memory and are replaced when it grows: read them afresh.
 */
export class Heap {
  readonly memory: WebAssembly.Memory;
  f32: Float32Array;
  i32: Int32Array;
  readonly #isDouble: boolean;
  #top = 64;

  /**
   * @param options.shared Whether threads can use it, too.
   * @param options.isDouble Whether `f32` holds 64-bit floats: plain loops then compute in double precision. The
   * floats then lie in memory of their own at the same indices, so that addresses stay the same.
   */
  constructor({ shared = false, isDouble = false } = {}) {
    this.memory = new WebAssembly.Memory(shared ? { initial: 16, maximum: sharedPages, shared } : { initial: 16 });
    this.#isDouble = isDouble;
    this.f32 = this.floats(isDouble ? this.memory.buffer.byteLength / 4 : this.memory.buffer);
    this.i32 = new Int32Array(this.memory.buffer);
  }

  /**
   * An array of this heap's precision. TypeScript calls a Float64Array a Float32Array here: it has the same methods, and code between the
   * kernels and a caller need not know which it is.
   */
  floats(of: number | ArrayBuffer): Float32Array {
    const double = () => new Float64Array(of as number) as unknown as Float32Array;
    return this.#isDouble ? double() : new Float32Array(of as number);
  }

  /** Bytes allocated. */
  get used(): number {
    return this.#top;
  }

  /** Reserves everything below `address`, where a WebAssembly module keeps its constants. */
  skipTo(address: number): void {
    this.#top = Math.max(this.#top, address);
  }

  /** Allocates `count` floats (or 32-bit integers), 64-byte aligned and zeroed. @returns Their address. */
  allocate(count: number): number {
    const address = this.#top;
    this.#raise(address + alignedBytes(count));
    return address;
  }

  /** Extends the newest allocation in place. False when `address` is not the newest. */
  extend(address: number, oldCount: number, newCount: number): boolean {
    if (address + alignedBytes(oldCount) !== this.#top) return false;
    this.#raise(address + alignedBytes(newCount));
    return true;
  }

  /** Allocates nothing when there is not enough memory. */
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
    const before = this.f32;
    this.f32 = this.floats(this.#isDouble ? this.memory.buffer.byteLength / 4 : this.memory.buffer);
    if (this.#isDouble) this.f32.set(before);
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
