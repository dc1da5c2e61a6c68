import type { ModelShape } from '../engine.js';
import type { Device, Tensor } from './device.js';
import type { Parameters } from './parameters.js';
import type { Rotation } from './rotation.js';

/** The model as every pass needs it. */
export type Model = {
  readonly device: Device;
  readonly shape: ModelShape;
  readonly parameters: Parameters;
  readonly rotation: Rotation;
  /** Scores of the vocabulary that one tensor may hold; what is more is computed in pieces, twice. */
  readonly keptScores: number;
};

/** The numbers of a tensor, which is freed. Waits until they are computed. */
export async function read(tensor: Tensor): Promise<Float32Array> {
  try {
    return (await tensor.data()) as Float32Array;
  } finally {
    tensor.dispose();
  }
}
