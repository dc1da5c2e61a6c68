import type * as tfjs from '@tensorflow/tfjs-core';

/** TensorFlow.js is loaded at run time, from whichever package is installed: only its types are known here. */
export type Tf = typeof tfjs;
export type { Tensor } from '@tensorflow/tfjs-core';
type Tensor = tfjs.Tensor;

/** The hardware that computes, in words, and whether it is a GPU. */
export type Hardware = { readonly isGpu: boolean; readonly words: string };

/**
 * TensorFlow.js on one of its backends. The backends of a process share one library, which computes on one of them at
 * a time: every computation must happen inside `run`.
 */
export class Device {
  readonly tf: Tf;
  /** Our name of the backend: that of the package, as two packages may offer one backend. */
  readonly name: string;
  /** The library's name of the backend: `tensorflow`, `webgpu`, `wasm` or `cpu`. */
  readonly backend: string;

  constructor(tf: Tf, backend: string, name = `tfjs-${backend}`) {
    this.tf = tf;
    this.backend = backend;
    this.name = name;
  }

  /**
   * Computes on this backend, and frees every tensor made on the way except those in the result, which the caller
   * owns.
   */
  run<T>(compute: () => T): T {
    // The call does its work before it returns when the backend is ready; its promise adds nothing.
    if (this.tf.getBackend() !== this.backend) void this.tf.setBackend(this.backend);
    return this.tf.tidy(compute as () => tfjs.TensorContainer) as T;
  }

  /** Frees every tensor in an object, however deep. */
  free(tensors: object): void {
    this.tf.dispose(tensors as tfjs.TensorContainer);
  }

  /** A · B for two matrices. */
  product(a: Tensor, b: Tensor): Tensor {
    return this.tf.matMul(a, b);
  }

  /** A · Bᵀ for two matrices. */
  productByTransposed(a: Tensor, b: Tensor): Tensor {
    return this.#slowTransposed ? this.tf.matMul(a, this.tf.transpose(b)) : this.tf.matMul(a, b, false, true);
  }

  /** Aᵀ · B for two matrices. */
  transposedProduct(a: Tensor, b: Tensor): Tensor {
    return this.#slowTransposed ? this.tf.matMul(this.tf.transpose(a), b) : this.tf.matMul(a, b, true, false);
  }

  /** Gathers rows of a matrix. */
  rows(table: Tensor, ids: Tensor): Tensor {
    return this.tf.gather(table, ids);
  }

  ids(values: ArrayLike<number>): Tensor {
    return this.tf.tensor1d(Int32Array.from(values), 'int32');
  }

  floats(values: Float32Array): Tensor {
    return this.tf.tensor1d(values, 'float32');
  }

  /**
   * Whether transposed products are slow: the library's WebAssembly multiplies a transposed matrix in a plain loop,
   * fifteen times slower than a plain one.
   */
  get #slowTransposed(): boolean {
    return this.backend === 'wasm';
  }
}
