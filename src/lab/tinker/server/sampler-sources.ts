/** Where the weights of samplers come from: the base model, a checkpoint on the disk, or memory. */
import { UserError } from '../../../base/user-error.js';
import type { Checkpoint } from './checkpoints.js';
import type { BaseModel } from './model-catalogue.js';
import type { SamplerWeights } from './samplers.js';
import { adaptersOf, savedParameters, type Parameters } from './trained-model.js';

/** Limit of the weights that were saved for one sampler and never named, in bytes; the oldest are forgotten first. */
const MOST_BYTES_IN_MEMORY = 512 * 2 ** 20;
/** Checkpoints whose weights stay in memory while samplers take turns. */
const MOST_READ = 4;

export class SamplerSources {
  readonly #unnamed = new Map<string, Parameters>();
  readonly #read = new Map<string, Parameters>();
  #bytes = 0;

  ofBase(base: BaseModel): SamplerWeights {
    return { id: base.name, base, parameters: async () => null };
  }

  ofCheckpoint(base: BaseModel, { path, directory, manifest }: Checkpoint): SamplerWeights {
    const id = `${path}@${manifest.saved_at}`;
    const parameters = async (): Promise<Parameters> => {
      const known = this.#read.get(id);
      const read = known ?? { base, adapters: adaptersOf(manifest.lora), values: savedParameters(directory).values };
      // Moves the checkpoint to the end, because the first of the map is the one unused for longest.
      this.#read.delete(id);
      this.#read.set(id, read);
      if (this.#read.size > MOST_READ) this.#read.delete([...this.#read.keys()][0]!);
      return read;
    };
    return { id, base, parameters };
  }

  /** @param id Identifies these weights alone. */
  ofMemory(id: string, kept: Parameters): SamplerWeights {
    this.#unnamed.set(id, kept);
    this.#bytes += kept.values.byteLength;
    for (const oldest of [...this.#unnamed.keys()]) {
      if (this.#bytes <= MOST_BYTES_IN_MEMORY || oldest === id) break;
      this.forget(oldest);
    }
    const parameters = async (): Promise<Parameters> => {
      const found = this.#unnamed.get(id);
      if (found !== undefined) return found;
      throw new UserError(
        'The weights of this sampler have made room for newer ones.',
        'Save weights that are needed for long under a name (save_weights_for_sampler).',
      );
    };
    return { id, base: kept.base, parameters };
  }

  forget(id: string): void {
    const found = this.#unnamed.get(id);
    if (found === undefined) return;
    this.#unnamed.delete(id);
    this.#bytes -= found.values.byteLength;
  }
}
