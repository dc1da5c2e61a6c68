import type { ModelShape } from '../engine.js';
import type { Device, Tensor } from './device.js';
import type { Parameters } from './parameters.js';
import type { Rotation } from './rotation.js';
import type { Pause } from '../model/steps.js';

/** The model as every pass needs it. */
export type Model = {
  readonly device: Device;
  readonly shape: ModelShape;
  readonly parameters: Parameters;
  readonly rotation: Rotation;
  /** Scores of the vocabulary that one tensor may hold; more are computed in pieces, twice. */
  readonly keptScores: number;
  /** Called between the steps of long computations. */
  readonly pause: Pause;
};

/** Reads the numbers of a tensor, once they are computed, and frees it. */
export async function readAndDispose(tensor: Tensor): Promise<Float32Array> {
  try {
    return (await tensor.data()) as Float32Array;
  } finally {
    tensor.dispose();
  }
}
