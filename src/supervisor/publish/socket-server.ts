import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { pid } from 'node:process';
import { untilWholeSecond } from '../../base/lazy.js';
import { errorText, UserError } from '../../base/user-error.js';
import { MessageReader } from '../../protocol/codec.js';
import { type Ack, ClientMessage, NumberedMessage, PROTOCOL_VERSION } from '../../protocol/message.js';
import { readOnlyRefusal } from '../../protocol/read-only.js';
import type { FleetStatus } from '../../protocol/run-summary.js';
import { olderVersion, PROGRAM_VERSION, replaceSupervisor } from '../../protocol/older-version.js';
import { ClientLink } from './client-link.js';
import type { RunViewCache } from './run-view-cache.js';

/** A message that wants an answer. */
export type Request = Exclude<ClientMessage, { type: 'hello' }>;
/** Null: more pages are to come before there is an answer. `client` is the same object for all messages of one client. */
export type Answer = (request: Request, client: object) => Promise<Ack | null>;

/**
 * Puts on disk what clients may look for there once they have heard of it, until a time of `performance.now()`; false: there
 * is more.
 */
export type Prepare = (untilMs: number) => boolean;

/** Between publications, ms. */
const PUBLISH_MS = 100;
/** Spent in one turn on what has to be on disk before clients hear of it, ms. */
const PREPARE_MS = 10;
/** A client that takes nothing for so long is cut off, ms. */
const STALL_MS = 30_000;

/** Listens for clients, answers them, and tells them what changes, ten times a second at most. */
export class SocketServer {
  #server: Server | null = null;
  /** Where it listens, and which file that is. */
  #place: { path: string; inode: number } | null = null;
  readonly #links = new Map<Socket, ClientLink>();
  /** Clients that only look. */
  readonly #looking = new WeakSet<ClientLink>();
  readonly #views: RunViewCache;
  readonly #answer: Answer;
  readonly #prepare: Prepare;
  #timer: NodeJS.Timeout | null = null;
  /** Another look at what changes as time passes. */
  #again: NodeJS.Timeout | null = null;
  /** What is to be told waits for the disk. */
  #preparing: NodeJS.Immediate | null = null;
  #publishedAt = -Infinity;
  /** At the last publication. */
  #status: FleetStatus | null = null;
  #leftAt: number;
  /** Called when nobody is there any more. */
  readonly #untilAlone: (() => void)[] = [];

  constructor(views: RunViewCache, answer: Answer, prepare: Prepare) {
    this.#views = views;
    this.#answer = answer;
    this.#prepare = prepare;
    this.#leftAt = performance.now();
  }

  /** Whether who looks for the socket finds it: its folder goes with the last session of its user on many machines. */
  get isReachable(): boolean {
    return this.#place !== null && this.#place.inode === inodeOf(this.#place.path);
  }

  get clients(): number {
    return this.#links.size;
  }

  /** How long nobody has been there, ms. */
  get aloneFor(): number {
    return this.#links.size > 0 ? 0 : performance.now() - this.#leftAt;
  }

  /** Resolves when nobody is there. */
  async untilAlone(): Promise<void> {
    if (this.#links.size > 0) await new Promise<void>((resolve) => this.#untilAlone.push(resolve));
  }

  /**
   * Listens there, and nowhere else any more; those who are connected stay. The path must be ours to take: whoever holds the
   * lock may replace what a dead supervisor left there.
   */
  async listen(path: string): Promise<void> {
    const server = createServer((socket) => this.#welcome(socket));
    // Whoever closes a server removes what stands at the path it was made at, even if that is another's by then. So it is
    // made under another name, a shorter one, as the system limits them.
    const draft = join(dirname(path), `.${randomBytes(4).toString('hex')}`);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(draft, resolve);
    });
    chmodSync(draft, 0o600);
    renameSync(draft, path);
    this.#server?.close();
    this.#server = server;
    this.#place = { path, inode: inodeOf(path)! };
  }

  /** Something may have changed; soon the clients are told. */
  publishSoon(): void {
    if (this.#timer !== null) return;
    const wait = Math.max(1, this.#publishedAt + PUBLISH_MS - performance.now());
    this.#timer = setTimeout(() => this.#publish(), wait);
  }

  /** Says why to those who are there, and closes. */
  async close(reason: string): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#preparing !== null) clearImmediate(this.#preparing);
    if (this.#again !== null) clearTimeout(this.#again);
    for (const [socket, link] of this.#links) {
      link.send({ type: 'bye', kind: 'leaving', reason });
      socket.end();
      setTimeout(() => socket.destroy(), PUBLISH_MS).unref();
    }
    if (this.isReachable) unlinkSync(this.#place!.path);
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  #publish(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (!this.#isPrepared()) return;
    this.#publishedAt = performance.now();
    const changed = this.#views.refresh();
    if (this.#links.size > 0) this.#status = this.#views.status();
    for (const link of this.#links.values()) link.changed(changed);
    for (const [socket, link] of this.#links) this.#flush(socket, link);
    this.#lookAgain();
  }

  /** Once a second while somebody is there to see it: when runs end changes by itself. */
  #lookAgain(): void {
    if (this.#again !== null || this.#links.size === 0 || !this.#views.isLive) return;
    this.#again = setTimeout(() => {
      this.#again = null;
      this.#publish();
    }, untilWholeSecond(performance.now())).unref();
  }

  /** Where it is not yet, a publication follows when it is: rows are made as they are at the moment of sending. */
  #isPrepared(): boolean {
    if (this.#preparing !== null) return false;
    if (this.#prepare(performance.now() + PREPARE_MS)) return true;
    this.#preparing = setImmediate(() => {
      this.#preparing = null;
      this.#publish();
    });
    return false;
  }

  #flush(socket: Socket, link: ClientLink): void {
    // One that was refused has heard its last word; writing more would destroy the socket before that word has arrived.
    if (!socket.writable) return;
    if (this.#views.isIncomplete) return this.publishSoon();
    if (!this.#isPrepared()) return;
    const stalled = link.flush((this.#status ??= this.#views.status()), performance.now());
    if (link.wantsMore) setImmediate(() => this.#links.has(socket) && this.#flush(socket, link));
    if (stalled > STALL_MS) socket.destroy();
    // A stalled client must be looked at again even if nothing happens.
    else if (stalled > 0) this.publishSoon();
  }

  #welcome(socket: Socket): void {
    const link = new ClientLink(socket, this.#views, pid);
    const reader = new MessageReader(ClientMessage, {
      ignored: (message, keys) => 'request' in message && link.ignores(message.request, keys),
      answered: (json) => this.#answerUnknown(json, link),
    });
    this.#links.set(socket, link);
    socket.on('data', (chunk: Buffer) => this.#hear(socket, link, () => reader.push(chunk)));
    socket.on('drain', () => this.#flush(socket, link));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#links.delete(socket);
      this.#leftAt = performance.now();
      if (this.#links.size === 0) for (const resolve of this.#untilAlone.splice(0)) resolve();
    });
    this.#publish();
  }

  #hear(socket: Socket, link: ClientLink, read: () => ClientMessage[]): void {
    try {
      for (const message of read()) this.#take(message, link, socket);
    } catch (error) {
      const reason = error instanceof UserError ? `${error.message} ${error.fix}` : String(error);
      link.send({ type: 'bye', kind: 'refused', reason });
      // What it goes on saying is not listened to. The bye may stand behind many rows that it has not taken yet.
      socket.removeAllListeners('data').resume().end();
      setTimeout(() => socket.destroy(), STALL_MS).unref();
    }
  }

  #take(message: ClientMessage, link: ClientLink, socket: Socket): void {
    if (message.type !== 'hello') {
      void this.#respond(message, link, socket);
      return;
    }
    if (message.readOnly === true) this.#looking.add(link);
    if (message.version === PROTOCOL_VERSION) return;
    throw new UserError(
      `This supervisor speaks version ${PROTOCOL_VERSION} of the protocol, the client version ${message.version}.`,
      replaceSupervisor,
    );
  }

  /** What a newer program asks for has an answer as well; the rest of what it says is not refused with it. */
  #answerUnknown(json: unknown, link: ClientLink): boolean {
    const { data } = NumberedMessage.safeParse(json);
    if (data === undefined) return false;
    link.answer(data.request, olderVersion(PROGRAM_VERSION));
    this.#publish();
    return true;
  }

  async #respond(request: Request, link: ClientLink, client: object): Promise<void> {
    const ack = this.#looking.has(link) ? readOnlyRefusal : await this.#answer(request, client).catch(refusal);
    if (ack === null) return;
    link.answer(request.request, ack);
    this.#publish();
  }
}

/** What could not be done, as an answer. */
function refusal(error: unknown): Ack {
  if (error instanceof UserError) return { ok: false, message: error.message, fix: error.fix };
  return { ok: false, message: errorText(error), fix: null };
}

/** Null when nothing is there, or nobody can tell. */
function inodeOf(path: string): number | null {
  try {
    return lstatSync(path).ino;
  } catch {
    return null;
  }
}
