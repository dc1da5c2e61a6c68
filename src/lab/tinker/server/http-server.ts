/** The HTTP server: access, limits of requests, error responses, and one line of JSON in the log for each request. */
import { timingSafeEqual } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { bugWords, Refusal, refusalOf } from './refusal.js';

export type HttpRequest = {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Address of the service as the client wrote it: `http://localhost:8765`. */
  readonly origin: string;
  /** Idempotency key: the same when the client repeats the request; null when it sends none. */
  readonly idempotencyKey: string | null;
  readonly body: Buffer;
  readonly isProtobuf: boolean;
  readonly wantsProtobuf: boolean;
  /** Aborts when the client hangs up. */
  readonly closed: AbortSignal;
};

/** A file as an answer. */
export class FileAnswer {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }
}

/** Sends the client to another address. */
export class Redirect {
  readonly location: string;

  constructor(location: string) {
    this.location = location;
  }
}

/** Files that are given out to whoever has their signed address: clients fetch these without a key. */
export const signedFiles = '/api/v1/files/';

/** Answers a request. Bytes are sent as protobuf, a file as it is, anything else as JSON. */
export type Handler = (request: HttpRequest, parameters: readonly string[]) => unknown;

/** Handlers by `METHOD path`, with `*` for one part of the path and `**` for all that follows. */
export type Routes = Readonly<Record<string, Handler>>;

type Access = {
  /** null accepts every key, because only programs of this machine can connect. */
  readonly token: string | null;
  readonly mostBodyBytes: number;
  /** Limit of all bodies that are being read at a time, in bytes. */
  readonly mostBytesAtOnce: number;
};

export type RequestLine = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly bytes_in: number;
  readonly bytes_out: number;
  readonly detail?: string;
};

type Reporting = {
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly line: (line: RequestLine) => void;
  readonly bug: (error: unknown) => void;
};

type Reply = {
  readonly status: number;
  readonly type: string;
  readonly content: Uint8Array | FileAnswer;
  /** Length of the content, in bytes. */
  readonly size: number;
  readonly location?: string;
  readonly detail?: string;
};

export function httpServer(routes: Routes, access: Access, reporting: Reporting): Server {
  const table = Object.entries(routes).map(([route, handler]) => ({ matches: matcher(route), handler }));
  const reading = { small: 0, large: 0 };
  const server = createServer((message, response) => {
    const began = reporting.now();
    const bytes = { in: 0 };
    void replyTo(message, response, async (request) => {
      authorise(message, access);
      if (request.method !== 'GET' && request.method !== 'DELETE') {
        request.body = await readBody(message, access, reading);
      }
      bytes.in = request.body.length;
      for (const { matches, handler } of table) {
        const parameters = matches(request.method, request.path);
        if (parameters !== null) return handler(request, parameters);
      }
      throw new Refusal(404, `There is no ${request.method} ${request.path} here.`);
    }).then((reply) => {
      if (reply.bug !== undefined) reporting.bug(reply.bug);
      const { method = '', url = '' } = message;
      const ms = Math.round((reporting.now() - began) * 10) / 10;
      const { status, size, detail } = reply.sent;
      const sizes = { bytes_in: bytes.in, bytes_out: size };
      reporting.line({
        method,
        // The signed address of a file replaces a key, so it is not logged.
        path: (url.startsWith(signedFiles) ? signedFiles : url).slice(0, 300),
        status,
        ms,
        ...sizes,
        ...(detail !== undefined && { detail }),
      });
    });
  });
  server.requestTimeout = 120_000;
  server.headersTimeout = 20_000;
  // The pools of the SDK keep connections open for longer than Node's five seconds.
  server.keepAliveTimeout = 75_000;
  server.maxConnections = 4096;
  return server;
}

type Draft = HttpRequest & { readonly method: string; body: Buffer };

async function replyTo(
  message: IncomingMessage,
  response: ServerResponse,
  handle: (request: Draft) => Promise<unknown>,
): Promise<{ sent: Reply; bug?: unknown }> {
  const closed = new AbortController();
  response.on('close', () => closed.abort());
  let bug: unknown;
  let sent: Reply;
  try {
    sent = replyOf(await handle(draftOf(message, closed.signal)));
  } catch (error) {
    sent = errorReply(error);
    if (sent.status === 500) bug = error;
  }
  send(message, response, sent);
  return { sent, ...(bug !== undefined && { bug }) };
}

function draftOf(message: IncomingMessage, closed: AbortSignal): Draft {
  const { method = 'GET', url = '/', headers } = message;
  const [path = '', ...query] = url.split('?');
  return {
    method,
    path,
    query: new URLSearchParams(query.join('?')),
    origin: `http://${headers.host ?? ''}`,
    idempotencyKey: typeof headers['x-idempotency-key'] === 'string' ? headers['x-idempotency-key'] : null,
    body: Buffer.alloc(0),
    isProtobuf: (headers['content-type'] ?? '').startsWith('application/x-protobuf'),
    wantsProtobuf: (headers.accept ?? '').includes('application/x-protobuf'),
    closed,
  };
}

function send(message: IncomingMessage, response: ServerResponse, reply: Reply): void {
  if (response.destroyed) return;
  const { status, type, content, size, location } = reply;
  const headers: Record<string, string | number> = { 'content-type': type, 'content-length': size };
  if (location !== undefined) headers['location'] = location;
  if (status === 429) headers['retry-after'] = 1;
  // After a body that was not read to its end, no other request can follow on the connection.
  if (!message.complete) headers['connection'] = 'close';
  response.writeHead(status, headers);
  if (!(content instanceof FileAnswer)) return void response.end(content);
  const file = createReadStream(content.path);
  // A file that was removed meanwhile ends the connection: the client sees that it did not get all of it.
  file.on('error', () => response.destroy());
  response.on('close', () => file.destroy());
  file.pipe(response);
}

function replyOf(value: unknown): Reply {
  if (value instanceof Uint8Array) {
    return { status: 200, type: 'application/x-protobuf', content: value, size: value.length };
  }
  if (value instanceof FileAnswer) {
    return { status: 200, type: 'application/octet-stream', content: value, size: statSync(value.path).size };
  }
  if (value instanceof Redirect) return { ...jsonReply(302, {}), location: value.location };
  return jsonReply(200, value);
}

function jsonReply(status: number, value: unknown): Reply {
  const content = Buffer.from(JSON.stringify(value));
  return { status, type: 'application/json', content, size: content.length };
}

function errorReply(error: unknown): Reply {
  const { status, detail } = refusalOf(error) ?? { status: 500, detail: bugWords };
  return { ...jsonReply(status, { detail }), detail };
}

/**
 * Requires a key in a header of its own, which also keeps out web pages: a browser does not let them send such a header unasked.
 * Without a token, which a page cannot know, the request must also have been sent to a name of this machine: a page may have let
 * the name of its own server point here, and then counts as of the same origin.
 *
 * @throws Refusal when the request has no key, another key, or comes from a web page.
 */
function authorise({ headers, method, url = '' }: IncomingMessage, { token }: Access): void {
  if (method === 'GET' && url === '/api/v1/healthz') return;
  if (token === null) requireOwnName(headers.host ?? '');
  if (method === 'GET' && url.startsWith(signedFiles)) return;
  const isOfPage = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
  requireKey(headers['x-api-key'], token);
  if (isOfPage) throw new Refusal(403, 'Web pages may not use this service.');
}

/** @param token null accepts every key. @throws Refusal when there is no key, or another than the service's. */
function requireKey(key: string | string[] | undefined, token: string | null): void {
  if (typeof key !== 'string' || key === '') throw new Refusal(401, 'There is no X-API-Key: set TINKER_API_KEY.');
  if (token === null || isSame(key, token)) return;
  throw new Refusal(401, 'The key is not that of this service: set TINKER_API_KEY to its MEMRL_SERVE_TOKEN.');
}

/** @throws Refusal when the host of a request is not a name of this machine alone. */
function requireOwnName(host: string): void {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  if (isLoopback(name.replace(/^\[(.*)\]$/, '$1'))) return;
  throw new Refusal(
    403,
    `Without MEMRL_SERVE_TOKEN this service answers to localhost and 127.0.0.1 alone, not to ${JSON.stringify(host.slice(0, 100))}.`,
  );
}

/** Whether only programs of this machine can connect to a name or an address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Bytes of the bodies that are being read: those of at most `SMALL_BODY` bytes so far, and the others. */
type BodyBytes = { small: number; large: number };

/** Large bodies share a part of the memory, so that a few slow ones do not block the many small ones. */
const SMALL_BODY = 2 ** 20;
const SHARE_OF_LARGE = 0.75;

async function readBody(message: IncomingMessage, access: Access, reading: BodyBytes): Promise<Buffer> {
  const { mostBodyBytes, mostBytesAtOnce } = access;
  const encoding = message.headers['content-encoding'];
  // The service never decompresses, so that no small body can become a large one.
  if (encoding !== undefined && encoding !== 'identity') throw new Refusal(415, `Send bodies without ${encoding}.`);
  const chunks: Buffer[] = [];
  let size = 0;
  const kind = () => (size > SMALL_BODY ? 'large' : 'small');
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      reading[kind()] -= size;
      size += chunk.length;
      reading[kind()] += size;
      if (size > mostBodyBytes) throw new Refusal(413, `A body has at most ${mostBodyBytes} bytes here.`);
      const room = mostBytesAtOnce * (kind() === 'large' ? SHARE_OF_LARGE : 1 - SHARE_OF_LARGE);
      if (reading[kind()] > room) throw new Refusal(429, 'Too much is being sent at once; try again later.');
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(400, 'The body was cut off.');
  } finally {
    reading[kind()] -= size;
  }
  return Buffer.concat(chunks);
}

function matcher(route: string): (method: string, path: string) => string[] | null {
  const [wanted = '', pattern = ''] = route.split(' ', 2);
  const expression = new RegExp(
    `^/api/v1/${pattern
      .replace(/[.]/g, '\\.')
      .replaceAll('**', '(.+)')
      .replace(/(?<!\.)\*/g, '([^/]+)')}$`,
  );
  return (method, path) => {
    if (method !== wanted) return null;
    const found = expression.exec(path);
    return found === null ? null : found.slice(1).map(decodePart);
  };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Refusal(400, 'The path is not written as a URL is.');
  }
}
