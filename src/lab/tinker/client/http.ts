/** Sends requests to a service of Tinker's protocol, tries again while that can help, and explains failures in plain words. */
import { errorText, UserError } from '../../../base/user-error.js';

export type Connection = {
  /** Address without `/api/v1`. */
  readonly baseUrl: string;
  /** Secret that is sent in a header and never printed or stored. */
  readonly key: string;
  readonly wait: (ms: number) => Promise<void>;
  readonly fetch: typeof globalThis.fetch;
};

type Reply = { readonly bytes: Uint8Array; readonly isProtobuf: boolean };

/** Why a request may be sent again, and the earliest time for that. */
type TryAgain = { readonly why: string; readonly afterMs: number };

/** Some services say with 408 that a result is not there yet, others in words. */
const notYet: Reply = { bytes: Buffer.from('{"type":"try_again"}'), isProtobuf: false };

const mostTries = 12;
const longestPauseMs = 30_000;
/** Longest pause between two questions for one result. Services answer them late when there is no result yet, but need not. */
const longestPollPauseMs = 2_000;
/** Exceeds the 45 seconds for which services let a client wait for a result. */
const requestTimeoutMs = 60_000;

export class TinkerHttp {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async json(path: string, body: unknown): Promise<Record<string, unknown>> {
    const { bytes } = await this.send(path, Buffer.from(JSON.stringify(body)), 'application/json');
    return parsed(bytes, path);
  }

  /** Sends a body as often as the service asks for it: a request with a sequence number is carried out once. */
  async send(path: string, body: Uint8Array, type: string): Promise<Reply> {
    for (let attempt = 0; ; attempt++) {
      const answer = await this.#try(path, body, type);
      if ('bytes' in answer) return answer;
      const { why, afterMs } = answer;
      if (attempt + 1 >= mostTries) {
        throw new UserError(
          `${this.#connection.baseUrl} does not answer ${path}: ${why}.`,
          'Check that the service runs, and continue the run.',
        );
      }
      await this.#connection.wait(Math.min(longestPauseMs, Math.max(afterMs, 250 * 2 ** attempt)));
    }
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
      const answer = parsed(reply.bytes, 'retrieve_future');
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
  async #try(path: string, body: Uint8Array, type: string): Promise<Reply | TryAgain> {
    const { baseUrl, key, fetch } = this.#connection;
    let response: Response;
    let bytes: Uint8Array;
    try {
      response = await fetch(`${baseUrl}/api/v1/${path}`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': type, accept: 'application/x-protobuf, application/json' },
        body: Buffer.from(body),
        // A redirect would hand the key to another service.
        redirect: 'error',
        signal: AbortSignal.timeout(requestTimeoutMs),
      });
      bytes = new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      return { why: errorText(error), afterMs: 0 };
    }
    const { status, headers } = response;
    if (status === 200) return { bytes, isProtobuf: (headers.get('content-type') ?? '').includes('protobuf') };
    if (status === 408 && path === 'retrieve_future') return notYet;
    const detail = `${status} ${Buffer.from(bytes.subarray(0, 500)).toString()}`.trim();
    const mayHelp = [408, 409, 429].includes(status) || status >= 500;
    if (!mayHelp) throw refused(path, status, detail);
    return { why: detail, afterMs: 1000 * (Number(headers.get('retry-after')) || 0) };
  }
}

export function parsed(bytes: Uint8Array, path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The error below covers this case.
  }
  throw new UserError(`The service answers ${path} with something other than JSON.`, 'Check base_url.');
}

function refused(path: string, status: number, detail: string): UserError {
  if (status === 401 || status === 403)
    return new UserError(`The service rejects the key: ${detail}.`, 'Set TINKER_API_KEY.');
  if (status === 410) {
    return new UserError(`The session has ended: ${detail}.`, 'Continue the run from its last checkpoint.');
  }
  return new UserError(`The service refuses ${path}: ${detail}.`, 'Check base_url and the settings.');
}
