/** Sends requests to a service of Tinker's protocol, tries again while that can help, and explains failures in plain words. */
import { errorText, UserError } from '../../../base/user-error.js';

export type Connection = {
  /** Address without `/api/v1` or `/v1`. */
  readonly baseUrl: string;
  /** Secret that is sent in a header and never printed or stored. */
  readonly key: string;
  readonly wait: (ms: number) => Promise<void>;
  readonly fetch: typeof globalThis.fetch;
};

type Reply = { readonly bytes: Uint8Array; readonly isProtobuf: boolean };

/** Why a request may be sent again, and the earliest time for that. */
type RetryReason = { readonly why: string; readonly afterMs: number };

/** Some services report an unfinished result by status 408, others in the body. */
const notYet: Reply = { bytes: Buffer.from('{"type":"try_again"}'), isProtobuf: false };

const mostTries = 12;
const longestPauseMs = 30_000;
/**
 * Longest pause between two polls for one result. Services may delay their answer until there is a result, but need
 * not.
 */
const longestPollPauseMs = 2_000;
/** Timeout of a request; longer than the 45 seconds for which services let a client wait for a result. */
const requestTimeoutMs = 60_000;

export class TinkerHttp {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async json(path: string, body: unknown): Promise<Record<string, unknown>> {
    const { bytes } = await this.send(path, Buffer.from(JSON.stringify(body)), 'application/json');
    return parseReply(bytes, path);
  }

  /** Sends a body, repeatedly if the service asks for it: a request with a sequence number is carried out once. */
  send(path: string, body: Uint8Array, type: string): Promise<Reply> {
    return patiently(this.#connection, path, () => this.#try(path, body, type));
  }

  /** Waits for the result of an accepted request, however long it takes. */
  async result(accepted: Record<string, unknown>): Promise<Reply> {
    const id = accepted['request_id'];
    if (typeof id !== 'string')
      throw new UserError('The service accepted a request without a request_id.', 'Use another service.');
    const body = Buffer.from(JSON.stringify({ request_id: id, allow_metadata_only: false }));
    for (let polls = 0; ; polls++) {
      const reply = await this.send('retrieve_future', body, 'application/json');
      if (reply.isProtobuf) return reply;
      const answer = parseReply(reply.bytes, 'retrieve_future');
      if (answer['type'] === 'try_again') {
        await this.#connection.wait(Math.min(longestPollPauseMs, 10 * 2 ** polls));
        continue;
      }
      const message = answer['error'];
      if (typeof message !== 'string') return reply;
      throw new UserError(`The service failed a request: ${message}`, 'Fix what the message says.');
    }
  }

  /** Tries once. */
  async #try(path: string, body: Uint8Array, type: string): Promise<Reply | RetryReason> {
    const { baseUrl, key } = this.#connection;
    const answer = await exchange(this.#connection, `${baseUrl}/api/v1/${path}`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': type, accept: 'application/x-protobuf, application/json' },
      body: Buffer.from(body),
    });
    if ('why' in answer) return answer;
    const { status, type: answered, bytes } = answer;
    if (status === 200) return { bytes, isProtobuf: answered.includes('protobuf') };
    if (status === 408 && path === 'retrieve_future') return notYet;
    return tryAgain(answer) ?? raise(refusalError(path, status, detailOf(answer)));
  }
}

/** Requests to an OpenAI-compatible server, in JSON. */
export class JsonHttp {
  readonly #connection: Connection;

  /** @param connection Its address is that of the server, without `/v1`; an empty key is not sent. */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get(path: string): Promise<unknown> {
    return this.#ask(path, { method: 'GET' });
  }

  /** The answer; a text where it is not JSON. */
  post(path: string, body: unknown): Promise<unknown> {
    return this.#ask(path, { method: 'POST', body: JSON.stringify(body) });
  }

  #ask(path: string, init: RequestInit): Promise<unknown> {
    const { baseUrl, key } = this.#connection;
    const headers = { 'content-type': 'application/json', ...(key === '' ? {} : { authorization: `Bearer ${key}` }) };
    return patiently(this.#connection, `/v1/${path}`, async () => {
      const answer = await exchange(this.#connection, `${baseUrl}/v1/${path}`, { ...init, headers });
      if ('why' in answer) return answer;
      if (answer.status === 200) return { json: jsonOrText(answer.bytes) };
      return tryAgain(answer) ?? raise(refusedByServer(baseUrl, path, detailOf(answer)));
    }).then(({ json }) => json);
  }
}

type Answer = { readonly status: number; readonly type: string; readonly afterMs: number; readonly bytes: Uint8Array };

/** Repeats a request while that can help, with growing pauses. @throws UserError when it does not. */
async function patiently<Result extends object>(
  { baseUrl, wait }: Connection,
  path: string,
  attempt: () => Promise<Result | RetryReason>,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    const answer = await attempt();
    if (!('why' in answer)) return answer;
    if (tries >= mostTries) {
      throw new UserError(
        `${baseUrl} does not answer ${path}: ${answer.why}.`,
        'Check that the service runs, and continue the run.',
      );
    }
    await wait(Math.min(longestPauseMs, Math.max(answer.afterMs, 125 * 2 ** tries)));
  }
}

/** Sends a request once, and reads its whole answer. */
async function exchange({ fetch }: Connection, url: string, init: RequestInit): Promise<Answer | RetryReason> {
  try {
    // Redirects are not followed, since they would send the key to another service.
    const how: RequestInit = { ...init, redirect: 'error', signal: AbortSignal.timeout(requestTimeoutMs) };
    const response = await fetch(url, how);
    const { status, headers } = response;
    const afterMs = 1000 * (Number(headers.get('retry-after')) || 0);
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { status, type: headers.get('content-type') ?? '', afterMs, bytes };
  } catch (error) {
    return { why: errorText(error), afterMs: 0 };
  }
}

function detailOf({ status, bytes }: Answer): string {
  return `${status} ${Buffer.from(bytes.subarray(0, 500)).toString()}`.trim();
}

/** Null when a retry cannot help. */
function tryAgain(answer: Answer): RetryReason | null {
  const { status, afterMs } = answer;
  const mayHelp = [408, 409, 429].includes(status) || status >= 500;
  return mayHelp ? { why: detailOf(answer), afterMs } : null;
}

function raise(error: UserError): never {
  throw error;
}

function jsonOrText(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes).toString();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function refusedByServer(baseUrl: string, path: string, detail: string): UserError {
  const fix = path.endsWith('lora_adapter')
    ? 'Start vLLM with --enable-lora, --max-lora-rank of at least lora_rank, and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True, where it sees the directory of the run.'
    : 'Check sampling= and the settings; a key is read from OPENAI_API_KEY.';
  return new UserError(`${baseUrl} refuses /v1/${path}: ${detail}.`, fix);
}

export function parseReply(bytes: Uint8Array, path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The error below covers this case.
  }
  throw new UserError(`The service answers ${path} with something other than JSON.`, 'Check base_url.');
}

function refusalError(path: string, status: number, detail: string): UserError {
  if (status === 401 || status === 403)
    return new UserError(`The service rejects the key: ${detail}.`, 'Set TINKER_API_KEY.');
  if (status === 410) {
    return new UserError(`The session has ended: ${detail}.`, 'Continue the run from its last checkpoint.');
  }
  return new UserError(`The service refuses ${path}: ${detail}.`, 'Check base_url and the settings.');
}
