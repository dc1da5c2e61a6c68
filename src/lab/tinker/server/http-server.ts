/** HTTP: who may ask, how much may be sent, how errors are answered, and a line of JSON for each request. */
import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { bugWords, Refusal, refusalOf } from './refusal.js';

export type HttpRequest = {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  readonly isProtobuf: boolean;
  readonly wantsProtobuf: boolean;
  /** Aborts when the client hangs up. */
  readonly closed: AbortSignal;
};

/** Answers a request. Bytes are sent as protobuf, anything else as JSON. */
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

type Reply = { readonly status: number; readonly type: string; readonly content: Uint8Array; readonly detail?: string };

export function httpServer(routes: Routes, access: Access, reporting: Reporting): Server {
  const table = Object.entries(routes).map(([route, handler]) => ({ matches: matcher(route), handler }));
  const reading = { bytes: 0 };
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
      const { status, content, detail } = reply.sent;
      const sizes = { bytes_in: bytes.in, bytes_out: content.length };
      reporting.line({
        method,
        path: url.slice(0, 300),
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
    body: Buffer.alloc(0),
    isProtobuf: (headers['content-type'] ?? '').startsWith('application/x-protobuf'),
    wantsProtobuf: (headers.accept ?? '').includes('application/x-protobuf'),
    closed,
  };
}

function send(message: IncomingMessage, response: ServerResponse, { status, type, content }: Reply): void {
  if (response.destroyed) return;
  const headers: Record<string, string | number> = { 'content-type': type, 'content-length': content.length };
  if (status === 429) headers['retry-after'] = 1;
  // After a body that was not read to its end, no other request can follow on the connection.
  if (!message.complete) headers['connection'] = 'close';
  response.writeHead(status, headers);
  response.end(content);
}

function replyOf(value: unknown): Reply {
  if (value instanceof Uint8Array) return { status: 200, type: 'application/x-protobuf', content: value };
  return jsonReply(200, value);
}

function jsonReply(status: number, value: unknown): Reply {
  return { status, type: 'application/json', content: Buffer.from(JSON.stringify(value)) };
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
function authorise({ headers, method, url }: IncomingMessage, { token }: Access): void {
  if (method === 'GET' && url === '/api/v1/healthz') return;
  const key = headers['x-api-key'];
  if (typeof key !== 'string' || key === '') throw new Refusal(401, 'There is no X-API-Key: set TINKER_API_KEY.');
  const isOfPage = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
  if (isOfPage) throw new Refusal(403, 'Web pages may not use this service.');
  if (token === null) return requireOwnName(headers.host ?? '');
  if (isSame(key, token)) return;
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

async function readBody(message: IncomingMessage, access: Access, reading: { bytes: number }): Promise<Buffer> {
  const { mostBodyBytes, mostBytesAtOnce } = access;
  const encoding = message.headers['content-encoding'];
  // The service never decompresses, so that no small body can become a large one.
  if (encoding !== undefined && encoding !== 'identity') throw new Refusal(415, `Send bodies without ${encoding}.`);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      size += chunk.length;
      reading.bytes += chunk.length;
      if (size > mostBodyBytes) throw new Refusal(413, `A body has at most ${mostBodyBytes} bytes here.`);
      if (reading.bytes > mostBytesAtOnce) throw new Refusal(429, 'Too much is being sent at once; try again later.');
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(400, 'The body was cut off.');
  } finally {
    reading.bytes -= size;
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
    return found === null ? null : found.slice(1).map(decoded);
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Refusal(400, 'The path is not written as a URL is.');
  }
}
