import { readFileSync } from 'node:fs';
import { connect as connectSocket, type Socket } from 'node:net';
import { join } from 'node:path';
import { supervisorFiles } from '../contract/files.js';
import { SupervisorLock } from '../contract/supervisor-lock.js';
import { encode, MessageReader } from '../protocol/codec.js';
import { type ClientMessage, PROTOCOL_VERSION, ServerMessage } from '../protocol/message.js';

/** Told of all that arrives, and once of the end. */
export type ConnectionListener = {
  /** Messages that came together, in order. */
  heard: (messages: readonly ServerMessage[]) => void;
  /** `problem`: what the other end said that could not be understood, or null. */
  ended: (problem: Error | null) => void;
};

/** One socket to a supervisor. */
export class Connection {
  readonly #socket: Socket;

  constructor(socket: Socket, listener: ConnectionListener) {
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
    // The cause does not matter: whatever it was, the connection is over.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => listener.ended(problem));
    if (socket.destroyed) setImmediate(() => listener.ended(null));
    socket.resume();
    this.send({ type: 'hello', version: PROTOCOL_VERSION });
  }

  send(message: ClientMessage): void {
    if (this.#socket.writable) this.#socket.write(encode(message));
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** Path of the socket of the supervisor that has locked this runs directory; null when none has. It may be dead. */
export function socketOf(runsDirectory: string): string | null {
  try {
    const path = join(runsDirectory, supervisorFiles.directory, supervisorFiles.lock);
    return SupervisorLock.parse(JSON.parse(readFileSync(path, 'utf8'))).socket;
  } catch {
    return null;
  }
}

/** A supervisor that has not said hello by then will not, ms. */
const PATIENCE_MS = 5000;

/**
 * A socket on which a supervisor has said hello (still to be read), or null when none does. To be connected is not enough: the
 * system also connects to the last threads of a supervisor that was killed.
 */
export function openSocket(path: string): Promise<Socket | null> {
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
    const timer = setTimeout(() => settle(null), PATIENCE_MS);
    // Also comes at the end of the stream, with nothing to read.
    socket.once('readable', () => settle(socket.readableLength > 0 ? socket : null));
    socket.once('error', () => settle(null));
    socket.once('close', () => settle(null));
  });
}
