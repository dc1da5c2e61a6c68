import type { Heap } from './heap.js';

/**
 * Arguments of kernels that come in groups: written once into the heap, where the kernel reads them. Each is laid out as
 * the class of the same name in `assembly/`.
 */

/** Settings of one `adam`; bias corrections are in `step` and `epsilon`. */
export type AdamSettings = {
  readonly step: number;
  /** 1 − β₁ and 1 − β₂. */
  readonly fresh1: number;
  readonly fresh2: number;
  readonly epsilon: number;
  /** What weight decay leaves of a weight: 1 when there is none. */
  readonly kept: number;
  /** Factor of the gradient: 1 when it is not clipped. */
  readonly gradientScale: number;
};

export function writeAdamSettings({ f32 }: Heap, at: number, settings: AdamSettings): void {
  const { step, fresh1, fresh2, epsilon, kept, gradientScale } = settings;
  f32.set([step, fresh1, fresh2, epsilon, kept, gradientScale], at / 4);
}

export function readAdamSettings({ f32 }: Heap, at: number): AdamSettings {
  const [step, fresh1, fresh2, epsilon, kept, gradientScale] = f32.subarray(at / 4, at / 4 + 6);
  return {
    step: step!,
    fresh1: fresh1!,
    fresh2: fresh2!,
    epsilon: epsilon!,
    kept: kept!,
    gradientScale: gradientScale!,
  };
}
