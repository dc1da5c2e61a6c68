import type { ModelShape } from '../engine.js';
import type { Kernels } from '../kernels/kernels.js';
import { widthsOf, type Widths } from '../model-shape.js';
import { paddedShape } from './padding.js';
import { Parameters } from './parameters.js';

/** What every pass over the model needs. */
export type Model = {
  /** That of `paddedShape`. */
  readonly shape: ModelShape;
  readonly widths: Widths;
  readonly kernels: Kernels;
  readonly parameters: Parameters;
  /** Tables of cos and sin, [context × head width / 2]. */
  readonly cos: number;
  readonly sin: number;
  /** Factor of the attention scores. */
  readonly scoreScale: number;
};

/** Lays out a model on the kernels' heap. All weights are zero. */
export function buildModel(kernels: Kernels, given: ModelShape): Model {
  const shape = paddedShape(given);
  const widths = widthsOf(shape);
  const parameters = new Parameters(kernels, shape);
  const cos = kernels.heap.allocate((shape.context * widths.head) / 2);
  const sin = kernels.heap.allocate((shape.context * widths.head) / 2);
  fillRopeTables({ shape, widths, kernels, cos, sin });
  return { shape, widths, kernels, parameters, cos, sin, scoreScale: 1 / Math.sqrt(widths.head) };
}

function fillRopeTables({ shape, widths, kernels, cos, sin }: Omit<Model, 'parameters' | 'scoreScale'>): void {
  const { f32 } = kernels.heap;
  const half = widths.head / 2;
  for (let position = 0; position < shape.context; position++) {
    for (let j = 0; j < half; j++) {
      const angle = position * Math.pow(shape.ropeTheta, -j / half);
      f32[cos / 4 + position * half + j] = Math.cos(angle);
      f32[sin / 4 + position * half + j] = Math.sin(angle);
    }
  }
}
