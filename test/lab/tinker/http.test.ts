import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { mkdtempSync, readFileSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { httpServer } from '../../../src/lab/tinker/server/http-server.js';
import { PATIENCE_MS } from '../../patience.js';
import { removeFolder } from '../../remove-folder.js';
import { tempDirectory } from '../temp-directory.js';
import { runningService, withModel, type Answer, type RunningService } from './running-service.js';

let service: RunningService;
const directory = mkdtempSync(join(tmpdir(), 'memrl-serve-'));
beforeAll(async () => {
  service = await runningService(directory);
});
afterAll(async () => {
  await service.close();
  removeFolder(directory);
});

/** Asks with headers that `fetch` does not let anyone set. */
function askAs(headers: Record<string, string>): Promise<Pick<Answer, 'status' | 'body'>> {
  return new Promise((resolve, reject) => {
    const all = { 'x-api-key': 'tml-test', ...headers };
    const sent = request(`${service.url}/api/v1/sessions`, { headers: all }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode!, body: JSON.parse(text) as Answer['body'] }));
    });
    sent.on('error', reject).end();
  });
}

it.each(['localhost:1', '127.0.0.1', '127.0.1.1:8765', '[::1]:8765', 'LOCALHOST'])(
  'a request to %s is one to this machine',
  async (host) => expect((await askAs({ host })).status).toBe(200),
);

describe('the HTTP server', () => {
  it.each([
    {
      what: 'no key',
      ask: () => service.ask('GET', 'get_server_capabilities', undefined, { 'x-api-key': '' }),
      status: 401,
    },
    {
      what: 'a page of a browser',
      ask: () => service.ask('POST', 'create_session', {}, { origin: 'http://example.com' }),
      status: 403,
    },
    {
      what: 'a page that lets the name of its server point here',
      ask: () => askAs({ host: 'evil.example:8765' }),
      status: 403,
    },
    {
      what: 'a page of the same origin',
      ask: () => askAs({ 'sec-fetch-site': 'same-origin' }),
      status: 403,
    },
    { what: 'an unknown path', ask: () => service.ask('POST', 'nothing', {}), status: 404 },
    {
      what: 'no JSON',
      ask: () => service.ask('POST', 'create_session', Buffer.from('{'), { 'content-type': 'application/json' }),
      status: 400,
    },
    { what: 'a field of another type', ask: () => service.ask('POST', 'create_model', { session_id: 1 }), status: 422 },
    {
      what: 'a packed body',
      ask: () => service.ask('POST', 'create_session', {}, { 'content-encoding': 'zstd' }),
      status: 415,
    },
    {
      what: 'broken protobuf',
      ask: () => service.ask('POST', 'forward_backward', Uint8Array.of(0x0a, 0xff, 0xff, 0xff)),
      status: 400,
    },
    {
      what: 'an unknown session',
      ask: () => service.ask('POST', 'session_heartbeat', { session_id: 'x' }),
      status: 410,
    },
    {
      what: 'unknown weights',
      ask: () => service.ask('POST', 'weights_info', { tinker_path: 'tinker://a:train:0/weights/b' }),
      status: 404,
    },
  ])('$what: $status', async ({ ask, status }) => {
    const answer = await ask();
    expect(answer.status).toBe(status);
    expect(answer.body.detail).toMatch(/\w/);
  });

  it('answers a health check without a key, and logs every request without its key', async () => {
    expect((await service.ask('GET', 'healthz', undefined, { 'x-api-key': '' })).body).toEqual({ status: 'ok' });
    const log = readFileSync(join(directory, 'requests.jsonl'), 'utf8');
    const last = JSON.parse(log.trim().split('\n').at(-1)!) as Record<string, unknown>;
    expect(last).toMatchObject({ method: 'GET', path: '/api/v1/healthz', status: 200 });
    expect(log).not.toContain('tml-test');
  });

  it('answers 429 to requests beyond its capacity, and serves the rest', async () => {
    const small = await runningService(tempDirectory(), { max_requests: 4 });
    try {
      const { session_id } = (await small.ask('POST', 'create_session', {})).body;
      const sampling = { session_id, sampling_session_seq_id: 0, base_model: 'memrl/tiny' };
      const { sampling_session_id } = (await small.ask('POST', 'create_sampling_session', sampling)).body;
      // Each takes far longer to compute than to ask for.
      const draw = (at: number) => ({
        ...{ sampling_session_id, seq_id: at + 1, prompt: { chunks: [{ type: 'encoded_text', tokens: [5, 6, 7] }] } },
        ...{ num_samples: 8, sampling_params: { max_tokens: 100, stop: [] } },
      });
      const asked = await Promise.all(Array.from({ length: 40 }, (_, at) => small.ask('POST', 'asample', draw(at))));
      const statuses = new Set(asked.map(({ status }) => status));
      expect([...statuses].sort()).toEqual([200, 429]);
      for (const { status, body } of asked) {
        if (status !== 200) continue;
        expect((await small.ask('POST', 'retrieve_future', { request_id: body.request_id })).status).toBe(200);
        break;
      }
    } finally {
      await small.close();
    }
  });

  it('limits the models in memory, with a fix in the error', async () => {
    const small = await runningService(tempDirectory(), { max_models: 1 });
    try {
      const { session } = await withModel(small);
      const create = () =>
        small.result('create_model', { session_id: session, model_seq_id: 1, base_model: 'memrl/tiny' });
      expect((await create()).body.error).toMatch(/1 models in memory.*Finish a session/);
      expect((await small.ask('POST', `sessions/${session}/finish`, {})).status).toBe(200);
      expect((await withModel(small)).model).toMatch(/:train:0$/);
    } finally {
      await small.close();
    }
  });

  it('closes a connection whose body exceeds the limit', async () => {
    const answer = await new Promise<number | string>((resolve) => {
      const sent = request(
        `${service.url}/api/v1/create_session`,
        { method: 'POST', headers: { 'x-api-key': 'tml-test' } },
        (response) => {
          response.resume();
          resolve(response.statusCode!);
        },
      );
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code!));
      const chunk = Buffer.alloc(2 ** 20, 32);
      const push = (left: number): void => {
        if (left === 0 || sent.destroyed) return void sent.end();
        sent.write(chunk, () => push(left - 1));
      };
      push(80);
    });
    expect([413, 'ECONNRESET', 'EPIPE']).toContain(answer);
    expect((await service.ask('GET', 'healthz')).status).toBe(200);
  });

  it('accepts small bodies while large ones fill their share of memory', async () => {
    const [line, bug] = [() => undefined, () => undefined];
    const access = { token: null, mostBodyBytes: 2 ** 23, mostBytesAtOnce: 2 ** 23 };
    const reporting = { now: () => 0, line, bug };
    const server = httpServer({ 'POST echo': ({ body }) => ({ bytes: body.length }) }, access, reporting);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/api/v1/echo`;
    const post = async (body: Buffer) =>
      (await fetch(url, { method: 'POST', body, headers: { 'x-api-key': 'k' } })).status;
    try {
      // One sends most of a large body, and then nothing more; the first of the two that the server has read wins.
      const slow: ClientRequest[] = [];
      await vi.waitFor(async () => {
        slow.push(request(url, { method: 'POST', headers: { 'x-api-key': 'k' } }).on('error', () => undefined));
        await new Promise((sent) => slow.at(-1)!.write(Buffer.alloc(5 * 2 ** 20), sent));
        expect(await post(Buffer.alloc(3 * 2 ** 20))).toBe(429);
      }, PATIENCE_MS);
      expect(await post(Buffer.alloc(2 ** 19))).toBe(200);
      for (const each of slow) each.destroy();
      await vi.waitFor(async () => expect(await post(Buffer.alloc(3 * 2 ** 20))).toBe(200), PATIENCE_MS);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it('listens for other machines only with a secret key', async () => {
    const dir = tempDirectory();
    await expect(runningService(dir, { host: '0.0.0.0' })).rejects.toThrow('there is no key');
    const token = 'tml-a-secret-of-this-test';
    const guarded = await runningService(dir, { environment: { MEMRL_SERVE_TOKEN: token } });
    try {
      expect((await guarded.ask('POST', 'create_session', {})).status).toBe(401);
      expect((await guarded.ask('POST', 'create_session', {}, { 'x-api-key': token })).status).toBe(200);
    } finally {
      await guarded.close();
    }
  });
});
