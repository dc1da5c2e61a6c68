import { UserError } from '../../../base/user-error.js';
import { AdaptedEngine } from '../../engine/adapters/adapted-engine.js';
import { batchOf, scoresOf } from '../../probes/scored-batch.js';
import type { Rollout } from '../../rollouts/rollouts.js';
import type { ProcessContext } from '../../run/process-context.js';
import { withoutAdapters } from '../../service/dual-adapters.js';
import type { EngineService } from '../../service/engine-service.js';
import { driftLimitsOf, type Reading } from '../drift.js';
import { earnedBy, playTasks, type ModeEvaluation, type ModeReference } from '../modes.js';
import { openSaved, type OpenOptions } from './open-saved.js';
import { baseOf, type Subject } from './subject.js';

/** Reference of the samples. `model` is null when the model before the training is unknown, and `note` says why. */
export type Reference = ModeReference & { readonly model: string | null; readonly note: string };

type Question = {
  readonly subject: Subject;
  readonly evaluation: ModeEvaluation;
  /** Paths that the user gave. */
  readonly named: { readonly base: string | null; readonly held_out: string | null };
  readonly options: OpenOptions;
  readonly context: ProcessContext;
};

/**
 * Opens the reference models for `work`, and closes them afterwards. The model's own engine is then as it was.
 *
 * @throws UserError when a model that the user named cannot be opened.
 */
export async function withReference<T>(
  service: EngineService,
  question: Question,
  work: (reference: Reference) => Promise<T>,
): Promise<T> {
  const opened: EngineService[] = [];
  const open: Open = async (path) => {
    const { options, context, evaluation } = question;
    const { tokenizer } = evaluation.environment;
    const model = await openSaved(path, { ...options, tokenizer }, { ...context, log: () => {} });
    opened.push(model);
    return { service: model, within: (use) => use() };
  };
  try {
    const { base, ...found } = await findBase(service, question, open);
    const { held_out: path } = question.named;
    const heldOut = path === null ? null : await open(path);
    const known = base === null ? { before: null, drift: null } : await comparison(base, heldOut, question.evaluation);
    return await work({ ...found, ...known });
  } finally {
    for (const { engine } of opened) await engine.dispose();
  }
}

/** A reference model. `within` switches its engine to it during the work. */
type Model = { readonly service: EngineService; readonly within: <T>(work: () => Promise<T>) => Promise<T> };
type Open = (path: string) => Promise<Model>;

type FoundBase = Pick<Reference, 'model' | 'note'> & { readonly base: Model | null };

/**
 * The base is the frozen weights below the adapters; for a model that was trained as a whole, the run's initial model
 * is searched for.
 */
async function findBase(service: EngineService, { subject, named }: Question, open: Open): Promise<FoundBase> {
  const { engine } = service;
  if (named.base !== null) {
    const note = `the model that base= names, ${named.base}`;
    return { model: named.base, note, base: await open(named.base) };
  }
  if (engine instanceof AdaptedEngine) {
    const base: Model = { service, within: (work) => withoutAdapters(engine, work) };
    return { model: subject.directory, note: 'the same model without its adapters', base };
  }
  const path = baseOf(subject);
  if (path === null) {
    return { model: null, note: 'the model before the training is not known (name it by base=PATH)', base: null };
  }
  try {
    return { model: path, note: `the model that the run began with, ${path}`, base: await open(path) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const note = `the run began with ${path}, which cannot be opened (base=PATH names another): ${error.message}`;
    return { model: null, note, base: null };
  }
}

/** Minimum number of samples of the base from which limits are estimated: five of them are above the 95 % quantile. */
const fewestOwn = 100;

async function comparison(base: Model, heldOut: Model | null, evaluation: ModeEvaluation): Promise<ModeReference> {
  const read = async (groups: Groups) => ({
    base: await reading(base, groups),
    heldOut: heldOut === null ? null : await reading(heldOut, groups),
  });
  const first = await base.within(() => playTasks(base.service, evaluation));
  const copies = Math.ceil(fewestOwn / evaluation.tasks.length) - 1;
  const more =
    copies <= 0 ? [] : await base.within(() => playTasks(base.service, evaluation, { copies, stream: 'limits' }));
  return {
    before: await earnedBy(first, evaluation),
    drift: { limits: driftLimitsOf(await read([...first, ...more]), evaluation.tasks.length), read },
  };
}

type Groups = readonly (readonly Rollout[])[];

function reading({ service, within }: Model, groups: Groups): Promise<Reading> {
  return within(async () => (await scoresOf(service.engine, batchOf(groups), 1)).map(({ logprobs }) => logprobs));
}
