import { connect as connectSocket, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { errorText, UserError } from '../base/user-error.js';
import { supervisorFiles } from '../contract/files.js';
import { SupervisorLock } from '../contract/supervisor-lock.js';
import { checkRunsDirectory, socketProblem } from '../files/private-folder.js';
import { readRegular, statRegular } from '../files/regular-file.js';
import { encode, MessageReader } from '../protocol/codec.js';
import { type ClientMessage, PROTOCOL_VERSION, ServerMessage } from '../protocol/message.js';

/** Receives the messages of a connection, and its end once. */
type ConnectionListener = {
  /** Messages that arrived together, in order. */
  heard: (messages: readonly ServerMessage[]) => void;
  /** `problem`: what came that could not be understood and ended the connection, or null. */
  ended: (problem: Error | null) => void;
};

/** How long a supervisor may take to send its hello, ms. */
const PATIENCE_MS = 5000;

/** One socket, or other stream, to a supervisor. */
export class Connection {
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

/** Limit on the size of a lock file that is read, in bytes. */
const LARGEST_LOCK = 1 << 16;

/** The lock of this runs directory; null when there is none that can be read. Its owner may be dead. */
export function lockOf(runsDirectory: string): SupervisorLock | null {
  const path = join(runsDirectory, supervisorFiles.directory, supervisorFiles.lock);
  const read = readRegular(path, LARGEST_LOCK, { noLink: true });
  if (read.kind !== 'text') return null;
  try {
    return SupervisorLock.parse(JSON.parse(read.text));
  } catch {
    return null;
  }
}

/**
 * A socket to the supervisor of this runs directory, as `openSocket` returns it. Nothing is sent to a socket that another user may
 * have created.
 *
 * @throws {UserError} When the runs directory is not safe to use.
 */
export async function openSupervisor(runsDirectory: string, patienceMs?: number): Promise<Socket | null> {
  checkRunsDirectory(runsDirectory);
  const socket = lockOf(runsDirectory)?.socket;
  return socket === undefined || socketProblem(socket) !== null ? null : openSocket(socket, patienceMs);
}

/**
 * A socket on which a supervisor has said hello (still to be read), or null when there is none. A connection alone proves nothing:
 * the kernel also accepts connections for a supervisor that was just killed.
 */
function openSocket(path: string, patienceMs = PATIENCE_MS): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connectSocket(path);
    const settle = (result: Socket | null) => {
      clearTimeout(timer);
      socket.removeAllListeners();
      if (result !== null) return resolve(result);
      socket.on('error', () => undefined);
      socket.destroy();
      resolve(null);
    };
    const timer = setTimeout(() => settle(null), patienceMs);
    // 'readable' is also emitted at the end of the stream, with nothing to read.
    socket.once('readable', () => settle(socket.readableLength > 0 ? socket : null));
    socket.once('error', () => settle(null));
    socket.once('close', () => settle(null));
  });
}

/**
 * What is known about the supervisor of a runs directory without starting one. `silent`: a process holds the lock and does not
 * answer, being dead or stuck. `isOurs`: it speaks the protocol of this program.
 */
export type SupervisorProbe =
  | { kind: 'none' }
  | { kind: 'unreadable'; reason: string }
  | { kind: 'silent'; lock: SupervisorLock }
  | { kind: 'answers'; lock: SupervisorLock; isOurs: boolean };

/** Looks for a supervisor. Never rejects; a stuck supervisor is given as long as in `openSocket`. */
export async function probeSupervisor(runsDirectory: string): Promise<SupervisorProbe> {
  const path = join(runsDirectory, supervisorFiles.directory, supervisorFiles.lock);
  try {
    checkRunsDirectory(runsDirectory);
  } catch (error) {
    return { kind: 'unreadable', reason: errorText(error) };
  }
  const there = statRegular(path);
  if (there.kind !== 'file') return there.kind === 'absent' ? { kind: 'none' } : there;
  const lock = lockOf(runsDirectory);
  if (lock === null) return { kind: 'unreadable', reason: 'it is not one' };
  const socket = socketProblem(lock.socket) === null ? await openSocket(lock.socket) : null;
  if (socket === null) return { kind: 'silent', lock };
  const heard = (socket.read() as Buffer | null)?.toString() ?? '';
  socket.destroy();
  const version = Number(/"version":\s*(\d+)/.exec(heard.split('\n', 1)[0]!)?.[1]);
  return { kind: 'answers', lock, isOurs: version === PROTOCOL_VERSION };
}
