import type { Duplex } from 'node:stream';
import { Memoized } from '../base/memo.js';
import { errorText, UserError } from '../base/user-error.js';
import {
  type Ack,
  type ClientMessage,
  type Command,
  encode,
  looksOnly,
  MessageReader,
  olderVersion,
  type Plan,
  PROTOCOL_VERSION,
  readOnlyRefusal,
  replaceSupervisor,
  type RequestedSlots,
  ServerMessage,
  submission,
} from '../protocol/message.js';
import type { FleetStatus, RunSummary, SweepSummary } from '../protocol/run-summary.js';
import type { PlainVerb, RunOrder } from '../protocol/run-verbs.js';
import { Mirror } from './mirror.js';

export type { Ack, Command, RequestedSlots } from '../protocol/message.js';
export type { FleetStatus } from '../protocol/run-summary.js';
export type { GroupSummary, RunSummary, RunWord, SweepSummary } from '../protocol/run-summary.js';

type RunId = RunSummary['id'];

/** Connects to the supervisor again, or starts it again; null: there is none yet. */
type Reopen = () => Promise<Duplex | null>;

export type FleetMode = 'acts' | 'looks';

/** Pauses between attempts to reach a lost supervisor, ms; the last one is repeated. */
const BACKOFF_MS = [50, 100, 250, 500, 1000, 2000];

/**
 * All runs of one supervisor, kept up to date, and the requests that act on them.
 *
 * After the connection is lost, the last known state stays until a supervisor has sent all of its state again.
 */
export class Fleet {
  readonly #reopen: Reopen;
  readonly #mode: FleetMode;
  /** The status of the mirror as shown where nothing can be done. */
  readonly #looking = new Memoized<FleetStatus>();
  readonly #listeners = new Set<() => void>();
  readonly #answers = new Map<number, (ack: Ack) => void>();
  readonly #ready: Promise<void>;
  #becomeReady!: () => void;
  #beRefused!: (cause: Error) => void;
  #connection: Connection | null = null;
  #mirror = new Mirror();
  #version = 0;
  #requests = 0;
  /** Resolves when the previous submission has been sent: the pages of two submissions must not be mixed. */
  #sending = Promise.resolve();
  #state: 'connected' | 'reconnecting' | 'closed' = 'connected';
  #problem: string | null = null;
  /** Version of the supervisor's program; null: it has not sent one. */
  #program: string | null = null;
  /** The answer to a request that was lost or cannot be sent. */
  #noAnswer: Ack = unreachable;
  #retry: NodeJS.Timeout | null = null;
  #isReady = false;

  /** @param mode `looks`: whatever is asked of the supervisor is refused, here and there. */
  constructor(socket: Duplex, reopen: Reopen, mode: FleetMode = 'acts') {
    this.#reopen = reopen;
    this.#mode = mode;
    this.#ready = new Promise((resolve, reject) => {
      this.#becomeReady = resolve;
      this.#beRefused = reject;
    });
    // `ready` need not be called: then its rejection must not count as unhandled.
    this.#ready.catch(() => undefined);
    this.#attach(socket, this.#mirror);
  }

  get sweeps(): ReadonlyMap<string, SweepSummary> {
    return this.#mirror.sweeps;
  }

  /** The runs in launch order within each sweep. A changed run is a new object. */
  get runs(): ReadonlyMap<RunId, RunSummary> {
    return this.#mirror.runs;
  }

  get status(): FleetStatus {
    const { status } = this.#mirror;
    return this.#mode === 'acts' ? status : this.#looking.value([status], () => ({ ...status, readOnly: looksOnly }));
  }

  get connection(): 'connected' | 'reconnecting' {
    return this.#state === 'connected' ? 'connected' : 'reconnecting';
  }

  /** Why the supervisor was lost, or cannot be reached, in words; null: it is connected, or the reason is unknown. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Version of the supervisor's program; null: it is too old to send one. */
  get program(): string | null {
    return this.#program;
  }

  /** A counter that grows with every change of the state. */
  version(): number {
    return this.#version;
  }

  /**
   * Resolves when the first complete state has arrived, or after `close`.
   *
   * @throws {UserError} When the supervisor speaks another version of the protocol.
   */
  ready(): Promise<void> {
    return this.#ready;
  }

  /** Calls back after each publication, at most about 10 times a second. Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Resolves with true when the condition holds, which is checked after each publication; with false when the fleet is closed
   * before.
   */
  async until(condition: (fleet: Fleet) => boolean): Promise<boolean> {
    while (!condition(this)) {
      if (this.#state === 'closed') return false;
      await new Promise<void>((resolve) => {
        const end = this.subscribe(() => {
          end();
          resolve();
        });
      });
    }
    return true;
  }

  /** Sends a command. Resolves when the supervisor has recorded it. */
  request(command: Command): Promise<Ack> {
    return this.#request((request) => [{ type: 'command', request, command }]);
  }

  /** Applies a verb of the table of run verbs to runs. */
  act(act: PlainVerb | RunOrder, ids: readonly RunId[]): Promise<Ack> {
    const order: RunOrder = typeof act === 'string' ? { verb: act } : act;
    return this.request({ ...order, ids: [...ids] });
  }

  /**
   * Launches the runs of the plan that are not done or running. Resolves when the supervisor has recorded the submission.
   *
   * @param environment The user's environment, for the runs.
   * @param order All runs of the file, where the plan has only some of them.
   */
  submit(
    plan: Plan,
    environment: Readonly<Record<string, string>>,
    slots: RequestedSlots,
    order?: readonly RunId[],
  ): Promise<Ack> {
    const whole = order === undefined ? {} : { order: [...order] };
    return this.#request((request) => submission({ request, plan, environment, slots, ...whole }));
  }

  /** Disconnects. The supervisor and the runs continue. */
  close(): void {
    this.#state = 'closed';
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#connection?.close();
    this.#becomeReady();
    this.#changed();
  }

  #request(messages: (request: number) => Iterable<ClientMessage>): Promise<Ack> {
    const connection = this.#connection;
    // The supervisor may be older, and not know that this one only looks.
    if (this.#mode === 'looks') return Promise.resolve(readOnlyRefusal);
    if (connection === null) return Promise.resolve(this.#noAnswer);
    const request = ++this.#requests;
    return new Promise((resolve) => {
      this.#answers.set(request, resolve);
      this.#sending = this.#sending.then(() => connection.sendAll(messages(request)));
    });
  }

  #attach(socket: Duplex, mirror: Mirror): void {
    const listener = {
      heard: (messages: readonly ServerMessage[]) => this.#hear(messages, mirror),
      ended: (problem: Error | null) => this.#lost(problem),
    };
    this.#connection = new Connection(socket, listener, this.#mode === 'looks');
  }

  #hear(messages: readonly ServerMessage[], mirror: Mirror): void {
    const others = mirror.takeAll(messages);
    for (const message of others) this.#note(message);
    const changed = others.length < messages.length;
    // After a reconnection the old state stays until the new one is complete.
    if (mirror !== this.#mirror && !mirror.complete) return;
    this.#mirror = mirror;
    if (mirror.complete) this.#arrived();
    if (changed) this.#changed();
  }

  #arrived(): void {
    if (this.#state === 'reconnecting') {
      this.#state = 'connected';
      this.#problem = null;
      this.#noAnswer = unreachable;
    }
    this.#isReady = true;
    this.#becomeReady();
  }

  #note(message: ServerMessage): void {
    if (message.type === 'bye') this.#problem = message.reason;
    if (message.type === 'bye' && message.kind === 'refused') this.#beTurnedAway(message.reason);
    if (message.type === 'hello') this.#program = message.program ?? null;
    if (message.type !== 'ack') return;
    this.#answers.get(message.request)?.(message.ack);
    this.#answers.delete(message.request);
  }

  /**
   * Handles a refusal. A supervisor that was connected before did not understand a request, as it is older: the fleet reconnects,
   * and only that request fails.
   */
  #beTurnedAway(reason: string): void {
    if (this.#isReady) this.#noAnswer = olderVersion(this.#program);
    else this.#giveUp(reason);
  }

  #giveUp(reason: string): void {
    this.#beRefused(new UserError(`The supervisor does not answer this program: ${reason}`, replaceSupervisor));
    this.close();
  }

  #lost(problem: Error | null): void {
    this.#connection = null;
    for (const answer of this.#answers.values()) answer(this.#noAnswer);
    this.#answers.clear();
    if (this.#state === 'closed') return;
    if (problem !== null) return this.#giveUp(problem.message);
    this.#state = 'reconnecting';
    this.#changed();
    this.#retryAfter(0);
  }

  #retryAfter(failures: number): void {
    const wait = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)]!;
    this.#retry = setTimeout(() => void this.#tryAgain(failures), wait);
  }

  async #tryAgain(failures: number): Promise<void> {
    const socket = await this.#reopen().catch((error: unknown) => {
      this.#problem = errorText(error);
      return null;
    });
    if (this.#state === 'closed') socket?.destroy();
    else if (socket === null) this.#retryAfter(failures + 1);
    else this.#attach(socket, new Mirror());
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of [...this.#listeners]) listener();
  }
}

const unreachable: Ack = {
  ok: false,
  message: 'the connection to the supervisor was lost before it answered',
  fix: 'Wait until it is reconnected, check whether it was done, and repeat it if not.',
};

/** Receives the messages of a connection, and its end once. */
type ConnectionListener = {
  /** Messages that arrived together, in order. */
  heard: (messages: readonly ServerMessage[]) => void;
  /** `problem`: what came that could not be understood and ended the connection, or null. */
  ended: (problem: Error | null) => void;
};

/** A connection to a supervisor, over a socket or another stream. */
class Connection {
  readonly #socket: Duplex;

  /** @param readOnly Whether the supervisor is to refuse whatever is asked on this connection. */
  constructor(socket: Duplex, listener: ConnectionListener, readOnly: boolean) {
    this.#socket = socket;
    const reader = new MessageReader(ServerMessage);
    let problem: Error | null = null;
    socket.on('data', (chunk: Buffer) => {
      try {
        listener.heard(reader.push(chunk));
      } catch (error) {
        problem = error as Error;
        socket.destroy();
      }
    });
    // Of a socket the cause does not matter: whatever it was, the connection is over.
    socket.on('error', (error) => {
      problem ??= error instanceof UserError ? error : null;
      socket.destroy();
    });
    socket.on('close', () => listener.ended(problem));
    if (socket.destroyed) setImmediate(() => listener.ended(null));
    socket.resume();
    this.send({ type: 'hello', version: PROTOCOL_VERSION, ...(readOnly ? { readOnly } : {}) });
  }

  send(message: ClientMessage): void {
    if (this.#socket.writable) this.#socket.write(encode(message));
  }

  /** Sends messages one by one, as fast as the other end reads them, so that a lazy sequence never is in memory as a whole. */
  async sendAll(messages: Iterable<ClientMessage>): Promise<void> {
    let isFirst = true;
    for (const message of messages) {
      if (!isFirst) await this.#turn();
      isFirst = false;
      if (!this.#socket.writable) return;
      this.send(message);
    }
  }

  /** Resolves after pending events have been handled, once the socket accepts more data or is closed. */
  #turn(): Promise<void> {
    const socket = this.#socket;
    if (!socket.writableNeedDrain) return new Promise((resolve) => setImmediate(resolve));
    return new Promise((resolve) => {
      const settle = () => {
        socket.off('drain', settle).off('close', settle);
        resolve();
      };
      socket.on('drain', settle).on('close', settle);
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}
