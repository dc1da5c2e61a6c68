/** Responses about saved weights: facts of one path, and the list of runs with saved weights. */
import { sizeOf, type Checkpoint, type Checkpoints } from './checkpoints.js';
import { Refusal } from './refusal.js';
import type { SearchSessions } from './requests.js';
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

/** A page of a list, by `limit` and `offset` of the query; the whole list without them. */
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

/** A page of the sessions that are searched for, the newest first. Those that have ended are no longer known. */
export function foundSessions(sessions: readonly Session[], checkpoints: Checkpoints, search: SearchSessions) {
  const matching = sessions.filter((session) => isFound(session, search)).toReversed();
  const before = search.cursor == null ? -1 : matching.findIndex(({ id }) => id === search.cursor?.last_session_id);
  const found = matching.slice(before + 1, before + 1 + search.limit);
  const last = found.at(-1);
  const isMore = before + 1 + found.length < matching.length && last !== undefined;
  return {
    sessions: found.map((session) => sessionSummary(session, checkpoints)),
    next_cursor: isMore ? { last_created_at: isoOf(last.began), last_session_id: last.id } : null,
  };
}

function isFound({ id, name, metadata }: Session, search: SearchSessions): boolean {
  const { session_id: wanted, display_name: words, user_metadata: pairs, statuses } = search;
  if (statuses != null && !statuses.some(({ type }) => type === 'active')) return false;
  const isOne = (wanted == null && words == null) || id === wanted || hasWords(name, words);
  return isOne && Object.entries(pairs).every(([key, value]) => metadata?.[key] === value);
}

function hasWords(name: string | null, words: string | null | undefined): boolean {
  if (name === null || words == null) return false;
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => name.toLowerCase().includes(word));
}

function sessionSummary({ id, name, metadata, models, began }: Session, checkpoints: Checkpoints) {
  const saved = [...models.values()].flatMap((model) => checkpoints.ofModel(model.id));
  return {
    ...{ session_id: id, created_at: isoOf(began), owner: 'local', project_id: 'local', status: { type: 'active' } },
    ...{ checkpoints_count: saved.length, display_name: name, user_metadata: metadata },
    checkpoint_storage_bytes: saved.reduce((sum, { directory }) => sum + sizeOf(directory), 0),
  };
}

/** Storage that saved weights take, free of charge. */
export function storageUsage(checkpoints: Checkpoints) {
  const saved = checkpoints.models().flatMap((model) => checkpoints.ofModel(model));
  const bytes = saved.reduce((sum, { directory }) => sum + sizeOf(directory), 0);
  const usage = { checkpoint_count: saved.length, size_bytes: bytes, size_gigabytes: bytes / 1e9 };
  return { effective_rate_usd_per_gigabyte_month: 0, data: [{ ...usage, estimated_monthly_cost_usd: 0 }] };
}

/** @param time Unix ms. */
function isoOf(time: number): string {
  return new Date(time).toISOString();
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

const checkpointTypes = { weights: 'training', sampler_weights: 'sampler', external_weights: 'external' } as const;

function describeCheckpoint({ path, directory, manifest }: Checkpoint) {
  const [, , , kind = '', name = ''] = path.split('/');
  return {
    checkpoint_id: `${kind}/${name}`,
    checkpoint_type: checkpointTypes[kind as keyof typeof checkpointTypes],
    time: isoOf(manifest.saved_at),
    tinker_path: path,
    size_bytes: sizeOf(directory),
    public: false,
    user_metadata: manifest.user_metadata,
    expires_at: manifest.expires_at === null ? null : isoOf(manifest.expires_at),
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
    last_request_time: isoOf(manifest.saved_at),
    last_checkpoint: all.findLast(({ checkpoint_type: type }) => type === 'training') ?? null,
    last_sampler_checkpoint: all.findLast(({ checkpoint_type: type }) => type === 'sampler') ?? null,
    user_metadata: manifest.user_metadata,
  };
}
