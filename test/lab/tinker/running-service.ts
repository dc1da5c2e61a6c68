import type { AddressInfo } from 'node:net';
import { bundledThread } from '../program.js';
import { listen, openService, type ServeConfig } from '../../../src/lab/tinker/server/serve.js';

/** A service in this process, and requests to it as the SDK makes them. */
export type RunningService = {
  readonly url: string;
  readonly lines: readonly string[];
  /** The answer, whatever its status. */
  readonly ask: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
  /** Sends a request and waits for its result. */
  readonly result: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Answer>;
  readonly close: () => Promise<void>;
};

/** What answers may have; which of it is there depends on the request. */
export type AnswerBody = {
  readonly [
    name in
      | 'type'
      | 'request_id'
      | 'session_id'
      | 'model_id'
      | 'sampling_session_id'
      | 'path'
      | 'error'
      | 'category'
      | 'detail'
  ]: string;
} & {
  readonly metrics: Readonly<Record<string, number>>;
  readonly loss_fn_outputs: readonly { readonly logprobs: { readonly data: readonly number[] } }[];
  readonly sequences: readonly {
    readonly tokens: readonly number[];
    readonly logprobs: readonly number[];
    readonly stop_reason: string;
    readonly topk_logprobs: readonly (readonly [[number, number], [number, number]])[];
  }[];
  readonly sample_sequence_ids: readonly string[];
  readonly prompt_logprobs: readonly number[];
  readonly topk_prompt_logprobs: readonly (readonly [number, number][])[];
  readonly checkpoints: readonly { readonly tinker_path: string; readonly expires_at: string | null }[];
  readonly training_runs: readonly { readonly training_run_id: string }[];
  readonly cursor: { readonly offset: number; readonly limit: number; readonly total_count: number };
  readonly sessions: readonly string[];
  readonly training_run_ids: readonly string[];
};

export type Answer = { readonly status: number; readonly body: AnswerBody; readonly bytes: Uint8Array };

export async function runningService(
  dir: string,
  {
    boot,
    environment = {},
    key = 'tml-test',
    ...more
  }: Partial<ServeConfig> & { boot?: string; environment?: Record<string, string>; key?: string } = {},
): Promise<RunningService> {
  const lines: string[] = [];
  const world = {
    log: (line: string) => void lines.push(line),
    environment: { CUDA_VISIBLE_DEVICES: '', ...environment },
    processes: { own: process.pid, answers: () => true },
    now: () => performance.now(),
    time: () => Date.now(),
    stopAsked: async () => null,
  };
  const usual = {
    model: 'memrl/tiny',
    port: 0,
    host: '127.0.0.1',
    dir,
    threads: 1,
    max_requests: 1000,
    max_models: 64,
  } as const;
  const config: ServeConfig = { ...usual, engine: 'wasm', idle_minutes: 60, ...more };
  const thread = await bundledThread();
  const { server, close } = openService(config, world, { thread, ...(boot !== undefined && { boot }) });
  await listen(server, config);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask: RunningService['ask'] = async (method, path, body, headers = {}) => {
    const isBytes = body instanceof Uint8Array;
    const response = await fetch(`${url}/api/v1/${path}`, {
      method,
      headers: { 'x-api-key': key, ...(isBytes && { 'content-type': 'application/x-protobuf' }), ...headers },
      ...(body !== undefined && { body: isBytes ? Buffer.from(body) : JSON.stringify(body) }),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const isJson = response.headers.get('content-type') === 'application/json';
    return {
      status: response.status,
      bytes,
      body: (isJson ? JSON.parse(Buffer.from(bytes).toString()) : {}) as AnswerBody,
    };
  };
  const result: RunningService['result'] = async (path, body, headers) => {
    const accepted = await ask('POST', path, body);
    if (accepted.status !== 200) return accepted;
    for (;;) {
      const { request_id } = accepted.body;
      const answer = await ask('POST', 'retrieve_future', { request_id }, headers);
      if (answer.body.type !== 'try_again') return answer;
    }
  };
  return { url, lines, ask, result, close };
}

/** A session with a model: what the tests of training begin with. */
export async function withModel(
  service: RunningService,
  lora: object = { rank: 4 },
): Promise<{ session: string; model: string }> {
  const { session_id: session } = (await service.ask('POST', 'create_session', { tags: [], type: 'create_session' }))
    .body;
  const made = await service.result('create_model', {
    session_id: session,
    model_seq_id: 0,
    base_model: 'memrl/tiny',
    lora_config: lora,
  });
  return { session, model: made.body.model_id };
}

/** A datum in JSON for cross-entropy. */
export function example(tokens: readonly number[], weights = tokens.slice(1).map(() => 1)) {
  return {
    model_input: { chunks: [{ type: 'encoded_text', tokens: tokens.slice(0, -1) }] },
    loss_fn_inputs: {
      target_tokens: { data: tokens.slice(1), dtype: 'int64', shape: [tokens.length - 1] },
      weights: { data: weights, dtype: 'float32', shape: [tokens.length - 1] },
    },
  };
}
