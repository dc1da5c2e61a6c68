/** The model that a loop trains: on an engine in this process, or on a service of Tinker's protocol. */
import { createHash } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import { rmSync } from 'node:fs';
import * as z from 'zod';
import { UserError } from '../../../base/user-error.js';
import { AdaptedEngine } from '../../engine/adapters/adapted-engine.js';
import type { Lora } from '../../engine/adapters/config.js';
import type { EngineChoice } from '../../engine/choose-engine.js';
import type { AdamOptions, Generated } from '../../engine/engine.js';
import { presets } from '../../engine/model-shape.js';
import { characterFiles, characterTokenizer } from '../../hugging-face/character-tokenizer.js';
import { writePeft } from '../../hugging-face/peft.js';
import type { Companions } from '../../run/companion-files.js';
import type { Run } from '../../run/runner.js';
import type { EngineService } from '../../service/engine-service.js';
import { directoryIn, openReference, openService, textTokenizer } from '../../service/open-model.js';
import type { Datum, ForwardBackward, Loss, SampleRequest, StepTaken, TrainingService } from '../../service/service.js';
import type { Tokenizer } from '../../text/tokenizer.js';
import { type Connection, JsonHttp } from './http.js';
import { RemoteService } from './remote-service.js';
import { inOrder } from './in-order.js';

/** Names of the model on the command line. */
type TrainedConfig = {
  readonly model_name: string;
  readonly load_checkpoint_path: string | null;
  readonly base_url: string | null;
  readonly sampling?: string | null;
  readonly max_steps_off_policy?: number | null;
  readonly engine: EngineChoice | 'tinker';
  readonly threads: number | null;
  readonly tokenizer: string | null;
  readonly lora_rank: number;
  readonly lora_alpha: number;
  readonly seed: number;
};

export type OpenedModel = {
  readonly service: TrainingService;
  readonly tokenizer: Tokenizer;
  /** Files in checkpoints for other programs; null when checkpoints lie on a service. */
  readonly companions: Companions | null;
  /** The model as it was before it was trained. */
  readonly openReference: () => Promise<TrainingService>;
  /** Ends the session on a service. */
  readonly close: () => Promise<void>;
  /** Whether answers come from another program, whose log-probabilities may differ from ours. */
  readonly isServed: boolean;
};

/** Opens the model at its start, or as the last checkpoint of the run left it. @throws UserError */
export function openTrainedModel(config: TrainedConfig, run: Run): Promise<OpenedModel> {
  const { engine } = config;
  return engine === 'tinker' ? onService(config, run) : inProcess({ ...config, engine }, run);
}

async function inProcess(config: TrainedConfig & { readonly engine: EngineChoice }, run: Run): Promise<OpenedModel> {
  const { model_name: name, load_checkpoint_path: checkpoint } = config;
  const from = checkpoint ?? directoryIn(name);
  const isNew = from === null && Object.hasOwn(presets, name) && config.tokenizer === null;
  const { tokenizer, files } = isNew
    ? { tokenizer: characterTokenizer, files: characterFiles }
    : textTokenizer(config.tokenizer ?? from ?? name);
  const source = { ...config, tokenizer, load_checkpoint_path: from, fresh: { vocabulary: tokenizer.size } };
  const own = await openService(source, run);
  const served = config.sampling == null ? null : await sampledOn(config.sampling, own, config, run);
  return {
    service: served ?? own,
    tokenizer,
    companions: { shape: own.engine.shape, files },
    openReference: () => openReference(source, run),
    close: async () => served?.close(),
    isServed: served !== null,
  };
}

function sampledOn(
  url: string,
  own: EngineService,
  { max_steps_off_policy: age = null }: TrainedConfig,
  { context, directory }: Run,
): Promise<ServedSampling> {
  context.log(`answers come from ${url}`);
  const connection = connectionTo(url.replace(/\/v1\/*$/, ''), context.environment['OPENAI_API_KEY'] ?? '');
  const place = resolve(directory.path);
  // A hash of the whole path, because two runs may have the same last part of it.
  const name = `${basename(place)}-${createHash('sha256').update(place).digest('hex').slice(0, 8)}`;
  const folder = join(place, 'served');
  return ServedSampling.open(own, connection, { name, folder, kept: (age ?? 0) + 2 });
}

function connectionTo(url: string, key: string): Connection {
  const wait = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
  return { baseUrl: url.replace(/\/+$/, ''), key, wait, fetch: globalThis.fetch };
}

async function onService(config: TrainedConfig, { context, resumed }: Run): Promise<OpenedModel> {
  const { base_url: url, model_name: model, lora_rank: rank, seed, load_checkpoint_path: checkpoint } = config;
  if (url === null)
    throw new UserError('engine=tinker needs a service.', 'Give base_url=http://127.0.0.1:8765, for example.');
  const secret = context.environment['TINKER_API_KEY'];
  if (secret === undefined || secret === '') {
    throw new UserError(
      'There is no key for the service.',
      'Set TINKER_API_KEY; memrl serve accepts any that begins with tml-.',
    );
  }
  const connection = connectionTo(url, secret);
  const service = await RemoteService.open(connection, { model, rank, seed });
  context.log(`${model} on ${url}, LoRA of rank ${rank}`);
  if (resumed !== null) await service.loadState(resumed.path);
  else if (checkpoint !== null) await service.loadWeights(checkpoint);
  const { tokenizer } = textTokenizer(config.tokenizer ?? (await service.tokenizer()));
  // A fresh LoRA adds nothing to the model.
  const fresh = () => RemoteService.open(connection, { model, rank: 1, seed });
  let reference: RemoteService | null = null;
  return {
    service,
    tokenizer,
    companions: null,
    openReference: async () => {
      reference = await fresh();
      if (checkpoint !== null) await reference.loadWeights(checkpoint);
      return reference;
    },
    close: async () => {
      await service.close();
      await reference?.close();
    },
    isServed: false,
  };
}

const mostSamplesAtOnce = 64;
/** Mean distance in nats a token between the two computations of one log-probability, beyond which the models are not the same. */
const anotherModel = 0.1;

const Models = z.looseObject({ data: z.array(z.looseObject({ id: z.string(), parent: z.string().nullish() })) });
const Completion = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        token_ids: z.array(z.int().nonnegative()).nullish(),
        logprobs: z.looseObject({ token_logprobs: z.array(z.number().nullable()) }).nullish(),
      }),
    )
    .min(1),
});

type ServedSamplingOptions = {
  /** Prefix of the names of the run's weights on the server. */
  readonly name: string;
  /** A directory that the server sees under the same path, for the weights of each step. */
  readonly folder: string;
  /** Maximum number of versions of the weights that can be sampled from at a time. */
  readonly kept: number;
};

/**
 * Answers from an OpenAI-compatible server, for a model that is trained in this process: before it samples with new weights, the
 * server gets them as a LoRA (`/v1/load_lora_adapter` of vLLM), through a directory that both see.
 */
class ServedSampling implements TrainingService {
  readonly #own: EngineService;
  readonly #http: JsonHttp;
  readonly #options: ServedSamplingOptions;
  /** The name of the present weights on the server; null: they have changed since. */
  #current: Promise<string> | null = null;
  /** Names of the weights that the server has, in their order. */
  readonly #served: string[] = [];
  #states = 0;
  #isChecked = false;

  private constructor(own: EngineService, http: JsonHttp, options: ServedSamplingOptions) {
    this.#own = own;
    this.#http = http;
    this.#options = options;
  }

  /**
   * Opens the server, and first removes weights that a killed attempt of the run has left on it.
   * @throws UserError when the server does not answer.
   */
  static async open(
    own: EngineService,
    connection: Connection,
    options: ServedSamplingOptions,
  ): Promise<ServedSampling> {
    const http = new JsonHttp(connection);
    const { data } = readAs(Models, await http.get('models'), 'models');
    const sampling = new ServedSampling(own, http, options);
    const left = data.filter(({ id, parent }) => parent != null && id.startsWith(`${options.name}-`));
    for (const { id } of left) await sampling.#retire(id);
    return sampling;
  }

  sample(request: SampleRequest): Promise<readonly Generated[]> {
    return this.#sampleFrom(this.#present(), request);
  }

  snapshot(): Pick<TrainingService, 'sample'> {
    const served = this.#present();
    return { sample: (request) => this.#sampleFrom(served, request) };
  }

  forward(datums: readonly Datum[], options?: { readonly temperature?: number }): Promise<Float32Array[]> {
    return this.#own.forward(datums, options);
  }

  forwardBackward(datums: readonly Datum[], loss: Loss): Promise<ForwardBackward> {
    return this.#own.forwardBackward(datums, loss);
  }

  optimStep(options: AdamOptions): Promise<StepTaken> {
    this.#current = null;
    return this.#own.optimStep(options);
  }

  weights(): Promise<Float32Array> {
    return this.#own.weights();
  }

  saveState(directory: string): Promise<void> {
    return this.#own.saveState(directory);
  }

  loadState(directory: string): Promise<void> {
    this.#current = null;
    return this.#own.loadState(directory);
  }

  /** Removes the run's weights from the server, and their files. */
  async close(): Promise<void> {
    for (const name of this.#served.splice(0)) await this.#retire(name);
  }

  #present(): Promise<string> {
    this.#current ??= this.#publish();
    return this.#current;
  }

  /**
   * Sends the present weights to the server. The engine carries out calls in order, so that later steps do not change
   * them.
   */
  async #publish(): Promise<string> {
    const name = `${this.#options.name}-${this.#states++}`;
    const folder = join(this.#options.folder, name);
    const { engine } = this.#own;
    const parameters = await this.#own.weights();
    writePeft(folder, engine.shape, { adapter: loraOf(engine), parameters });
    await this.#http.post('load_lora_adapter', { lora_name: name, lora_path: folder });
    this.#served.push(name);
    while (this.#served.length > this.#options.kept) await this.#retire(this.#served.shift()!);
    return name;
  }

  async #retire(name: string): Promise<void> {
    await this.#http.post('unload_lora_adapter', { lora_name: name });
    rmSync(join(this.#options.folder, name), { recursive: true, force: true });
  }

  async #sampleFrom(
    served: Promise<string>,
    { prompts, sampling, stream }: SampleRequest,
  ): Promise<readonly Generated[]> {
    if (stream !== undefined) throw cannot('draw from one stream for all sequences');
    const { maxTokens, temperature, topK = -1, topP = 1, stop = [], repetitionPenalty = 1 } = sampling;
    // The log-probabilities of the server are those of the model, before temperature, top-k and top-p.
    if (temperature !== 1 || topK !== -1 || topP !== 1 || repetitionPenalty !== 1)
      throw cannot('sample at a temperature other than 1, or from a part of the tokens');
    const name = await served;
    const ask = async ({ tokens, seed }: (typeof prompts)[number]): Promise<Generated> => {
      const answer = await this.#http.post('completions', {
        ...{ model: name, prompt: Array.from(tokens), max_tokens: maxTokens, temperature, seed },
        ...{ n: 1, logprobs: 1, return_token_ids: true, stop_token_ids: stop, skip_special_tokens: false },
      });
      return generatedOf(readAs(Completion, answer, 'completions'), stop);
    };
    const generated = await inOrder(prompts, ask, mostSamplesAtOnce);
    await this.#check(prompts, generated);
    return generated;
  }

  /**
   * Compares the first answers with what this process computes, because a server with another model would go unnoticed.
   */
  async #check(prompts: SampleRequest['prompts'], generated: readonly Generated[]): Promise<void> {
    if (this.#isChecked) return;
    this.#isChecked = true;
    const datums = generated.map(({ tokens }, at) => ({
      prompt: prompts[at]!.tokens,
      tokens,
      weights: tokens.map(() => 1),
    }));
    const own = await this.#own.forward(datums);
    const differences = generated.flatMap(({ logprobs }, at) =>
      Array.from(logprobs, (each, token) => Math.abs(each - own[at]![token]!)),
    );
    const mean = differences.reduce((sum, each) => sum + each, 0) / Math.max(1, differences.length);
    if (mean <= anotherModel) return;
    throw new UserError(
      `The server samples from another model than the one that is trained here: their log-probabilities differ by ${mean.toFixed(2)} nats a token.`,
      'Serve the same weights (memrl model PATH output_dir=DIR writes them), with the same tokenizer.',
    );
  }
}

/** @throws UserError when something else than one LoRA is trained. */
function loraOf(engine: EngineService['engine']): Lora {
  const [adapter, ...more] = engine instanceof AdaptedEngine ? engine.adapters : [];
  if (adapter?.kind === 'lora' && more.length === 0) return adapter;
  throw new UserError(
    'A server gets new weights as a LoRA, and the whole model is trained here.',
    'Give lora_rank=8, for example.',
  );
}

function generatedOf({ choices: [choice] }: z.infer<typeof Completion>, stop: readonly number[]): Generated {
  const tokens = Int32Array.from(choice!.token_ids ?? []);
  const logprobs = Float32Array.from(choice!.logprobs?.token_logprobs ?? [], (each) => each ?? NaN);
  if (tokens.length === 0 || logprobs.length !== tokens.length || !logprobs.every(Number.isFinite)) {
    throw new UserError(
      'The server does not say which tokens it drew, with their log-probabilities.',
      'Use one that knows return_token_ids, such as vLLM from 0.10.2 on.',
    );
  }
  const ended = stop.includes(tokens.at(-1)!) ? 'stop' : 'length';
  return { tokens, logprobs, samplingLogprobs: logprobs, ended };
}

function readAs<Schema extends z.ZodType>(schema: Schema, value: unknown, path: string): z.infer<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new UserError(`The server's response to ${path} is not in the format of OpenAI's servers.`, 'Check sampling=.');
}

function cannot(what: string): UserError {
  return new UserError(`A server cannot ${what}.`, 'Leave out sampling=, and this process samples.');
}
