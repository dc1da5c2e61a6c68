/** What the service tells about saved weights: facts of one path, and the runs that have saved some. */
import { sizeOf, type Checkpoint, type Checkpoints } from './checkpoints.js';

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
