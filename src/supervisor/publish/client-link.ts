import type { Socket } from 'node:net';
import type { RunId } from '../../base/ids.js';
import { encode } from '../../protocol/codec.js';
import { type Ack, PAGE, PROTOCOL_VERSION, type RunPatch, type ServerMessage } from '../../protocol/message.js';
import { PROGRAM_VERSION, replaceSupervisor } from '../../protocol/older-version.js';
import type { FleetStatus, RunSummary, SweepSummary } from '../../protocol/run-summary.js';
import type { RunViewCache } from './run-view-cache.js';

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
