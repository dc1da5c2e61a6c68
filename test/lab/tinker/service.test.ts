import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  readForwardBackwardOutput,
  readSampleResponse,
  writeForwardBackwardRequest,
} from '../../../src/lab/tinker/protocol/messages.js';
import type { Tensor } from '../../../src/lab/tinker/protocol/tensors.js';
import { layout } from '../../../src/lab/engine/layout.js';
import { readModel } from '../../../src/lab/run/model-files.js';
import { removeFolder } from '../../remove-folder.js';
import { example, runningService, withModel, type RunningService } from './running-service.js';

const adam = { learning_rate: 0.002, beta1: 0.9, beta2: 0.95, eps: 1e-12, weight_decay: 0, grad_clip_norm: 0 };
const protobuf = { accept: 'application/x-protobuf' };
const sentence = [5, 6, 7, 8, 9, 10, 11, 12];

let service: RunningService;
const directory = mkdtempSync(join(tmpdir(), 'memrl-serve-'));
beforeAll(async () => {
  service = await runningService(directory, { boot: 'first' });
});
afterAll(async () => {
  await service.close();
  removeFolder(directory);
});

const learn = (model: string, seq: number, more: object = {}) => ({
  model_id: model,
  seq_id: seq,
  forward_backward_input: { data: [example(sentence), example([5, 6, 30, 31])], loss_fn: 'cross_entropy', ...more },
});
const step = (model: string, seq: number) => ({ model_id: model, seq_id: seq, adam_params: adam });

describe('training on the service', () => {
  it('lowers the loss on the same data from step to step', async () => {
    const { model } = await withModel(service);
    const losses: number[] = [];
    for (let at = 0; at < 4; at++) {
      losses.push((await service.result('forward_backward', learn(model, 2 * at + 1))).body.metrics['loss:sum']!);
      await service.result('optim_step', step(model, 2 * at + 2));
    }
    for (let at = 1; at < 4; at++) expect(losses[at]).toBeLessThan(losses[at - 1]!);
  });

  it('handles requests on a model in the order of their numbers, and a repeated one once', async () => {
    const { model } = await withModel(service, { rank: 2, seed: 3 });
    const other = (await withModel(service, { rank: 2, seed: 3 })).model;
    const late = service.ask('POST', 'optim_step', step(model, 2));
    const second = (await late).body.request_id;
    const waiting = service.ask('POST', 'retrieve_future', { request_id: second });
    const first = await service.result('forward_backward', learn(model, 1));
    const twice = (await service.ask('POST', 'optim_step', step(model, 2))).body.request_id;
    expect(twice).toBe(second);
    expect((await waiting).body.type).toBe('optim_step');
    expect(first.body.metrics).toEqual((await service.result('forward_backward', learn(other, 1))).body.metrics);
    await service.result('optim_step', step(other, 2));
    const after = await Promise.all([model, other].map((id) => service.result('forward', learn(id, 3))));
    expect(after[0]!.body).toEqual(after[1]!.body);
  });

  it.each([
    { what: 'a learning rate that is no number', path: 'optim_step', body: { adam_params: { learning_rate: 'high' } } },
    { what: 'weights that are not there', path: 'load_weights', body: { path: 'tinker://a:train:0/weights/b' } },
    { what: 'no name for the weights', path: 'save_weights', body: {} },
    { what: 'data that are none', path: 'forward_backward', body: { forward_backward_input: 5 } },
    // Model and number, and a datum whose tensor is sparse.
    { what: 'a sparse tensor', path: 'forward_backward', body: 'sparse' },
  ])('continues after a request with $what: later ones do not wait for it', async ({ path, body }) => {
    const { model } = await withModel(service);
    const sparse = (): Uint8Array => {
      const datum = [0x12, 0x07, 0x0a, 0x01, 0x77, 0x12, 0x02, 0x12, 0x00];
      return Uint8Array.from([0x0a, model.length, ...Buffer.from(model), 0x10, 1, 0x1a, datum.length, ...datum]);
    };
    const bad = body === 'sparse' ? sparse() : { model_id: model, seq_id: 1, ...(body as object) };
    const after = service.result('forward', learn(model, 2));
    expect((await service.result(path, bad)).body).toMatchObject({ category: 'user' });
    expect((await after).body.metrics['loss:sum']).toBeGreaterThan(0);
  });

  it('accepts any target where nothing is trained, as rl_loop of the cookbook sends zeros for its prompts', async () => {
    const [{ model }, { model: other }] = [await withModel(service), await withModel(service)];
    const weights = [0, 0, 0, 0, 1, 1, 1];
    const whole = example(sentence, weights);
    const { target_tokens: targets } = whole.loss_fn_inputs;
    const data = targets.data.map((target, at) => (weights[at] === 0 ? 0 : target));
    const zeros = { ...whole, loss_fn_inputs: { ...whole.loss_fn_inputs, target_tokens: { ...targets, data } } };
    const got = [
      await service.result('forward_backward', learn(model, 1, { data: [zeros] })),
      await service.result('forward_backward', learn(other, 1, { data: [whole] })),
    ];
    expect(got[0]!.body.metrics).toEqual(got[1]!.body.metrics);
    expect(got[0]!.body.metrics['loss:sum']).toBeGreaterThan(0);
    const scores = got.map(({ body }) => body.loss_fn_outputs[0]!.logprobs.data.slice(4));
    expect(scores[0]).toEqual(scores[1]);
    // What is no token of the model stands for the one that follows.
    const none = { ...targets, data: targets.data.map((target, at) => (weights[at] === 0 ? -100 : target)) };
    const unmasked = { ...whole, loss_fn_inputs: { ...whole.loss_fn_inputs, target_tokens: none } };
    const given = await service.result('forward', learn(model, 2, { data: [unmasked] }));
    expect(given.body.loss_fn_outputs).toEqual(got[1]!.body.loss_fn_outputs);
  });

  it('gives tokens without weights the weight 1, as the SDK’s examples expect', async () => {
    const [{ model }, { model: other }] = [await withModel(service), await withModel(service)];
    const { target_tokens: targets } = example(sentence).loss_fn_inputs;
    const bare = { ...example(sentence), loss_fn_inputs: { target_tokens: targets } };
    const got = [
      await service.result('forward_backward', learn(model, 1, { data: [bare] })),
      await service.result('forward_backward', learn(other, 1, { data: [example(sentence)] })),
    ];
    expect(got[0]!.body).toEqual(got[1]!.body);
  });

  it('scores and trains several targets per token, in the shape in which they were sent', async () => {
    const [{ model }, { model: other }] = [await withModel(service), await withModel(service)];
    const input = { chunks: [{ type: 'encoded_text', tokens: [5, 6] }] };
    const wide = (data: number[], dtype: string) => ({ data, dtype, shape: [2, 2] });
    const datum = {
      model_input: input,
      loss_fn_inputs: {
        target_tokens: wide([40, 6, 50, 51], 'int64'),
        weights: wide([0.5, 0.25, 1, 0], 'float32'),
      },
    };
    const { body } = await service.result('forward_backward', learn(model, 1, { data: [datum] }));
    const { data, shape } = body.loss_fn_outputs[0]!.logprobs as unknown as { data: number[]; shape: number[] };
    expect(shape).toEqual([2, 2]);
    expect(body.metrics['loss:sum']).toBeCloseTo(-(0.5 * data[0]! + 0.25 * data[1]! + data[2]!), 5);
    // The same as sequences of their own, which end with the target.
    const apart = [
      example([5, 40], [0.5]),
      example([5, 6], [0.25]),
      example([5, 6, 50], [0, 1]),
      example([5, 6, 51], [0, 0]),
    ];
    const alone = await service.result('forward_backward', learn(other, 1, { data: apart }));
    const last = alone.body.loss_fn_outputs.map(({ logprobs }) => logprobs.data.at(-1)!);
    data.forEach((score, at) => expect(score).toBeCloseTo(last[at]!, 5));
    const norms = [
      await service.result('optim_step', step(model, 2)),
      await service.result('optim_step', step(other, 2)),
    ];
    expect(norms[0]!.body.metrics['optim/grad_norm']).toBeCloseTo(norms[1]!.body.metrics['optim/grad_norm']!, 4);
    // Distillation sends the weights with few of their cells (CSR).
    const sparse = { data: [0.5, 0.25, 1], dtype: 'float32', shape: [2, 2], sparse_crow_indices: [0, 2, 3], sparse_col_indices: [0, 1, 0] }; // prettier-ignore
    const few = { ...datum, loss_fn_inputs: { ...datum.loss_fn_inputs, weights: sparse } };
    const same = [datum, few].map((each, at) => service.result('forward', learn(model, 3 + at, { data: [each] })));
    expect((await same[0]!).body).toEqual((await same[1]!).body);
  });

  it('decays norms like all other weights when all are trained, as PyTorch’s AdamW does', async () => {
    const { model } = await withModel(service, { rank: 0 });
    const adam_params = { ...adam, learning_rate: 0.5, weight_decay: 0.1 };
    await service.result('optim_step', { model_id: model, seq_id: 1, adam_params });
    await service.result('save_weights', { model_id: model, seq_id: 2, path: 'decayed' });
    const { weights, shape } = readModel(join(directory, 'checkpoints', model.replaceAll(':', '+'), 'weights/decayed'));
    const norms = layout(shape).filter((tensor) => tensor.shape.length === 1);
    expect(norms.length).toBeGreaterThan(0);
    // Without a gradient the step is the decay alone, of weights that are 1 at the start.
    for (const { offset } of norms) expect(weights[offset]).toBeCloseTo(1 - 0.5 * 0.1, 6);
  });

  it('accumulates gradients until the step: two requests equal one with both halves', async () => {
    const [{ model: whole }, { model: halves }] = [await withModel(service), await withModel(service)];
    const data = [example(sentence), example([5, 6, 30, 31])];
    await service.result('forward_backward', learn(whole, 1));
    for (const [at, datum] of data.entries()) {
      await service.result('forward_backward', learn(halves, at + 1, { data: [datum] }));
    }
    const [one, two] = [
      await service.result('optim_step', step(whole, 2)),
      await service.result('optim_step', step(halves, 3)),
    ];
    expect(two.body.metrics['optim/grad_norm']).toBeCloseTo(one.body.metrics['optim/grad_norm']!, 4);
  });

  it('gives the log-probabilities of a long shared prefix as if each sequence were alone', async () => {
    const { model } = await withModel(service);
    const beginning = Array.from({ length: 20 }, (_, at) => 3 + at);
    const rows = [40, 41, 42, 43].map((last) => [...beginning, last, 50, last]);
    const weights = rows[0]!.slice(1).map((_, at) => (at < 19 ? 0 : 1));
    const data = rows.map((row) => example(row, weights));
    const together = await service.result('forward', learn(model, 1, { data }));
    let loss = 0;
    for (const [at, datum] of data.entries()) {
      const alone = await service.result('forward', learn(model, at + 2, { data: [datum] }));
      loss += alone.body.metrics['loss:sum']!;
      const want = alone.body.loss_fn_outputs[0]!.logprobs.data;
      const got = together.body.loss_fn_outputs[at]!.logprobs.data;
      got.forEach((lp, token) => expect(lp).toBeCloseTo(want[token]!, 4));
      expect(got).toHaveLength(want.length);
    }
    expect(together.body.metrics['loss:sum']!).toBeCloseTo(loss, 4);
  });

  it('answers protobuf with protobuf, with the same content as in JSON', async () => {
    const { model } = await withModel(service);
    const floats = (values: number[]) => ({ values: Float32Array.from(values), shape: [values.length] });
    const body = writeForwardBackwardRequest({
      modelId: model,
      seqId: 1,
      data: [
        {
          tokens: Int32Array.from(sentence.slice(0, -1)),
          inputs: new Map<string, Tensor>([
            ['target_tokens', { values: Int32Array.from(sentence.slice(1)), shape: [7] }],
            ['weights', floats([1, 1, 1, 1, 1, 1, 1])],
          ]),
        },
      ],
      lossFn: 'cross_entropy',
      config: {},
      forwardOnly: true,
    });
    const answer = readForwardBackwardOutput((await service.result('forward_backward', body, protobuf)).bytes);
    const json = (await service.result('forward', learn(model, 2, { data: [example(sentence)] }))).body;
    expect(Array.from(answer.logprobs[0]!)).toEqual(json.loss_fn_outputs[0]!.logprobs.data);
    expect(answer.metrics).toEqual(json.metrics);
  });

  it.each([
    { what: 'a token that the vocabulary does not have', data: [example([5, 6, 200])], words: /token 200/ },
    { what: 'weights that are too few', data: [example(sentence, [1])], words: /weights of datum 0/ },
    {
      what: 'a target that the vocabulary does not have',
      data: [{ ...example(sentence), model_input: example([1, 2, 3, 4, 5, 6, 7, 8]).model_input }].map((datum) => ({
        ...datum,
        loss_fn_inputs: { ...datum.loss_fn_inputs, target_tokens: { data: [1, 2, 3, 4, 5, 6, -1], dtype: 'int64' } },
      })),
      words: /token -1/,
    },
    {
      what: 'targets that are no multiple of the tokens',
      data: [{ ...example(sentence), model_input: example([1, 2, 3, 4]).model_input }],
      words: /target_tokens of datum 0 has the shape \[7\]/,
    },
    { what: 'a loss that there is not', loss_fn: 'ppoo', words: /no loss ppoo.*ppo/s },
    {
      what: 'a loss whose formula is not public',
      loss_fn: 'stable_reinforce',
      words: /formula has not been published.*importance_sampling/s,
    },
    { what: 'a loss without its inputs', loss_fn: 'ppo', words: /no advantages|no logprobs/ },
  ])('refuses $what without any effect on the model', async ({ words, ...more }) => {
    const { model } = await withModel(service);
    const answer = (await service.result('forward_backward', learn(model, 1, more))).body;
    expect(answer).toMatchObject({ category: 'user' });
    expect(answer.error).toMatch(words);
    expect((await service.result('optim_step', step(model, 2))).body.metrics['optim/grad_norm']).toBe(0);
  });
});

describe('concurrent sessions', () => {
  const long = (model: string, seq: number) => {
    const tokens = Array.from({ length: 400 }, (_, at) => 1 + (at % 90));
    return learn(model, seq, { data: Array.from({ length: 60 }, () => example(tokens)) });
  };

  it('answer a small model while a step of a large one is computed', async () => {
    const { model } = await withModel(service);
    const order: string[] = [];
    const large = service.result('forward_backward', long(model, 1)).then(() => order.push('large'));
    const small = await withModel(service);
    await service.result('forward_backward', learn(small.model, 1));
    order.push('small');
    await large;
    expect(order).toEqual(['small', 'large']);
  });

  it('cancel a step, waiting or begun, without any change to the model', async () => {
    const norms: number[] = [];
    for (const isSent of [false, true]) {
      const { model } = await withModel(service, { rank: 2, seed: 8 });
      let seq = 0;
      await service.result('forward_backward', learn(model, ++seq));
      const sent: string[] = [];
      for (let count = 0; isSent && count < 2; count++)
        sent.push((await service.ask('POST', 'forward_backward', long(model, ++seq))).body.request_id);
      for (const request_id of sent.toReversed()) {
        await service.ask('POST', 'cancel_future', { request_id });
        expect((await service.ask('POST', 'retrieve_future', { request_id })).body.error).toMatch(/cancelled/);
      }
      norms.push((await service.result('optim_step', step(model, ++seq))).body.metrics['optim/grad_norm']!);
    }
    expect(norms[1]).toBe(norms[0]);
  });
});

describe('saved weights', () => {
  it('restore the optimizer exactly, or a fresh one without it', async () => {
    const { model, session } = await withModel(service);
    await service.result('forward_backward', learn(model, 1));
    await service.result('optim_step', step(model, 2));
    const { path } = (await service.result('save_weights', { model_id: model, seq_id: 3, path: 'ck' })).body;
    expect(path).toBe(`tinker://${model}/weights/ck`);
    const load = async (number: number, optimizer: boolean): Promise<string> =>
      (await service.result('load_weights', { session_id: session, model_seq_id: number, path, optimizer })).body
        .model_id;
    const [same, fresh] = [await load(1, true), await load(2, false)];
    const lossAfterStep = async (id: string, from: number): Promise<number> => {
      await service.result('forward_backward', learn(id, from));
      await service.result('optim_step', step(id, from + 1));
      return (await service.result('forward', learn(id, from + 2))).body.metrics['loss:sum']!;
    };
    const continued = await lossAfterStep(model, 4);
    expect(await lossAfterStep(same, 1)).toBe(continued);
    expect(await lossAfterStep(fresh, 1)).not.toBe(continued);
  });

  it('are not overwritten by default, and no name leads out of their directory', async () => {
    const { model } = await withModel(service);
    const save = (seq: number, more: object) =>
      service.result('save_weights', { model_id: model, seq_id: seq, ...more });
    await save(1, { path: 'ck' });
    expect((await save(2, { path: 'ck' })).body.error).toMatch(/already/);
    expect((await save(3, { path: 'ck', overwrite: true })).body.path).toMatch(/ck$/);
    for (const [at, path] of ['../x', 'a/b', '..', '', 'x.draft'].entries()) {
      expect((await save(4 + at, { path })).body.error, path).toMatch(/is not a path/);
    }
  });

  it('outlive the service; its sessions do not', async () => {
    const { model, session } = await withModel(service);
    await service.result('forward_backward', learn(model, 1));
    await service.result('optim_step', step(model, 2));
    const { path } = (await service.result('save_weights', { model_id: model, seq_id: 3, path: 'kept' })).body;
    const before = (await service.result('forward', learn(model, 4))).body;
    const next = await runningService(directory, { boot: 'second' });
    try {
      for (const [path, body] of [
        ['optim_step', step(model, 5)],
        ['session_heartbeat', { session_id: session }],
        ['retrieve_future', { request_id: 'first-1' }],
      ] as const) {
        expect((await next.ask('POST', path, body)).status, path).toBe(410);
      }
      const begun = await next.ask('POST', 'create_session', {});
      const made = await next.result('load_weights', {
        session_id: begun.body.session_id,
        model_seq_id: 0,
        path,
        optimizer: true,
      });
      expect((await next.result('forward', learn(made.body.model_id, 1))).body).toEqual(before);
      expect((await next.ask('POST', 'weights_info', { tinker_path: path })).body).toMatchObject({
        lora_rank: 4,
        is_lora: true,
      });
      const listed = (await next.ask('GET', `training_runs/${model}/checkpoints`)).body.checkpoints;
      expect(listed.map(({ tinker_path }) => tinker_path)).toEqual([path]);
    } finally {
      await next.close();
    }
  });
});

describe('sampling', () => {
  const prompt = { chunks: [{ type: 'encoded_text', tokens: [55, 56, 57] }] };
  const samplerOf = async (more: object = { base_model: 'memrl/tiny' }) => {
    const { session_id } = (await service.ask('POST', 'create_session', {})).body;
    const made = await service.ask('POST', 'create_sampling_session', {
      session_id,
      sampling_session_seq_id: 0,
      ...more,
    });
    return made.body.sampling_session_id;
  };
  const sample = (sampler: string, seq: number, params: object, more: object = {}) =>
    service.result('asample', {
      sampling_session_id: sampler,
      seq_id: seq,
      prompt,
      num_samples: 2,
      sampling_params: { max_tokens: 8, ...params },
      ...more,
    });

  it('is reproducible for a seed, whatever other requests run at the same time', async () => {
    const sampler = await samplerOf();
    const all = await Promise.all([1, 2, 3, 4].map((seq) => sample(sampler, seq, { seed: 7 + (seq % 2) })));
    const tokens = all.map(({ body }) => body.sequences.map((each) => each.tokens));
    expect(tokens[0]).toEqual(tokens[2]);
    expect(tokens[1]).toEqual(tokens[3]);
    expect(tokens[0]).not.toEqual(tokens[1]);
    expect(tokens[0]![0]).not.toEqual(tokens[0]![1]);
  });

  it('stops at a token, at a text of several tokens, or not at all', async () => {
    const sampler = await samplerOf();
    const free = (await sample(sampler, 1, { seed: 1, stop: [], max_tokens: 40 })).body.sequences[0]!;
    expect(free).toMatchObject({ stop_reason: 'length', tokens: { length: 40 } });
    const [, , third, fourth] = free.tokens;
    const byToken = (await sample(sampler, 2, { seed: 1, stop: [fourth!], max_tokens: 40 })).body.sequences[0]!;
    expect(byToken.stop_reason).toBe('stop');
    expect(byToken.tokens).toEqual(free.tokens.slice(0, free.tokens.indexOf(fourth!) + 1));
    // Token 2 is a space, and so on in the order of the characters.
    const text = String.fromCharCode(30 + third!, 30 + fourth!);
    const byText = (await sample(sampler, 3, { seed: 1, stop: [text], max_tokens: 40 })).body.sequences[0]!;
    expect(byText).toMatchObject({ stop_reason: 'stop', tokens: free.tokens.slice(0, byText.tokens.length) });
    expect(byText.tokens.slice(-2)).toEqual([third, fourth]);
  });

  it('returns a prompt’s log-probabilities, null first, equal to those of training', async () => {
    const { model, session } = await withModel(service);
    await service.result('forward_backward', learn(model, 1));
    await service.result('optim_step', step(model, 2));
    const saved = await service.result('save_weights_for_sampler', {
      model_id: model,
      seq_id: 3,
      sampling_session_seq_id: 5,
    });
    const long = { chunks: [{ tokens: sentence.slice(0, 4) }, { tokens: sentence.slice(4) }] };
    const params = { max_tokens: 1, temperature: 1 };
    const asked = {
      sampling_session_id: saved.body.sampling_session_id,
      seq_id: 0,
      prompt: long,
      sampling_params: params,
      prompt_logprobs: true,
      topk_prompt_logprobs: 3,
    };
    const { body } = await service.result('asample', asked);
    const trained = (await service.result('forward', learn(model, 4, { data: [example(sentence)] }))).body
      .loss_fn_outputs[0]!.logprobs.data;
    expect(body.prompt_logprobs[0]).toBeNull();
    body.prompt_logprobs.slice(1).forEach((lp, at) => expect(lp).toBeCloseTo(trained[at]!, 4));
    const top = body.topk_prompt_logprobs;
    expect(top[0]).toBeNull();
    expect(top[1]).toHaveLength(3);
    expect(top[1]![0]![1]).toBeGreaterThanOrEqual(top[1]![1]![1]);
    const binary = readSampleResponse((await service.result('asample', { ...asked, seq_id: 1 }, protobuf)).bytes);
    expect(binary.promptLogprobs![0]).toBeNaN();
    expect(Array.from(binary.promptLogprobs!.subarray(1))).toEqual(body.prompt_logprobs.slice(1));
    expect(session).toMatch(/^first-s\d+$/);
  });

  it('returns the likeliest tokens at each position of an answer, and scores only the end of a prompt on request', async () => {
    const sampler = await samplerOf();
    const asked = { topk_sample_logprobs: 2, prompt_logprobs: true, prompt_logprobs_last_n: 1 };
    const { body } = await sample(sampler, 1, { temperature: 0 }, asked);
    for (const { tokens, logprobs, topk_logprobs: rows } of body.sequences) {
      expect(rows.map(([likeliest]) => likeliest[0])).toEqual(tokens);
      rows.forEach(([[, best], [, second]], at) => {
        expect(best).toBeCloseTo(logprobs[at]!, 5);
        expect(second).toBeLessThanOrEqual(best);
      });
    }
    const whole = (await sample(sampler, 2, { temperature: 0 }, { prompt_logprobs: true })).body;
    expect(body.prompt_logprobs).toEqual([null, null, whole.prompt_logprobs[2]]);
  });

  it('scores given tokens at each position of a prompt, and draws others', async () => {
    const sampler = await samplerOf();
    const plain = (await sample(sampler, 1, {}, { prompt_logprobs: true })).body.prompt_logprobs;
    const dense = { data: [56, -1, 57, 3], dtype: 'int64', shape: [2, 2] };
    const csr = { data: [56, 57, 3], dtype: 'int64', shape: [2, 5], sparse_crow_indices: [0, 1, 3], sparse_col_indices: [4, 0, 2] }; // prettier-ignore
    const asked = async (seq: number, target_prompt_logprobs: object) =>
      ((await sample(sampler, seq, {}, { target_prompt_logprobs })).body as unknown as { target_prompt_logprobs: { data: number[] } })
        .target_prompt_logprobs; // prettier-ignore
    const scores = await asked(2, dense);
    expect(scores.data[0]).toBeCloseTo(plain[1]!, 5);
    expect(scores.data[1]).toBeNull();
    expect(scores.data[2]).toBeCloseTo(plain[2]!, 5);
    expect(await asked(3, csr)).toMatchObject({ data: [scores.data[0], scores.data[2], scores.data[3]], sparse_col_indices: [4, 0, 2] }); // prettier-ignore
    const wrong = await sample(sampler, 4, {}, { target_prompt_logprobs: { ...dense, shape: [4, 1] } });
    expect(wrong.body.error).toMatch(/a row for each token of the prompt but the first/);
    const { body } = await sample(sampler, 5, { temperature: 0 }, { prompt_alt_tokens_k: 2, topk_prompt_logprobs: 1 });
    const { tokens } = (body as unknown as { prompt_alt_tokens: { tokens: { data: number[] } } }).prompt_alt_tokens;
    const best = body.topk_prompt_logprobs.slice(1).map((row) => row[0]![0]);
    expect(tokens.data).toEqual([best[0], best[0], best[1], best[1]]);
  });

  it('does not compute cancelled requests', async () => {
    const sampler = await samplerOf();
    const body = (seq: number, samples: number, stop: number[]) => ({
      ...{ sampling_session_id: sampler, seq_id: seq, prompt, num_samples: samples },
      sampling_params: { max_tokens: 200, stop },
    });
    const first = await service.ask('POST', 'asample', body(1, 16, []));
    // Another stop is another group, which waits for its turn.
    const { request_id } = (await service.ask('POST', 'asample', body(2, 4096, [1]))).body;
    expect((await service.ask('POST', 'cancel_future', { request_id })).status).toBe(200);
    expect((await service.ask('POST', 'retrieve_future', { request_id })).body.error).toMatch(/cancelled/);
    const done = await service.ask('POST', 'retrieve_future', { request_id: first.body.request_id });
    expect(done.body.sequences).toHaveLength(16);
    expect((await service.ask('POST', 'cancel_future', { request_id: 'nobody-1' })).status).toBe(200);
  });

  it.each([
    { what: 'no tokens', chunks: [], words: /The prompt has no tokens/ },
    {
      what: 'no room for an answer',
      chunks: [{ tokens: Array<number>(1024).fill(5) }],
      words: /no room for an answer/,
    },
    { what: 'a token of another vocabulary', chunks: [{ tokens: [97] }], words: /token 97/ },
  ])('refuses a prompt with $what, and continues', async ({ chunks, words }) => {
    const sampler = await samplerOf();
    const refused = await sample(sampler, 1, {}, { prompt: { chunks } });
    expect(refused.body.category).toBe('user');
    expect(refused.body.error).toMatch(words);
    expect((await sample(sampler, 2, { max_tokens: 1 }, { num_samples: 2000 })).body.sequences).toHaveLength(2000);
  });

  it('refuses images with the same message as training', async () => {
    const sampler = await samplerOf();
    const picture = { chunks: [{ type: 'image', data: 'iVBORw==', format: 'png' }] };
    const { model } = await withModel(service);
    const words = /A chunk of the model input is not text, and the models here read only text\.$/;
    expect((await sample(sampler, 1, {}, { prompt: picture })).body.detail).toMatch(words);
    const datum = { ...example(sentence), model_input: picture };
    expect((await service.result('forward', learn(model, 1, { data: [datum] }))).body.error).toMatch(words);
  });

  it('distinguishes requests of a pickled client by their 18-digit numbers', async () => {
    const sampler = await samplerOf();
    const ask = async (number: string): Promise<string> => {
      const body = { sampling_session_id: sampler, seq_id: 1, prompt, sampling_params: { max_tokens: 1 } };
      const text = JSON.stringify(body).replace('"seq_id":1', `"seq_id": ${number}`);
      return (await service.ask('POST', 'asample', Buffer.from(text), { 'content-type': 'application/json' })).body
        .request_id;
    };
    const numbers = ['123456789000000000', '123456789000000001', '123456789000000000'];
    const [first, second, again] = [await ask(numbers[0]!), await ask(numbers[1]!), await ask(numbers[2]!)];
    expect([second === first, again === first]).toEqual([false, true]);
  });

  it('applies top-k and top-p', async () => {
    const sampler = await samplerOf();
    const greedy = (await sample(sampler, 1, { temperature: 0 })).body.sequences;
    expect(greedy[0]!.tokens).toEqual(greedy[1]!.tokens);
    for (const cut of [{ top_k: 1 }, { top_p: 1e-6 }]) {
      expect(
        (await sample(sampler, 10 + Object.keys(cut)[0]!.length, { ...cut, seed: 3 })).body.sequences[0]!.tokens,
      ).toEqual(greedy[0]!.tokens);
    }
  });

  it('takes seconds without blocking other requests', async () => {
    const sampler = await samplerOf();
    const order: string[] = [];
    const drawn = sample(sampler, 1, { max_tokens: 250, stop: [] }, { num_samples: 32 }).then(() =>
      order.push('drawn'),
    );
    for (let at = 0; at < 3; at++) order.push((await service.ask('GET', 'healthz')).status === 200 ? 'healthy' : 'ill');
    await drawn;
    expect(order).toEqual(['healthy', 'healthy', 'healthy', 'drawn']);
  });

  it('returns ids for its sequences, and recognises a repeated request', async () => {
    const sampler = await samplerOf();
    const body = {
      sampling_session_id: sampler,
      seq_id: 1,
      prompt,
      num_samples: 3,
      sampling_params: { max_tokens: 2 },
    };
    const [one, two] = [await service.ask('POST', 'asample', body), await service.ask('POST', 'asample', body)];
    expect(one.body.sample_sequence_ids).toHaveLength(3);
    expect(two.body).toEqual(one.body);
  });
});
