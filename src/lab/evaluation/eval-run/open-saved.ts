import type { EngineChoice } from '../../engine/choose-engine.js';
import type { DualHint } from '../../hugging-face/dual-lora.js';
import { findModel, restoreModel } from '../../run/model-files.js';
import type { ProcessContext } from '../../run/process-context.js';
import { EngineService } from '../../service/engine-service.js';
import { openModel } from '../../service/open-model.js';
import type { Tokenizer } from '../../text/tokenizer.js';

/** Options of the engine. */
export type OpenOptions = {
  readonly engine: EngineChoice;
  readonly threads: number | null;
  readonly repetition_penalty?: number;
};

/**
 * The model at this path with its own adapters at scale 1.
 * @throws UserError when the path holds no model with this tokenizer.
 */
export async function openSaved(
  path: string,
  options: OpenOptions & { readonly tokenizer: Tokenizer; readonly hint?: DualHint },
  context: Pick<ProcessContext, 'log' | 'environment'>,
): Promise<EngineService> {
  const resumed = { path: findModel(path), batch: 0, state: null };
  const source = { ...options, model_name: '', load_checkpoint_path: null, seed: 0, resumed };
  const service = new EngineService(await openModel(source, context));
  await restoreModel(resumed.path, service.engine, options.hint);
  return service;
}
