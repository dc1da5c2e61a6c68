import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AdaptedEngine } from '../../../src/lab/engine/adapters/adapted-engine.js';
import { computedShape } from '../../../src/lab/engine/adapters/layout.js';
import { compiledKernels, createEngine } from '../../../src/lab/engine/create-engine.js';
import { readPeft } from '../../../src/lab/hugging-face/peft.js';
import { readModel } from '../../../src/lab/run/model-files.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';
import { removeFolder } from '../../remove-folder.js';
import { rlIn, rowsIn, testWorld } from '../algorithms/run-in-test.js';
import { tempDirectory } from '../temp-directory.js';

const home = mkdtempSync(join(tmpdir(), 'memrl-served-'));
/** Rewards that even a model without any training earns now and then. */
const letters = `export default {
  name: 'letters',
  stop: [],
  task: (index) => ({ id: 'task ' + index, prompt: 'Say ' + index }),
  respond: (_, [turn]) => ({ reward: [...turn.text].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 7 }),
};`;
const usual = [
  ...['groups_per_batch=2', 'group_size=4', 'max_tokens=3', 'n_batches=3', 'learning_rate=0.01', 'eval_every=0'],
  `environment=${home}/letters.mjs`,
];
let base = '';
let other = '';
beforeAll(async () => {
  writeFileSync(join(home, 'letters.mjs'), letters);
  [base, other] = [await model('n_batches=0'), await model('n_batches=4', 'learning_rate=0.3')];
});
let server: Server | undefined;
afterEach(() => void server?.close());
afterAll(() => removeFolder(home));

/** A checkpoint of a new model, after so much training. */
async function model(...argv: string[]): Promise<string> {
  const path = mkdtempSync(join(home, 'model-'));
  await rlIn(path, [...usual, 'lora_rank=0', ...argv]);
  return join(path, 'checkpoints/final');
}

/** A request as vLLM takes it. */
type Asked = { model: string; prompt: number[]; max_tokens: number; seed: number; stop_token_ids: number[] } & {
  lora_name: string;
  lora_path: string;
};

/** What vLLM does, as far as it is asked: `/v1/models`, `/v1/completions` with token ids, and adapters that come and go. */
async function serving(
  checkpoint: string,
  { takesAdapters = true, saysTokens = true }: { takesAdapters?: boolean; saysTokens?: boolean } = {},
): Promise<{ url: string; loaded: string[]; served: () => string[] }> {
  const { shape, weights } = readModel(checkpoint);
  const services = new Map<string, EngineService>();
  const loaded: string[] = [];
  const adapted = async (path: string): Promise<EngineService> => {
    const { adapter, parameters } = readPeft(path, shape);
    const engine = await createEngine(computedShape(shape, [adapter]));
    const whole = await AdaptedEngine.on(engine, await compiledKernels(), { shape, weights, adapters: [adapter] });
    await whole.loadWeights(takesAdapters ? parameters : new Float32Array(parameters.length));
    return new EngineService(whole);
  };
  const answers: Record<string, (asked: Asked) => Promise<unknown>> = {
    '/v1/models': async () => ({
      object: 'list',
      data: [{ id: 'tiny', parent: null }, ...[...services.keys()].map((id) => ({ id, parent: 'tiny' }))],
    }),
    '/v1/load_lora_adapter': async ({ lora_name: name, lora_path: path }) => {
      services.set(name, await adapted(path));
      loaded.push(name);
      return `Success: LoRA adapter '${name}' added successfully.`;
    },
    '/v1/unload_lora_adapter': async ({ lora_name: name }) => `Success: ${services.delete(name)}`,
    '/v1/completions': async ({ model, prompt, max_tokens: maxTokens, seed, stop_token_ids: stop }) => {
      const [drawn] = await services.get(model)!.sample({
        prompts: [{ tokens: Int32Array.from(prompt), seed }],
        sampling: { maxTokens, temperature: 1, stop },
      });
      const tokens = saysTokens ? { token_ids: Array.from(drawn!.tokens) } : {};
      const logprobs = { token_logprobs: Array.from(drawn!.logprobs), tokens: [], top_logprobs: null };
      return { choices: [{ index: 0, text: '', ...tokens, logprobs, finish_reason: drawn!.ended }] };
    },
  };
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString();
      void answers[request.url!]!(JSON.parse(text || '{}') as Asked).then((answer) => {
        response.setHeader('content-type', 'application/json');
        response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
      });
    });
  });
  await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, loaded, served: () => [...services.keys()] };
}

async function trained(...argv: string[]): Promise<string> {
  const path = tempDirectory();
  await rlIn(path, [...usual, `load_checkpoint_path=${base}`, 'lora_rank=2', ...argv]);
  return path;
}

const adaptersIn = (path: string) => readModel(join(path, 'checkpoints/final')).adapters!.parameters;

describe('answers from a server', () => {
  it('come from the weights of each step, and give the same training as answers of this process', async () => {
    const { url, loaded, served } = await serving(base);
    const [there, here] = [await trained(`sampling=${url}/v1`), await trained()];
    const [far, near] = [rowsIn(there), rowsIn(here)];
    expect(far.map((row) => row['env/all/reward/total'])).toEqual(near.map((row) => row['env/all/reward/total']));
    const distances = far.map((row) => Math.abs(Number(row['optim/kl_sample_train_v1']))).slice(0, 3);
    expect(Math.max(...distances)).toBeLessThan(1e-5);
    const [learnt, wanted] = [adaptersIn(there), adaptersIn(here)];
    expect(Math.max(...learnt.map((each, at) => Math.abs(each - wanted[at]!)))).toBeLessThan(1e-4);
    // New weights for each of three steps; none stays behind, there or here.
    expect([loaded.length, served()]).toEqual([3, []]);
    const folder = join(there, 'served');
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
  });

  it('from stale weights are detected by their log-probabilities', async () => {
    const { url } = await serving(base, { takesAdapters: false });
    const distances = rowsIn(await trained(`sampling=${url}`)).map((row) => Number(row['optim/kl_sample_train_v2']));
    expect(distances[0]).toBeLessThan(1e-9);
    expect(distances[1]).toBeGreaterThan(1e-5);
    expect(distances[2]).toBeGreaterThan(distances[1]!);
  });

  it.each([
    {
      what: 'another model',
      checkpoint: () => other,
      how: {},
      words: /samples from another model than the one that is trained here: .* differ by \d\.\d\d nats a token/,
    },
    {
      what: 'no token ids',
      checkpoint: () => base,
      how: { saysTokens: false },
      words: 'does not say which tokens it drew',
    },
  ])('with $what are refused', async ({ checkpoint, how, words }) => {
    const { url } = await serving(checkpoint(), how);
    await expect(trained(`sampling=${url}`)).rejects.toThrow(words);
  });

  it('leave no weights of a killed attempt on the server once the run is resumed', async () => {
    const { url, served } = await serving(base);
    const path = tempDirectory();
    const argv = [...usual, `load_checkpoint_path=${base}`, 'lora_rank=2', `sampling=${url}`, 'save_every=1'];
    let steps = 0;
    const dying = async () => {
      if (steps++ === 2) throw new Error('killed');
      return null;
    };
    await expect(rlIn(path, argv, { ...testWorld(), stopAsked: dying })).rejects.toThrow('killed');
    expect(served().length).toBeGreaterThan(0);
    await rlIn(path, argv);
    expect([served(), readdirSync(path).includes('served') ? readdirSync(join(path, 'served')) : []]).toEqual([[], []]);
  });

  it.each([
    ['lora_rank=0', 'A server gets new weights as a LoRA'],
    ['sampling=gpubox:8000', 'sampling=gpubox:8000 is not the address of a server'],
    ['temperature=0.7', 'returns its log-probabilities at temperature 1'],
  ])('are refused for %s', async (setting, words) => {
    const { url } = await serving(base);
    await expect(trained(`sampling=${url}`, setting)).rejects.toThrow(words);
  });
});
