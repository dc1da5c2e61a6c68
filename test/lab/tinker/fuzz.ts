/**
 * Sends a service what no client should send: damaged bodies, wrong keys, bombs, connections that are cut. After it, the service
 * must answer and compute as before.
 */
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { writeForwardBackwardRequest } from '../../../src/lab/tinker/protocol/messages.js';
import { rng, type Rng } from '../../../src/lab/rng.js';
import { example } from './running-service.js';

export type FuzzTarget = { readonly url: string; readonly token: string; readonly model: string };

/** How often each status came; `cut` counts connections that were closed without an answer. */
export type Outcomes = Record<string, number>;

type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
};

const atOnce = 24;
const bomb = gzipSync(Buffer.alloc(8 * 2 ** 20));
const deep = Buffer.from('['.repeat(200_000));
const long = Buffer.from(`{"tags":[${'1,'.repeat(100_000)}1]}`);

/** Statuses by which a service may answer anything: never 500. */
export const politeStatuses = [200, 400, 401, 403, 404, 408, 409, 410, 413, 415, 422, 429, 431];

/** Sends `count` bad requests, the same for a seed. */
export async function fuzz(target: FuzzTarget, count: number, seed: number): Promise<Outcomes> {
  const random = rng(seed, 'fuzz');
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const outcomes: Outcomes = {};
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next++ < count) {
      const outcome =
        random.below(20) === 0 ? await cut(target, random) : await send(target, agent, bad(target, random));
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  agent.destroy();
  return outcomes;
}

/** The answer to a good request. */
export async function askJson(
  { url, token }: Omit<FuzzTarget, 'model'>,
  path: string,
  body: unknown,
): Promise<Record<string, unknown>> {
  const headers = { 'x-api-key': token };
  const response = await fetch(`${url}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as Record<string, unknown>;
}

function bad(target: FuzzTarget, random: Rng): Sent {
  const { model, token } = target;
  const pick = <T>(items: readonly T[]): T => items[random.below(items.length)]!;
  const place = { model_id: model, seq_id: null };
  const learning = { ...place, forward_input: { data: [example([5, 6, 7])], loss_fn: 'cross_entropy' } };
  const bodies: Record<string, object> = {
    create_session: { tags: ['x'], type: 'create_session' },
    session_heartbeat: { session_id: 'nobody' },
    create_model: { session_id: 'nobody', model_seq_id: 0, base_model: 'memrl/none', lora_config: { rank: 2 } },
    get_info: { model_id: model },
    forward: learning,
    optim_step: { model_id: `${model}0`, adam_params: { learning_rate: 0.1 } },
    load_weights: { ...place, path: 'tinker://a:train:0/weights/b', optimizer: true },
    save_weights: { model_id: 'nobody', path: '../../../etc' },
    create_sampling_session: { session_id: 'nobody', sampling_session_seq_id: 0, base_model: '../../etc' },
    asample: { sampling_session_id: 'nobody', prompt: { chunks: [{ tokens: [1, 2] }] }, sampling_params: {} },
    retrieve_future: { request_id: 'nobody-1' },
    weights_info: { tinker_path: 'tinker://../weights/..' },
  };
  const path = pick(Object.keys(bodies));
  const json = Buffer.from(JSON.stringify(bodies[path]));
  const headers = { 'x-api-key': token, 'content-type': 'application/json' };
  const post = { method: 'POST', path, headers };
  const kinds: (() => Sent)[] = [
    () => ({ ...post, body: damaged(json, random) }),
    () => ({ ...post, body: damaged(json, random) }),
    () => ({ ...post, body: bytes(random, random.below(200)) }),
    () => ({ ...protobuf(post), body: damaged(message(model), random) }),
    () => ({ ...protobuf(post), body: bytes(random, random.below(200)) }),
    () => ({ ...post, headers: { ...headers, 'x-api-key': pick(['', 'tml-wrong', `${token}x`]) }, body: json }),
    () => ({ ...post, headers: { ...headers, origin: 'http://example.com' }, body: json }),
    () => ({ ...post, headers: { ...headers, 'content-encoding': pick(['gzip', 'zstd', 'br']) }, body: bomb }),
    () => ({ ...post, body: random.below(50) === 0 ? pick([deep, long]) : json }),
    () => ({ ...post, method: pick(['GET', 'DELETE', 'PUT', 'PATCH']), body: Buffer.alloc(0) }),
    () => ({
      ...post,
      path: pick(['%', '..%2f..', 'training_runs/%00/checkpoints', 'samplers/__proto__']),
      body: json,
    }),
  ];
  return pick(kinds)();
}

function protobuf(sent: Omit<Sent, 'body'>): Omit<Sent, 'body'> {
  return { ...sent, path: 'forward_backward', headers: { ...sent.headers, 'content-type': 'application/x-protobuf' } };
}

/** A pass that learns nothing, so that the model stays as it is whatever damage it survives. */
function message(modelId: string): Uint8Array {
  const tensor = { values: Float32Array.of(6, 7), shape: [2] };
  const data = [{ tokens: Int32Array.of(5, 6), inputs: new Map([['target_tokens', tensor], ['weights', tensor]]) }]; // prettier-ignore
  return writeForwardBackwardRequest({ modelId, seqId: null, data, lossFn: 'cross_entropy', config: { a: 1 }, forwardOnly: true }); // prettier-ignore
}

function damaged(whole: Uint8Array, random: Rng): Uint8Array {
  const copy = Uint8Array.from(whole);
  for (let times = 1 + random.below(4); times > 0; times--) copy[random.below(copy.length)] = random.below(256);
  return random.below(3) === 0 ? copy.subarray(0, random.below(copy.length)) : copy;
}

function bytes(random: Rng, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256));
}

function send({ url }: FuzzTarget, agent: Agent, { method, path, headers, body }: Sent): Promise<string> {
  return new Promise((resolve) => {
    const sent = httpRequest(`${url}/api/v1/${path}`, { method, headers, agent }, (response) => {
      response.resume();
      response.on('close', () => resolve(String(response.statusCode)));
    });
    sent.on('error', () => resolve('cut'));
    sent.end(body);
  });
}

/** Promises more than it sends, or sends what is no HTTP, and hangs up. */
function cut({ url, token }: FuzzTarget, random: Rng): Promise<string> {
  const { hostname, port } = new URL(url);
  const head = `POST /api/v1/forward_backward HTTP/1.1\r\nhost: x\r\nx-api-key: ${token}\r\n`;
  const texts = [`${head}content-length: 5000000\r\n\r\n{"a`, `${head}transfer-encoding: chunked\r\n\r\nfff\r\nab`, head, '\0\0\0', 'GET']; // prettier-ignore
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(texts[random.below(texts.length)]!, () => socket.destroy());
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve('cut'));
  });
}
