import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerTo } from './graphql.js';
import type { SweepBook } from './sweep-book.js';

/** Size limit of a question, bytes. */
const LARGEST = 4 << 20;

/** A key of the length that wandb asks for. It opens nothing: whoever is on this machine may ask. */
export const KEY = '0'.repeat(40);

export type SweepServer = { readonly url: string; readonly close: () => void };

/** Answers on a port of the loopback. */
export function openSweepServer(book: SweepBook, now: () => number = () => performance.now()): Promise<SweepServer> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    let length = 0;
    request.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= LARGEST) parts.push(part);
      else request.destroy();
    });
    request.on('end', () => {
      const text = JSON.stringify(answerTo(Buffer.concat(parts).toString(), book, now()));
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const close = () => {
        server.closeAllConnections();
        server.close();
      };
      resolve({ url: `http://127.0.0.1:${port}`, close });
    });
  });
}
