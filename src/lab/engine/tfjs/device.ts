import type * as tfjs from '@tensorflow/tfjs-core';

/** TensorFlow.js is loaded when it is asked for, from whichever package the person has: only its types are known here. */
export type Tf = typeof tfjs;
export type { Tensor } from '@tensorflow/tfjs-core';
type Tensor = tfjs.Tensor;

/** The part of the machine that computes, in words, and whether it is a GPU. */
export type Place = { readonly isGpu: boolean; readonly words: string };

/**
 * TensorFlow.js on one of its backends. The backends of a process share one library, which computes on one of them at a
 * time: whoever computes does it inside `run`.
 */
export class Device {
  readonly tf: Tf;
  /** Ours: that of the package, where there are two for one backend. */
  readonly name: string;
  /** The library's name for it: `tensorflow`, `webgpu`, `wasm` or `cpu`. */
  readonly backend: string;

  constructor(tf: Tf, backend: string, name = `tfjs-${backend}`) {
    this.tf = tf;
    this.backend = backend;
    this.name = name;
  }

  /** Computes on this backend, and frees every tensor made on the way but those in what is returned: the caller owns them. */
  run<T>(compute: () => T): T {
    // For a backend that is ready the call does its work before it returns; its promise has nothing to add.
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

  /** Rows of a matrix. */
  rows(table: Tensor, ids: Tensor): Tensor {
    return this.tf.gather(table, ids);
  }

  ids(values: ArrayLike<number>): Tensor {
    return this.tf.tensor1d(Int32Array.from(values), 'int32');
  }

  floats(values: Float32Array): Tensor {
    return this.tf.tensor1d(values, 'float32');
  }

  /** The library's WebAssembly multiplies a transposed matrix in a plain loop, fifteen times slower than a plain one. */
  get #slowTransposed(): boolean {
    return this.backend === 'wasm';
  }
}
