import type { Engine } from '../../engine/engine.js';
import type { EngineChoice } from '../../engine/choose-engine.js';
import { openModel } from '../../recipes/open-model.js';
import { restore } from '../../run/checkpoint.js';
import { findModel } from '../../run/model-files.js';
import type { World } from '../../run/world.js';
import type { Tokenizer } from '../../text/tokenizer.js';

/** What computes. */
export type Wish = { readonly engine: EngineChoice; readonly threads: number | null };

/** The model at this path with its own adapters, switched on. @throws UserError when there is none with this tokenizer. */
export async function openSaved(
  path: string,
  wish: Wish & { readonly tokenizer: Tokenizer },
  world: Pick<World, 'log' | 'environment'>,
): Promise<Engine> {
  const resumed = { path: findModel(path), batch: 0, state: null };
  const engine = await openModel({ ...wish, model_name: '', load_checkpoint_path: null, seed: 0, resumed }, world);
  await restore(engine, resumed);
  return engine;
}
