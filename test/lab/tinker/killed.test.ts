import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it, vi } from 'vitest';
import { PATIENCE_MS } from '../../patience.js';
import { bundledProgram, type Program } from '../program.js';
import { startComputing } from '../../../src/lab/tinker/server/thread-calls.js';
import { tempDirectory } from '../temp-directory.js';
import { example } from './running-service.js';

let program: Program;
beforeAll(async () => {
  program = await bundledProgram();
});

/** Of the service, in the middle of saves. */
const KILLS = Number(process.env['KILLS'] ?? 8);

type Json = Record<string, string>;

async function started(dir: string) {
  const { child, ended } = program.start([
    'serve',
    'memrl/tiny',
    '--port',
    '0',
    `dir=${dir}`,
    'engine=wasm',
    'threads=1',
  ]);
  let said = '';
  child.stdout!.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const line = (words: RegExp) =>
    vi.waitFor(() => expect(words.exec(said)).not.toBeNull(), PATIENCE_MS).then(() => words.exec(said)![0]);
  const url = await line(/http:\S+(?=\n)/);
  const ask = async (path: string, body: object) => {
    const headers = { 'x-api-key': 'tml-test' };
    const response = await fetch(`${url}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as Json };
  };
  const result = async (path: string, body: object) => {
    const { request_id } = (await ask(path, body)).body;
    return (await ask('retrieve_future', { request_id })).body;
  };
  return { child, ended, ask, result, line };
}

it('a killed service keeps saved weights, and reports sessions as gone; SIGTERM ends it', async () => {
  const dir = tempDirectory();
  const first = await started(dir);
  const { session_id } = (await first.ask('create_session', {})).body;
  const created = { session_id, model_seq_id: 0, base_model: 'memrl/tiny', lora_config: { rank: 2 } };
  const { model_id } = await first.result('create_model', created);
  const input = { data: [example([5, 6, 7, 8])], loss_fn: 'cross_entropy' };
  await first.result('forward_backward', { model_id, seq_id: 1, forward_backward_input: input });
  await first.result('optim_step', { model_id, seq_id: 2, adam_params: { learning_rate: 0.01 } });
  const { path } = await first.result('save_weights', { model_id, seq_id: 3, path: 'kept' });
  const before = await first.result('forward', { model_id, seq_id: 4, forward_backward_input: input });
  first.child.kill('SIGKILL');
  await first.ended;

  const second = await started(dir);
  expect((await second.ask('session_heartbeat', { session_id: session_id! })).status).toBe(410);
  expect((await second.ask('optim_step', { model_id: model_id!, seq_id: 5, adam_params: {} })).status).toBe(410);
  const session = (await second.ask('create_session', {})).body['session_id']!;
  const again = await second.result('load_weights', {
    session_id: session,
    model_seq_id: 0,
    path: path!,
    optimizer: true,
  });
  const after = await second.result('forward', {
    model_id: again['model_id']!,
    seq_id: 1,
    forward_backward_input: input,
  });
  expect(after).toEqual(before);
  expect(await second.line(/.* tokens takes about: .*/)).toMatch(
    /memrl\/tiny [\d.]+ m?s · memrl\/stories .* · memrl\/words /,
  );
  second.child.kill('SIGTERM');
  expect((await second.ended).code).toBe(143);
});

it(
  'a service that is killed again and again during saves keeps every acknowledged save whole, and none in part',
  { tags: ['long'] },
  async () => {
    const dir = tempDirectory();
    const saved: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const service = await started(dir);
      const { session_id } = (await service.ask('create_session', {})).body;
      const created = { session_id, model_seq_id: 0, base_model: 'memrl/tiny', lora_config: { rank: 2 } };
      const { model_id } = await service.result('create_model', created);
      try {
        for (let seq_id = 1; ; seq_id++) {
          const { path } = await service.result('save_weights', { model_id, seq_id, path: `w${kill}-${seq_id}` });
          saved.push(path!);
          if (seq_id === 1) setTimeout(() => service.child.kill('SIGKILL'), (kill * 13) % 60);
        }
      } catch {
        // It has been killed.
      }
      await service.ended;
    }
    const last = await started(dir);
    const session_id = (await last.ask('create_session', {})).body['session_id']!;
    const loaded: string[] = [];
    for (const [model_seq_id, path] of saved.entries()) {
      const { model_id } = await last.result('load_weights', { session_id, model_seq_id, path, optimizer: true });
      if (model_id !== undefined) loaded.push(path);
    }
    expect(saved.length).toBeGreaterThanOrEqual(KILLS);
    expect(loaded).toEqual(saved);
    const files = readdirSync(join(dir, 'checkpoints'), { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => file.endsWith('.draft'))).toEqual([]);
    last.child.kill('SIGTERM');
    await last.ended;
  },
);

it('a crash of the compute thread is reported by current and later calls', async () => {
  const file = new URL('data:text/javascript,setTimeout(() => { throw new Error("no memory is left"); });');
  const settings = { home: tempDirectory(), models: [], environment: {}, engine: 'wasm', threads: 1 } as const;
  const { computing, lost } = startComputing(file, settings);
  const underWay = computing.dispose('m');
  const words = 'The thread that computes has ended: no memory is left.';
  await expect(underWay).rejects.toThrow(words);
  await expect(computing.dispose('m')).rejects.toThrow(words);
  await expect(lost).rejects.toMatchObject({ message: words, fix: expect.stringContaining('again') as string });
});

it('a second service for the same directory is refused, and leaves the first one’s files alone', async () => {
  const dir = tempDirectory();
  const draft = join(dir, 'checkpoints', 'boot-s1+train+0', 'weights', 'kept.draft');
  const first = await started(dir);
  // As a save of the first one that goes on at this moment.
  mkdirSync(draft, { recursive: true });
  const second = await program.run(['serve', 'memrl/tiny', 'port=0', `dir=${dir}`, 'engine=wasm', 'threads=1']);
  expect([second.code, second.stderr]).toEqual([
    2,
    expect.stringMatching(new RegExp(`serves from this directory: process ${first.child.pid}[^]*another dir`)),
  ]);
  expect(existsSync(draft)).toBe(true);
  first.child.kill('SIGTERM');
  await first.ended;
  expect(existsSync(join(dir, 'memrl.lock'))).toBe(false);
});
