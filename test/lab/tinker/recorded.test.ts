import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { tempDirectory } from '../temp-directory.js';
import { runningService } from './running-service.js';

/** What `npm run tinker -- --record` kept of a version of the official SDK. `boot`: of the service that answered then. */
type Recording = {
  readonly version: string;
  readonly boot: string;
  readonly home: string;
  readonly requests: readonly {
    readonly method: string;
    readonly path: string;
    readonly type?: string;
    readonly accept?: string;
    readonly body: string;
    readonly status: number;
    readonly answer: string;
  }[];
};

const folder = 'test/fixtures/tinker';
const recordings = readdirSync(folder).map(
  (name) => JSON.parse(gunzipSync(readFileSync(`${folder}/${name}`)).toString()) as Recording,
);

describe('recorded requests of the official SDK get the same responses, byte for byte', () => {
  it.each(recordings)('SDK $version', async ({ boot, home, requests }) => {
    const directory = tempDirectory();
    const service = await runningService(directory, { boot });
    try {
      // Results are waited for while later requests are sent, as the SDK does it.
      const waiting: Promise<void>[] = [];
      for (const request of requests) {
        const body = Buffer.from(request.body, 'base64');
        const headers = { 'content-type': request.type ?? 'application/json', accept: request.accept ?? '*/*' };
        const path = request.path.replace('/api/v1/', '');
        // A request without a number in the order of a model names what earlier results gave.
        if (!/forward|optim_step|save_weights|retrieve_future/.test(path)) await Promise.all(waiting);
        const asked = service
          .ask(request.method, path, request.method === 'GET' ? undefined : new Uint8Array(body), headers)
          .then(({ status, bytes }) => {
            const then = Buffer.from(request.answer, 'base64')
              .toString('latin1')
              .replaceAll(`${home}/serve`, directory);
            expect(Buffer.from(bytes).toString('latin1'), request.path).toBe(then);
            expect(status).toBe(request.status);
          });
        if (path.includes('retrieve_future')) waiting.push(asked);
        else await asked;
      }
      await Promise.all(waiting);
      expect(requests.length).toBeGreaterThan(50);
    } finally {
      await service.close();
    }
  });
});
