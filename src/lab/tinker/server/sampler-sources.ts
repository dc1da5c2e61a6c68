/** Sources of samplers' weights: the base model, a checkpoint on the disk, or memory. */
import { UserError } from '../../../base/user-error.js';
import type { BaseModel } from './model-catalogue.js';
import type { SamplerWeights } from './samplers.js';
import { adaptersOf, savedParameters, type LoraSettings, type Parameters } from './parameters.js';

/** Weights to sample from, in plain data. `id` identifies the weights alone; `base` names their base model. */
export type SamplerSource = { readonly id: string; readonly base: string } & (
  | { readonly kind: 'base' | 'memory' }
  | { readonly kind: 'checkpoint'; readonly directory: string; readonly lora: LoraSettings }
);

/** Limit of the weights that were saved for one sampler and never named, in bytes; the oldest are forgotten first. */
const MOST_BYTES_IN_MEMORY = 512 * 2 ** 20;
/** Maximum number of checkpoints whose weights stay in memory while samplers alternate. */
const MOST_READ = 4;

export class SamplerSources {
  readonly #unnamed = new Map<string, Parameters>();
  readonly #read = new Map<string, Parameters>();
  #bytes = 0;

  weights(base: BaseModel, source: SamplerSource): SamplerWeights {
    return { id: source.id, base, parameters: async () => this.#parameters(base, source) };
  }

  /** Keeps weights for a sampler of this id. */
  keep(id: string, parameters: Parameters): void {
    this.#unnamed.set(id, parameters);
    this.#bytes += parameters.values.byteLength;
    for (const oldest of [...this.#unnamed.keys()]) {
      if (this.#bytes <= MOST_BYTES_IN_MEMORY || oldest === id) break;
      this.forget(oldest);
    }
  }

  forget(id: string): void {
    const found = this.#unnamed.get(id);
    if (found === undefined) return;
    this.#unnamed.delete(id);
    this.#bytes -= found.values.byteLength;
  }

  /** null stands for the weights of the base model itself. */
  #parameters(base: BaseModel, source: SamplerSource): Parameters | null {
    switch (source.kind) {
      case 'base':
        return null;
      case 'memory':
        return this.#unnamed.get(source.id) ?? goneFromMemory();
      case 'checkpoint':
        return this.#checkpoint(base, source);
    }
  }

  #checkpoint(base: BaseModel, { id, directory, lora }: SamplerSource & { kind: 'checkpoint' }): Parameters {
    const known = this.#read.get(id);
    const read = known ?? { base, adapters: adaptersOf(lora), values: savedParameters(directory).values };
    // Moves the checkpoint to the end, because the first of the map is the one unused for longest.
    this.#read.delete(id);
    this.#read.set(id, read);
    if (this.#read.size > MOST_READ) this.#read.delete([...this.#read.keys()][0]!);
    return read;
  }
}

function goneFromMemory(): never {
  throw new UserError(
    'The weights of this sampler were dropped to make room for newer ones.',
    'Save weights that are needed for long under a name (save_weights_for_sampler).',
  );
}
