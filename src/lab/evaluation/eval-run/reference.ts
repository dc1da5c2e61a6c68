import { UserError } from '../../../base/user-error.js';
import { AdaptedEngine } from '../../engine/adapters/adapted-engine.js';
import { completionOf } from '../../rewards/completion.js';
import type { ProcessContext } from '../../run/process-context.js';
import { withoutAdapters } from '../../service/dual-adapters.js';
import type { EngineService } from '../../service/engine-service.js';
import { playOnce, type ModeEvaluation } from '../modes.js';
import { openSaved, type Wish } from './open-saved.js';
import { baseOf, type Subject } from './subject.js';

/** What the model before the training wrote for the same prompts. `model` null: it is not known, and `note` says why. */
export type Reference = { readonly model: string | null; readonly note: string; readonly texts: readonly string[] };

/** Frozen weights are that model; of one that was trained as a whole it is opened again. The engine is afterwards as it was. */
export async function referenceOf(
  service: EngineService,
  subject: Subject,
  evaluation: ModeEvaluation,
  { wish, context }: { readonly wish: Wish; readonly context: ProcessContext },
): Promise<Reference> {
  const { engine } = service;
  const write = async (of: EngineService) =>
    (await playOnce(of, evaluation)).flat().map((rollout) => completionOf(rollout).text);
  if (engine instanceof AdaptedEngine) {
    const texts = await withoutAdapters(engine, () => write(service));
    return { model: subject.directory, note: 'the same model without its adapters', texts };
  }
  const base = baseOf(subject);
  if (base === null) return { model: null, note: 'nothing says what the model was before', texts: [] };
  const quiet = { ...context, log: () => {} };
  const { tokenizer } = evaluation.environment;
  const opened = await openSaved(base, { ...wish, tokenizer }, quiet).catch((error: unknown) => {
    if (!(error instanceof UserError)) throw error;
    return error.message;
  });
  if (typeof opened === 'string') {
    return { model: null, note: `the run began with ${base}, which cannot be opened: ${opened}`, texts: [] };
  }
  try {
    return { model: base, note: `the model that the run began with, ${base}`, texts: await write(opened) };
  } finally {
    await opened.engine.dispose();
  }
}
