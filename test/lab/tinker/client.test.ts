import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { crossEntropy, gspo, importanceSampling, ppo } from '../../../src/lab/objectives/objectives.js';
import type { Datum, TrainingService } from '../../../src/lab/service/service.js';
import { RemoteService } from '../../../src/lab/tinker/client/remote-service.js';
import {
  readForwardBackwardOutput,
  readForwardBackwardRequest,
  writeForwardBackwardOutput,
} from '../../../src/lab/tinker/protocol/messages.js';
import { tempDirectory } from '../temp-directory.js';
import { runningService } from './running-service.js';

const prompt = Int32Array.of(55, 56, 57);
const answers = [Int32Array.of(5, 6, 7), Int32Array.of(8, 9), Int32Array.of(10, 11, 12, 13)];
const datums: Datum[] = answers.map((tokens, at) => ({
  prompt,
  tokens,
  weights: new Float32Array(tokens.length).fill(1),
  advantages: new Float32Array(tokens.length).fill(at - 0.5),
  logprobs: new Float32Array(tokens.length).fill(-4.4),
}));
const bounds = { low: 0.8, high: 1.2 };
const adam = { learningRate: 0.002, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 };
const prompts = [1, 2, 3, 2 ** 31, 2 ** 32 - 1].map((seed) => ({ tokens: prompt, seed }));

/** What a run does, and all that it sees of it. */
async function trained(service: TrainingService, directory: string) {
  const seen: unknown[] = [];
  for (const objective of [importanceSampling, ppo(bounds), gspo(bounds), crossEntropy]) {
    const { loss, tokens, kl1, kl2, clippedLow, clippedHigh } = await service.forwardBackward(datums, {
      objective,
      divisor: 2,
    });
    seen.push({ loss, tokens, kl1, kl2, clippedLow, clippedHigh });
    seen.push(await service.optimStep(adam));
    const drawn = await service.sample({ prompts, sampling: { maxTokens: 5, temperature: 1 } });
    seen.push(drawn.map(({ tokens, logprobs, ended }) => ({ tokens, logprobs, ended })));
  }
  const draft = join(directory, 'kept.new');
  mkdirSync(draft);
  await service.saveState(draft);
  await service.optimStep(adam);
  await service.loadState(draft);
  seen.push(await service.forward(datums));
  return seen;
}

it('a run over an unreliable network gives the same files as over a reliable one', async () => {
  const service = await runningService(tempDirectory());
  const seen: unknown[] = [];
  const pauses: number[] = [];
  try {
    for (const isBad of [false, true]) {
      let count = 0;
      const bad: typeof fetch = async (url, options) => {
        const turn = isBad ? ++count % 4 : 0;
        if (turn === 1) return new Response('busy', { status: [429, 503, 408][count % 3]! });
        const answer = await fetch(url, options);
        // Done, and its answer lost.
        if (turn === 2) throw new TypeError('the connection was cut');
        return answer;
      };
      const wait = async (ms: number) => void pauses.push(ms);
      const connection = { baseUrl: service.url, key: 'tml-test', wait, fetch: bad };
      const remote = await RemoteService.open(connection, { model: 'memrl/tiny', rank: 3, seed: 2 });
      seen.push(await trained(remote, tempDirectory()));
      await remote.close();
    }
    expect(seen[1]).toEqual(seen[0]);
    expect(pauses.length).toBeGreaterThan(10);
  } finally {
    await service.close();
  }
});

it('a run on a SkyRL-like service gives the same files: no losses, int32 seeds, plain names, sessions that cannot be ended', async () => {
  const service = await runningService(tempDirectory());
  const opened = (fetch: typeof globalThis.fetch) =>
    RemoteService.open(
      { baseUrl: service.url, key: 'tml-test', wait: async () => undefined, fetch },
      { model: 'memrl/tiny', rank: 3, seed: 2 },
    );
  const refused: string[] = [];
  const strict: typeof fetch = async (url, options) => {
    const path = (url as string).split('/api/v1/')[1]!;
    if (path.endsWith('/finish')) return new Response('{"detail":"Not Found"}', { status: 404 });
    refused.push(...impolite(path, (options!.body as Buffer).toString()));
    const answer = await fetch(url, options);
    return new Response(Buffer.from(withoutLoss(path, new Uint8Array(await answer.arrayBuffer()))), answer);
  };
  try {
    const [usual, other] = [await opened(fetch), await opened(strict)];
    const [expected, seen] = [await trained(usual, tempDirectory()), await trained(other, tempDirectory())];
    await usual.close();
    await other.close();
    expect(refused).toEqual([]);
    expect(rounded(seen)).toEqual(rounded(expected));
  } finally {
    await service.close();
  }
});

/** Seeds and names that SkyRL refuses. */
function impolite(path: string, body: string): string[] {
  const [, seed = '0'] = /"seed":(-?\d+)/.exec(body) ?? [];
  const [, name = 'none'] = (path === 'save_weights' && /"path":"([^"]*)"/.exec(body)) || [];
  return [...(Number(seed) === (Number(seed) | 0) ? [] : [seed]), ...(/^[\w-]+$/.test(name) ? [] : [name])];
}

/** Only results of passes name this type in their first bytes. */
function withoutLoss(path: string, bytes: Uint8Array): Uint8Array {
  const isPass = path === 'retrieve_future' && Buffer.from(bytes.subarray(0, 20)).includes('ArrayRecord');
  return isPass ? writeForwardBackwardOutput({ ...readForwardBackwardOutput(bytes), metrics: {} }) : bytes;
}

/** A loss that is summed here differs in its last digits. */
function rounded(seen: readonly unknown[]): unknown {
  return JSON.parse(JSON.stringify(seen, (_, value: unknown) => (typeof value === 'number' ? Math.fround(value).toPrecision(5) : value))); // prettier-ignore
}

it.each([
  { status: 410, words: /session has ended/ },
  { status: 401, words: /rejects the key/ },
  { status: 422, words: /refuses create_session/ },
])('status $status is reported once, in plain words and without the key', async ({ status, words }) => {
  let asked = 0;
  const refusing: typeof fetch = async () => new Response('{"detail":"no"}', { status: (asked++, status) });
  const connection = { baseUrl: 'http://there', key: 'tml-very-secret', wait: async () => undefined, fetch: refusing };
  const opening = RemoteService.open(connection, { model: 'm', rank: 1, seed: 0 });
  const error = await opening.then(
    () => new Error('it was opened'),
    (failed: unknown) => failed as Error,
  );
  expect(error.message).toMatch(words);
  expect(`${JSON.stringify(error)} ${error.stack}`).not.toContain('very-secret');
  expect(asked).toBe(1);
});

it('a client gives up on an unreachable service, and names what it waited for', async () => {
  const nobody: typeof fetch = async () => Promise.reject(new TypeError('fetch failed'));
  const connection = { baseUrl: 'http://there', key: 'tml-x', wait: async () => undefined, fetch: nobody };
  await expect(RemoteService.open(connection, { model: 'm', rank: 1, seed: 0 })).rejects.toThrow('fetch failed');
});

describe('a run on a service that answers as it likes', () => {
  /** Accepts everything. A result is asked for `times` times too soon; that of a pass comes once an optimizer step was sent. */
  function scripted({ early = () => new Response('{"type":"try_again"}'), times = 0 } = {}) {
    const asked: { path: string; bytes: number; datums: number; number: number | null }[] = [];
    const polls = new Map<string, number>();
    const result = (id: string): Response => {
      polls.set(id, (polls.get(id) ?? 0) + 1);
      if (polls.get(id)! <= times) return early();
      const pass = asked[Number(id)]!;
      if (pass.datums === 0) return Response.json({ model_id: 'm', metrics: {} });
      if (!asked.some(({ path }) => path === 'optim_step')) return early();
      const logprobs = Array.from({ length: pass.datums }, () => new Float32Array(1));
      const output = writeForwardBackwardOutput({ logprobs, metrics: { 'loss:sum': 1 } });
      return new Response(Buffer.from(output), { headers: { 'content-type': 'application/x-protobuf' } });
    };
    const answer: typeof fetch = async (url, options) => {
      const path = (url as string).split('/api/v1/')[1]!;
      const body = options!.body as Buffer;
      if (path === 'create_session') return Response.json({ session_id: 's' });
      if (path === 'retrieve_future') return result((JSON.parse(body.toString()) as { request_id: string }).request_id);
      const { data, seqId } =
        path === 'forward_backward' ? readForwardBackwardRequest(body) : { data: [], seqId: null };
      asked.push({ path, bytes: body.length, datums: data.length, number: seqId });
      return Response.json({ request_id: String(asked.length - 1) });
    };
    const waits: number[] = [];
    const wait = async (ms: number) => void waits.push(ms);
    const connection = { baseUrl: 'http://there', key: 'tml-x', wait, fetch: answer };
    return { asked, waits, open: () => RemoteService.open(connection, { model: 'm', rank: 1, seed: 0 }) };
  }
  const rows = (count: number, length: number): Datum[] =>
    Array.from({ length: count }, () => ({
      prompt: Int32Array.of(1),
      tokens: new Int32Array(length),
      weights: new Float32Array(length),
    }));

  it.each([
    { what: '1,024 sequences', data: rows(2500, 1), chunks: [1024, 1024, 452] },
    { what: '5 MB', data: rows(30, 20_000), chunks: [12, 12, 6] },
  ])('sends at most $what in a request, and the optimizer step before it has a result', async ({ data, chunks }) => {
    const { asked, open } = scripted();
    const service = await open();
    const learnt = service.forwardBackward(data, { objective: crossEntropy });
    const stepped = service.optimStep(adam);
    expect((await learnt).loss).toBe(chunks.length);
    await stepped;
    await service.close();
    const passes = asked.filter(({ path }) => path === 'forward_backward');
    expect(passes.map(({ datums }) => datums)).toEqual(chunks);
    expect(passes.map(({ number }) => number)).toEqual(chunks.map((_, at) => at + 1));
    for (const { bytes } of passes) expect(bytes).toBeLessThanOrEqual(5_000_000);
  });

  it.each([
    { what: 'in words', early: () => new Response('{"type":"try_again"}') },
    { what: 'with 408', early: () => new Response('', { status: 408 }) },
  ])('polls for a result while the service reports $what that it is unfinished', async ({ early }) => {
    const { waits, open } = scripted({ early, times: 50 });
    const service = await open();
    await service.close();
    expect(waits).toHaveLength(50);
    expect(Math.max(...waits)).toBe(2000);
  });

  it('waits as long as a busy service asks it to', async () => {
    const { waits, open } = scripted({
      early: () => new Response('', { status: 429, headers: { 'retry-after': '7' } }),
      times: 1,
    });
    await (await open()).close();
    expect(waits).toEqual([7000]);
  });
});
