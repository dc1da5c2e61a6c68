import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { pid } from 'node:process';
import type { RunId } from '../../base/ids.js';
import { untilWholeSecond } from '../../base/lazy.js';
import { errorText, UserError } from '../../base/user-error.js';
import {
  type Ack,
  ClientMessage,
  encode,
  MessageReader,
  NumberedMessage,
  olderVersion,
  PAGE,
  PROGRAM_VERSION,
  PROTOCOL_VERSION,
  readOnlyRefusal,
  replaceSupervisor,
  type RunPatch,
  type ServerMessage,
} from '../../protocol/message.js';
import type { FleetStatus, RunSummary, SweepSummary } from '../../protocol/run-summary.js';
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

/** More than this unsent, and the client is left to catch up, bytes. */
const BACKLOG = 256 << 10;

/** Rows are made and sent for so long in one turn: others are to have theirs, too, ms. */
const SEND_MS = 8;

/**
 * What one client knows, and how it is told the rest.
 *
 * Nothing is queued for it but the names of runs that changed; their rows are compared with what it was sent last at the
 * moment of sending. So a client that is slow, or stopped, misses what is between and costs no memory.
 */
export class ClientLink {
  readonly #socket: Socket;
  readonly #views: RunViewCache;
  readonly #known = new Map<RunId, RunSummary>();
  readonly #pending: Set<RunId>;
  readonly #answers: ServerMessage[] = [];
  /** Keys that are not known here, by request. */
  readonly #ignored = new Map<number, ReadonlySet<string>>();
  #sequence = 0;
  #ready = false;
  #status = '';
  #sweeps: readonly SweepSummary[] | null = null;
  #stalledSince: number | null = null;

  constructor(socket: Socket, views: RunViewCache, pid: number) {
    this.#socket = socket;
    this.#views = views;
    this.#pending = new Set(views.ids());
    this.send({ type: 'hello', version: PROTOCOL_VERSION, pid, program: PROGRAM_VERSION });
  }

  /** An answer. It goes out after the rows as they are now, so that whoever has it also sees what it is about. */
  answer(request: number, ack: Ack): void {
    const ignored = this.#ignored.get(request);
    this.#ignored.delete(request);
    this.#answers.push({ type: 'ack', request, ack: ignored === undefined ? ack : withIgnored(ack, ignored) });
  }

  /** These keys of a request are not known here; whoever gets its answer is told. */
  ignores(request: number, keys: readonly string[]): void {
    const names = keys.map((path) => path.split('.').at(-1)!);
    this.#ignored.set(request, new Set([...(this.#ignored.get(request) ?? []), ...names]));
  }

  send(message: ServerMessage): void {
    if (this.#socket.writable) this.#socket.write(encode(message));
  }

  changed(ids: readonly RunId[]): void {
    for (const id of ids) this.#pending.add(id);
  }

  /**
   * Sends what has changed, as far as the client keeps up. `status`: as it was when it was last heard what has changed: a newer one may
   * tell of rows that the client has not got. `now`: ms; gives how long it has not kept up.
   */
  flush(status: FleetStatus, now: number): number {
    this.#sendSweeps();
    const until = performance.now() + SEND_MS;
    while (this.wantsMore && performance.now() < until) this.#sendPage(until);
    if (this.#pending.size === 0) this.#conclude(status);
    this.#stalledSince = this.#isBehind() ? (this.#stalledSince ?? now) : null;
    return this.#stalledSince === null ? 0 : now - this.#stalledSince;
  }

  /** What is true of all rows together is said after them: whoever reads `settled` has the last row. */
  #conclude(present: FleetStatus): void {
    const status = encode({ type: 'status', status: present });
    if (status !== this.#status) this.#socket.write((this.#status = status));
    if (!this.#ready) this.send({ type: 'ready', seq: ++this.#sequence });
    this.#ready = true;
    this.#answers.splice(0).forEach((answer) => this.send(answer));
  }

  /** Whether there is more to send, and the client would take it. */
  get wantsMore(): boolean {
    return this.#pending.size > 0 && !this.#isBehind();
  }

  #isBehind(): boolean {
    return this.#socket.writableLength > BACKLOG;
  }

  #sendSweeps(): void {
    const sweeps = this.#views.sweeps();
    if (sweeps === this.#sweeps || this.#isBehind()) return;
    this.#sweeps = sweeps;
    this.send({ type: 'sweeps', sweeps });
  }

  /** Sends one page, or what of it is made by then: the first rows of a new supervisor take ten times as long as others. */
  #sendPage(until: number): void {
    const runs: RunSummary[] = [];
    const patches: RunPatch[] = [];
    const ids: RunId[] = [];
    for (const id of first(this.#pending, PAGE)) {
      this.#pending.delete(id);
      const row = this.#views.row(id);
      const known = this.#known.get(id);
      if (row === undefined) ids.push(id);
      else if (known === undefined) runs.push(row);
      else if (row !== known) patches.push(...patchOf(known, row));
      if (row === undefined) this.#known.delete(id);
      else this.#known.set(id, row);
      if (performance.now() >= until) break;
    }
    if (runs.length > 0) this.send({ type: 'runs', seq: ++this.#sequence, runs });
    if (patches.length > 0) this.send({ type: 'patches', seq: ++this.#sequence, patches });
    if (ids.length > 0) this.send({ type: 'removed', seq: ++this.#sequence, ids });
  }
}

function withIgnored(ack: Ack, keys: ReadonlySet<string>): Ack {
  const names = [...keys].map((key) => `\`${key}\``).join(', ');
  const words = `${names} is left out: the supervisor is an older version of memrl-tui (${PROGRAM_VERSION}). ${replaceSupervisor}`;
  return { ...ack, message: `${ack.message}; ${words}` };
}

/** One patch, or none when nothing a client can see is different. */
function patchOf(before: RunSummary, now: RunSummary): RunPatch[] {
  const changed = Object.entries(now).filter(([key, value]) => !isSame(before[key as keyof RunSummary], value));
  return changed.length === 0 ? [] : [{ id: now.id, ...Object.fromEntries(changed) }];
}

/** Rows are plain data, and the parts that are objects are small. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  return typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b);
}

function* first<Item>(items: Iterable<Item>, count: number): Iterable<Item> {
  let left = count;
  for (const item of items) {
    if (left-- <= 0) return;
    yield item;
  }
}
