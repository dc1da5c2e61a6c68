/** Responses about saved weights: facts of one path, and the list of runs with saved weights. */
import { sizeOf, type Checkpoint, type Checkpoints } from './checkpoints.js';
import { Refusal } from './refusal.js';
import type { Session } from './sessions.js';

export function weightsInfo(checkpoints: Checkpoints, path: string) {
  const { base_model: base, lora } = checkpoints.open(path).manifest;
  return {
    base_model: base,
    is_lora: lora.rank > 0,
    lora_rank: lora.rank,
    train_unembed: lora.trainUnembed,
    train_mlp: lora.trainMlp,
    train_attn: lora.trainAttn,
  };
}

/** A part of a list, as `limit` and `offset` of the query say; all of it without them. */
export function page(name: string, items: readonly unknown[], query: URLSearchParams) {
  const whole = (key: string, usual: number) => {
    const value = Number(query.get(key) ?? usual);
    if (!Number.isSafeInteger(value) || value < 0)
      throw new Refusal(422, `The ${key} of the query is not a whole number.`);
    return value;
  };
  const [offset, limit] = [whole('offset', 0), whole('limit', items.length)];
  return {
    [name]: items.slice(offset, offset + limit),
    cursor: { offset, limit, total_count: items.length },
  };
}

export function sessionInfo({ models, samplers, name, metadata }: Session) {
  const ids = (all: ReadonlyMap<number, { readonly id: string }>) => Array.from(all.values(), ({ id }) => id);
  return {
    training_run_ids: ids(models),
    sampler_ids: ids(samplers),
    display_name: name,
    user_metadata: metadata,
  };
}

/** @throws Refusal that says where the weights are: clients are on this machine, and need no copy. */
export function archiveOf(checkpoints: Checkpoints, path: string): never {
  const { directory } = checkpoints.open(path);
  throw new Refusal(
    404,
    `There are no archives here. The weights are in ${directory} of this machine; \`memrl model ${directory} output_dir=…\` writes them for transformers.`,
  );
}

/** The checkpoints of all models, the newest first. */
export function allCheckpoints(checkpoints: Checkpoints) {
  return checkpoints
    .models()
    .flatMap((model) => checkpoints.ofModel(model))
    .sort((a, b) => b.manifest.saved_at - a.manifest.saved_at)
    .map(describeCheckpoint);
}

/** The checkpoints of one model, the oldest first. */
export function checkpointsOf(checkpoints: Checkpoints, model: string) {
  return checkpoints.ofModel(model).map(describeCheckpoint);
}

/** Every model that has saved weights; models that have saved none are not listed. */
export function trainingRuns(checkpoints: Checkpoints) {
  return checkpoints.models().flatMap((model) => {
    const saved = checkpoints.ofModel(model);
    return saved.length === 0 ? [] : [describeRun(model, saved)];
  });
}

function describeCheckpoint({ path, directory, manifest }: Checkpoint) {
  const [, , , kind = '', name = ''] = path.split('/');
  return {
    checkpoint_id: `${kind}/${name}`,
    checkpoint_type: kind === 'weights' ? 'training' : 'sampler',
    time: new Date(manifest.saved_at).toISOString(),
    tinker_path: path,
    size_bytes: sizeOf(directory),
    public: false,
    user_metadata: manifest.user_metadata,
    expires_at: manifest.expires_at === null ? null : new Date(manifest.expires_at).toISOString(),
  };
}

function describeRun(model: string, saved: readonly Checkpoint[]) {
  const { manifest } = saved.at(-1)!;
  const all = saved.map(describeCheckpoint);
  return {
    training_run_id: model,
    base_model: manifest.base_model,
    model_owner: 'local',
    is_lora: manifest.lora.rank > 0,
    lora_rank: manifest.lora.rank,
    last_request_time: new Date(manifest.saved_at).toISOString(),
    last_checkpoint: all.findLast(({ checkpoint_type: type }) => type === 'training') ?? null,
    last_sampler_checkpoint: all.findLast(({ checkpoint_type: type }) => type === 'sampler') ?? null,
    user_metadata: manifest.user_metadata,
  };
}
