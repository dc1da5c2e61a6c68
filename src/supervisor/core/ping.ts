import { connect } from 'node:net';

/** A supervisor that is there says hello at once, ms. */
const PATIENCE_MS = 1000;

/** Whether a supervisor says hello on this socket. A socket that a dead one left is none. */
export function isAnsweringPing(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const settle = (isThere: boolean) => {
      clearTimeout(timer);
      socket.removeAllListeners().on('error', () => undefined);
      socket.destroy();
      resolve(isThere);
    };
    const timer = setTimeout(() => settle(false), PATIENCE_MS);
    socket.once('data', () => settle(true));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
  });
}
