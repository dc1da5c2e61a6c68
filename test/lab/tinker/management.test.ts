import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeFolder } from '../../remove-folder.js';
import { example, runningService, withModel, type RunningService } from './running-service.js';

let service: RunningService;
const directory = mkdtempSync(join(tmpdir(), 'memrl-serve-'));
beforeAll(async () => {
  service = await runningService(directory);
});
afterAll(async () => {
  await service.close();
  removeFolder(directory);
});

const save = async (model: string, seq: number, path: string): Promise<string> =>
  (await service.result('save_weights', { model_id: model, seq_id: seq, path })).body.path;
const get = async (path: string) => (await service.ask('GET', path)).body;
const checkpointsAt = (path: string): string => path.replace('tinker://', 'training_runs/').replace('/weights', '/checkpoints/weights'); // prettier-ignore

describe('lists of the service', () => {
  it('include saved weights of all models, the newest first, page by page', async () => {
    const [one, other] = [(await withModel(service)).model, (await withModel(service)).model];
    const paths = [await save(one, 1, 'a'), await save(other, 1, 'b'), await save(one, 2, 'c')];
    const all = await get('checkpoints');
    expect(all.checkpoints.map(({ tinker_path: path }) => path)).toEqual(paths.toReversed());
    const second = await get('checkpoints?limit=1&offset=1');
    expect(second.checkpoints.map(({ tinker_path: path }) => path)).toEqual([paths[1]]);
    expect(second.cursor).toEqual({ offset: 1, limit: 1, total_count: 3 });
    expect((await get('training_runs?limit=1')).training_runs).toHaveLength(1);
    expect((await service.ask('GET', 'checkpoints?limit=some')).status).toBe(422);
  });

  it('include sessions, with their models and the metadata of their clients', async () => {
    const created = { display_name: 'sums', user_metadata: { recipe: 'rl' } };
    const { session_id: session } = (await service.ask('POST', 'create_session', created)).body;
    const { model_id: model } = (
      await service.result('create_model', { session_id: session, model_seq_id: 0, base_model: 'memrl/tiny' })
    ).body;
    expect((await get('sessions')).sessions).toContain(session);
    expect(await get(`sessions/${session}`)).toEqual({
      ...created,
      training_run_ids: [model],
      sampler_ids: [],
    });
  });
});

it('sessions are found by words and metadata, the newest first', async () => {
  const begin = async (display_name: string, user_metadata: object) =>
    (await service.ask('POST', 'create_session', { display_name, user_metadata })).body.session_id;
  const [one, two] = [await begin('Nightly sums', { kind: 'a' }), await begin('nightly words', { kind: 'b' })];
  type Found = { sessions: { session_id: string }[]; next_cursor: object | null };
  const search = async (body: object) => (await service.ask('POST', 'sessions/search', body)).body as unknown as Found;
  const ids = ({ sessions }: Found) => sessions.map(({ session_id: id }) => id);
  expect(ids(await search({ display_name: 'NIGHTLY' }))).toEqual([two, one]);
  expect(ids(await search({ display_name: 'sums nightly' }))).toEqual([one]);
  expect(ids(await search({ user_metadata: { kind: 'b' } }))).toEqual([two]);
  const page = await search({ display_name: 'nightly', limit: 1 });
  expect(ids(await search({ display_name: 'nightly', limit: 1, cursor: page.next_cursor }))).toEqual([one]);
});

it.each([
  { method: 'GET', path: 'audit?event_type=all', words: /no audit log here: requests\.jsonl/ },
  { method: 'GET', path: 'billing/usage/events?starting_on=x', words: /Nothing is billed here/ },
  { method: 'PUT', path: 'sessions/x/project', words: /no projects here/ },
  { method: 'GET', path: 'sessions/x/trace_export', words: /no traces here/ },
])('$method $path is for multi-user services: the response names the alternative here', async (each) => {
  const answer = await service.ask(each.method, each.path, each.method === 'PUT' ? { project_id: 'p' } : undefined);
  expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(each.words)]);
});

describe('saved weights', () => {
  it('expire after their time to live, or never', async () => {
    const { model } = await withModel(service);
    const path = await save(model, 1, 'kept');
    const expiry = async () => (await get(`training_runs/${model}/checkpoints`)).checkpoints[0]!.expires_at;
    expect(await expiry()).toBeNull();
    await service.ask('PUT', `${checkpointsAt(path)}/ttl`, { ttl_seconds: 3600 });
    const hours = (Date.parse((await expiry())!) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(0.9);
    expect(hours).toBeLessThanOrEqual(1);
    await service.ask('PUT', `${checkpointsAt(path)}/ttl`, { ttl_seconds: null });
    expect(await expiry()).toBeNull();
  });

  it('have a time to live of at most a hundred years; a longer one is refused with the field named', async () => {
    const { model } = await withModel(service);
    const path = await save(model, 1, 'kept');
    const asked = await service.ask('PUT', `${checkpointsAt(path)}/ttl`, { ttl_seconds: 1e13 });
    expect([asked.status, asked.body.detail]).toEqual([422, expect.stringContaining('ttl_seconds')]);
    const saved = await service.result('save_weights', { model_id: model, seq_id: 2, path: 'long', ttl_seconds: 1e13 });
    expect(saved.body.error).toContain('ttl_seconds');
    expect((await service.ask('GET', 'checkpoints')).status).toBe(200);
  });

  it('cannot be published, with the reason in the response', async () => {
    const { model } = await withModel(service);
    const path = await save(model, 1, 'kept');
    expect((await service.ask('POST', `${checkpointsAt(path)}/publish`)).body.detail).toMatch(/on this machine alone/);
  });

  it('are copied to a run of their own, once for a repeated request, and outlive their source', async () => {
    const { model } = await withModel(service);
    const source = await save(model, 1, 'kept');
    const copy = async () =>
      (await service.ask('POST', 'copy_weights', { source_path: source, destination_project_id: 'p' }, { 'x-idempotency-key': 'once' }))
        .body as unknown as { tinker_path: string }; // prettier-ignore
    const { tinker_path: path } = await copy();
    expect(path).toMatch(/^tinker:\/\/\w+-copy1:train:0\/weights\/kept$/);
    expect((await copy()).tinker_path).toBe(path);
    await service.ask('DELETE', checkpointsAt(source));
    const loaded = await service.result('load_weights', { model_id: model, seq_id: 2, path });
    expect(loaded.body.path).toBe(path);
  });
});

describe('a model', () => {
  const learn = { data: [example([5, 6, 7, 8])], loss_fn: 'cross_entropy' };

  it('is gone when it is unloaded, and its saved weights stay', async () => {
    const { model } = await withModel(service);
    const path = await save(model, 1, 'kept');
    expect((await service.result('unload_model', { model_id: model })).body).toMatchObject({ type: 'unload_model' });
    const late = { model_id: model, seq_id: 2, forward_backward_input: learn };
    expect((await service.ask('POST', 'forward_backward', late)).status).toBe(410);
    expect((await get('checkpoints')).checkpoints.map(({ tinker_path }) => tinker_path)).toContain(path);
  });

  it('continues after a request for an unsupported operation, whose error suggests another', async () => {
    const { model } = await withModel(service);
    const after = service.result('forward', { model_id: model, seq_id: 2, forward_backward_input: learn });
    const unknown = await service.result('create_custom_loss', { model_id: model, seq_id: 1, path: 'x' });
    expect(unknown.body.error).toMatch(/no POST create_custom_loss.*forward_backward_custom/);
    expect((await after).body.metrics['loss:sum']).toBeGreaterThan(0);
  });
});
