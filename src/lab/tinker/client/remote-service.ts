/** The four operations of training on any service of Tinker's protocol. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { UserError } from '../../../base/user-error.js';
import type { AdamOptions, Generated } from '../../engine/engine.js';
import { crossEntropy, type Objective } from '../../objectives/objectives.js';
import { draftEnding, remoteStateFile } from '../../run/checkpoint.js';
import { writeWhole } from '../../run/run-directory.js';
import {
  addDistance,
  type BatchStatistics,
  countClipped,
  type Datum,
  emptyStatistics,
  type ForwardBackward,
  type Loss,
  lossOfDatum,
  lossTerms,
  type SampleRequest,
  type StepTaken,
  type TrainingService,
} from '../../service/service.js';
import {
  readForwardBackwardOutput,
  readSampleResponse,
  writeForwardBackwardRequest,
  type ForwardBackwardOutput,
  type WireDatum,
} from '../protocol/messages.js';
import type { Tensor } from '../protocol/tensors.js';
import { parseReply, TinkerHttp, type Connection } from './http.js';
import { inOrder } from './in-order.js';

/** Limits of one request; the official SDK has the same. */
const mostDatums = 1024;
const mostBytes = 5_000_000;
const mostSamplesAtOnce = 64;
const heartbeatMs = 10_000;

/** Pointer to a checkpoint on the service, stored in the checkpoint's directory. */
const SavedState = z.object({ tinker_path: z.string() });

type RemoteModel = { readonly model: string; readonly rank: number; readonly seed: number };

export class RemoteService implements TrainingService {
  readonly #http: TinkerHttp;
  readonly #session: string;
  readonly #model: string;
  readonly #heartbeat: NodeJS.Timeout;
  /** Number of the request that was sent last. */
  #number = 0;
  /** Sends one after the other, so that requests arrive in their order; results are not waited for. */
  #sent: Promise<unknown> = Promise.resolve();
  #samplers = 0;
  /** Sampler of the current weights; null once they have changed. */
  #sampler: Promise<string> | null = null;
  #samples = 0;

  private constructor(http: TinkerHttp, session: string, model: string) {
    this.#http = http;
    this.#session = session;
    this.#model = model;
    this.#heartbeat = setInterval(() => {
      // A lost heartbeat does no harm, because the next one follows.
      http.json('session_heartbeat', { session_id: session }).catch(() => undefined);
    }, heartbeatMs);
    this.#heartbeat.unref();
  }

  /** Begins a session with a fresh LoRA on a model of the service. */
  static async open(connection: Connection, { model, rank, seed }: RemoteModel): Promise<RemoteService> {
    const http = new TinkerHttp(connection);
    const begun = await http.json('create_session', {
      tags: ['memrl'],
      user_metadata: null,
      sdk_version: 'memrl',
      type: 'create_session',
    });
    const session = textOf(begun, 'session_id');
    const wanted = {
      session_id: session,
      model_seq_id: 0,
      base_model: model,
      lora_config: { rank, seed, train_unembed: true, train_mlp: true, train_attn: true },
      type: 'create_model',
    };
    const { bytes } = await http.result(await http.json('create_model', wanted));
    return new RemoteService(http, session, textOf(parseReply(bytes, 'create_model'), 'model_id'));
  }

  async sample(request: SampleRequest): Promise<readonly Generated[]> {
    return this.#sampleFrom(await this.#currentSampler(), request);
  }

  snapshot(): Pick<TrainingService, 'sample'> {
    const sampler = this.#currentSampler();
    return { sample: async (request) => this.#sampleFrom(await sampler, request) };
  }

  async #sampleFrom(sampler: string, { prompts, sampling, stream }: SampleRequest): Promise<readonly Generated[]> {
    if (stream !== undefined) throw cannot('draw from one stream for all sequences');
    const { maxTokens, temperature, topK = -1, topP = 1, stop, repetitionPenalty = 1 } = sampling;
    if (repetitionPenalty !== 1) throw cannot('draw with a repetition penalty');
    const params = { max_tokens: maxTokens, temperature, top_k: topK, top_p: topP, stop: stop ?? [] };
    const ask = async ({ tokens, seed }: (typeof prompts)[number]): Promise<Generated> => {
      const accepted = await this.#http.json('asample', {
        sampling_session_id: sampler,
        seq_id: this.#samples++,
        num_samples: 1,
        prompt: { chunks: [{ type: 'encoded_text', tokens: Array.from(tokens) }] },
        // Seeds here have 32 bits, and some services read them as int32.
        sampling_params: { ...params, seed: seed | 0 },
        type: 'sample',
      });
      const { sequences } = readSampleResponse((await this.#http.result(accepted)).bytes);
      const [drawn] = sequences;
      if (drawn === undefined) throw new UserError('The service returned no sequence.', 'Use another service.');
      return {
        tokens: drawn.tokens,
        logprobs: drawn.logprobs,
        samplingLogprobs: drawn.logprobs,
        ended: drawn.stopReason,
      };
    };
    return inOrder(prompts, ask, mostSamplesAtOnce);
  }

  async forward(
    datums: readonly Datum[],
    { temperature = 1 }: { readonly temperature?: number } = {},
  ): Promise<Float32Array[]> {
    if (temperature !== 1) throw cannot('score at a temperature other than 1');
    const data = datums.map((datum) => wireDatum(datum, crossEntropy, 1));
    const { logprobs } = await this.#learn(data, { lossFn: 'cross_entropy', config: {}, forwardOnly: true });
    return logprobs.map((scores, at) => scores.slice(datums[at]!.prompt.length - 1));
  }

  async forwardBackward(
    datums: readonly Datum[],
    how: Loss,
    options: { passes?: unknown } = {},
  ): Promise<ForwardBackward> {
    const { objective, divisor = 1 } = how;
    if (options.passes != null) throw cannot('route gradients');
    requirePlain(datums, how);
    const data = datums.map((datum) => wireDatum(datum, objective, 1 / divisor));
    const { logprobs, metrics } = await this.#learn(data, {
      lossFn: objective.name,
      config: objective.settings ?? {},
      forwardOnly: false,
    });
    const own = logprobs.map((scores, at) => scores.slice(datums[at]!.prompt.length - 1));
    // Some services do not tell the loss. It follows from the log-probabilities.
    const loss = metrics['loss:sum'] ?? sumOf(datums, (datum, at) => lossOfDatum(datum, own[at]!, objective)) / divisor;
    return { ...statisticsOf(datums, own, objective), loss, logprobs: own };
  }

  async optimStep(options: AdamOptions, bound?: unknown): Promise<StepTaken> {
    if (bound != null) throw cannot('bound a step');
    if (options.groups !== undefined) throw cannot('treat some tensors otherwise');
    this.#sampler = null;
    const { bytes } = await this.#inOrder('optim_step', {
      adam_params: {
        learning_rate: options.learningRate,
        beta1: options.beta1,
        beta2: options.beta2,
        eps: options.epsilon,
        weight_decay: options.weightDecay ?? 0,
        grad_clip_norm: options.clipNorm ?? 0,
      },
    });
    const metrics = z.record(z.string(), z.number()).catch({}).parse(parseReply(bytes, 'optim_step')['metrics']);
    return { gradientNorm: metrics['optim/grad_norm'] ?? null, bounded: null };
  }

  /** Saves the weights on the service under the name of the checkpoint; the directory only gets a pointer to them. */
  async saveState(directory: string): Promise<void> {
    const { bytes } = await this.#inOrder('save_weights', {
      path: basename(directory, draftEnding),
      overwrite: true,
    });
    const saved: z.infer<typeof SavedState> = { tinker_path: textOf(parseReply(bytes, 'save_weights'), 'path') };
    writeWhole(join(directory, remoteStateFile), `${JSON.stringify(saved)}\n`);
  }

  async loadState(directory: string): Promise<void> {
    const saved = SavedState.safeParse(JSON.parse(readFileSync(join(directory, remoteStateFile), 'utf8')));
    if (!saved.success) throw new UserError(`${directory} does not say where its weights are.`, 'Use an earlier one.');
    await this.#load(saved.data.tinker_path, true);
  }

  /** Weights of a checkpoint on the service, without its optimizer. @param path `tinker://…` */
  loadWeights(path: string): Promise<void> {
    return this.#load(path, false);
  }

  async #load(path: string, optimizer: boolean): Promise<void> {
    this.#sampler = null;
    await this.#inOrder('load_weights', { path, optimizer });
  }

  /** Directory of the model's tokenizer. @throws UserError when the service runs on another machine. */
  async tokenizer(): Promise<string> {
    const info = await this.#http.json('get_info', { model_id: this.#model });
    const { tokenizer_id: id } = z
      .looseObject({ tokenizer_id: z.string().nullish() })
      .catch({})
      .parse(info['model_data']);
    if (id != null && existsSync(id)) return id;
    throw new UserError(
      `The service names ${id ?? 'no directory'} as its tokenizer, which is not a directory here.`,
      'Give the directory that holds its tokenizer.json: tokenizer=…',
    );
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    // An error is ignored: all work is done, and a service that misses this call ends the session after some silence.
    await this.#http.json(`sessions/${this.#session}/finish`, {}).catch(() => undefined);
  }

  #currentSampler(): Promise<string> {
    this.#sampler ??= (async () => {
      const number = this.#samplers++;
      const { bytes } = await this.#inOrder('save_weights_for_sampler', { sampling_session_seq_id: number });
      return textOf(parseReply(bytes, 'save_weights_for_sampler'), 'sampling_session_id');
    })();
    return this.#sampler;
  }

  /** Sends the data in chunks, all of them before the first result is awaited. */
  async #learn(
    data: readonly WireDatum[],
    how: { lossFn: string; config: Readonly<Record<string, number>>; forwardOnly: boolean },
  ): Promise<ForwardBackwardOutput> {
    const results = chunksOf(data).map(async (chunk) => {
      const accepted = await this.#submit((seqId) =>
        this.#http.send(
          'forward_backward',
          writeForwardBackwardRequest({ modelId: this.#model, seqId, data: chunk, ...how }),
          'application/x-protobuf',
        ),
      );
      return readForwardBackwardOutput((await this.#http.result(accepted)).bytes);
    });
    const outputs = await Promise.all(results);
    const losses = outputs.flatMap(({ metrics }) => metrics['loss:sum'] ?? []);
    const isComplete = losses.length === outputs.length;
    return {
      logprobs: outputs.flatMap(({ logprobs }) => logprobs),
      metrics: isComplete ? { 'loss:sum': sumOf(losses, (loss) => loss) } : {},
    };
  }

  async #inOrder(path: string, body: object) {
    const accepted = await this.#submit((number) => {
      const request = { model_id: this.#model, seq_id: number, type: path, ...body };
      return this.#http.send(path, Buffer.from(JSON.stringify(request)), 'application/json');
    });
    return this.#http.result(accepted);
  }

  async #submit(send: (number: number) => Promise<{ bytes: Uint8Array }>): Promise<Record<string, unknown>> {
    const number = ++this.#number;
    const sent = this.#sent.then(() => send(number));
    this.#sent = sent.catch(() => undefined);
    return parseReply((await sent).bytes, 'a request');
  }
}

/** @throws UserError for losses that the protocol cannot express. */
function requirePlain(datums: readonly Datum[], loss: Loss): void {
  const { objective, divisor = 1, temperature = 1, pull = null, entropyCoefficient = 0 } = loss;
  if (pull !== null || entropyCoefficient !== 0) throw cannot('pull to a reference, or reward entropy');
  if (temperature !== 1) throw cannot('train at a temperature other than 1');
  // Every other loss is linear in the advantage, into which the weight of a token can be multiplied.
  if (objective.name === 'dro' && isWeighted(datums, divisor)) throw cannot('weigh the tokens of dro');
}

function isWeighted(datums: readonly Datum[], divisor: number): boolean {
  return divisor !== 1 || datums.some(({ weights }) => Array.from(weights).some((weight) => weight !== 1));
}

/**
 * The whole sequence, with zeros for the tokens that are not trained on.
 *
 * @param scale Factor of the loss.
 */
function wireDatum(datum: Datum, { name, ratio }: Objective, scale: number): WireDatum {
  const { prompt, tokens, weights, advantages, logprobs, clips, ratioMask = weights } = datum;
  const before = prompt.length - 1;
  const all = Int32Array.of(...prompt, ...tokens);
  const inputs = new Map<string, Tensor>([['target_tokens', { values: all.subarray(1), shape: [all.length - 1] }]]);
  const add = (input: string, at: (token: number) => number) => {
    const values = new Float32Array(before + tokens.length);
    for (let token = 0; token < tokens.length; token++) values[before + token] = at(token);
    inputs.set(input, { values, shape: [values.length] });
  };
  if (name === 'cross_entropy') add('weights', (token) => weights[token]! * scale);
  else {
    if (logprobs === undefined) throw cannot('train on samples without their log-probabilities at sampling');
    add('logprobs', (token) => logprobs[token]!);
    add('advantages', (token) => (advantages?.[token] ?? 0) * weights[token]! * scale);
  }
  if (ratio === 'sequence') add('sequence_ratio_mask', (token) => (ratioMask[token] === 0 ? 0 : 1));
  const { low, high } = clips ?? {};
  if (low !== undefined) add('clip_low_threshold', (token) => low[token]!);
  if (high !== undefined) add('clip_high_threshold', (token) => high[token]!);
  return { tokens: all.subarray(0, -1), inputs };
}

/** The statistics that follow from log-probabilities; the protocol has no entropies. */
function statisticsOf(
  datums: readonly Datum[],
  scores: readonly Float32Array[],
  objective: Objective,
): BatchStatistics {
  const sums = { ...emptyStatistics(), entropy: NaN };
  datums.forEach((datum, at) => {
    const terms = lossTerms(datum, scores[at]!, objective);
    scores[at]!.forEach((score, token) => {
      if (datum.weights[token] === 0) return;
      sums.tokens++;
      addDistance(sums, (datum.logprobs?.[token] ?? score) - score);
      const [lp, q, A, clip] = terms(token);
      if (clip !== undefined) countClipped(sums, Math.exp(lp - q), A, clip);
    });
  });
  return sums;
}

function sumOf<T>(items: readonly T[], value: (item: T, at: number) => number): number {
  return items.reduce((sum, item, at) => sum + value(item, at), 0);
}

function chunksOf(data: readonly WireDatum[]): WireDatum[][] {
  const chunks: WireDatum[][] = [];
  let bytes = Infinity;
  for (const datum of data) {
    const size = 4 * datum.tokens.length * (1 + 2 * datum.inputs.size) + 100;
    if (bytes + size > mostBytes || chunks.at(-1)!.length >= mostDatums) {
      chunks.push([]);
      bytes = 0;
    }
    chunks.at(-1)!.push(datum);
    bytes += size;
  }
  return chunks;
}

function textOf(answer: Record<string, unknown>, name: string): string {
  const value = answer[name];
  if (typeof value === 'string') return value;
  throw new UserError(`The service's answer has no ${name}.`, 'Check base_url.');
}

function cannot(what: string): UserError {
  return new UserError(`A service of Tinker's protocol cannot ${what}.`, 'Use engine=wasm for that.');
}
