/** The model that a loop trains: on an engine in this process, or on a service of Tinker's protocol. */
import { createHash } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import { UserError } from '../../../base/user-error.js';
import { presets } from '../../engine/model-shape.js';
import type { EngineChoice } from '../../engine/choose-engine.js';
import { characterFiles, characterTokenizer } from '../../hugging-face/character-tokenizer.js';
import type { Companions } from '../../run/companion-files.js';
import type { Run } from '../../run/runner.js';
import { directoryIn, openReference, openService, textTokenizer } from '../../service/open-model.js';
import type { EngineService } from '../../service/engine-service.js';
import type { TrainingService } from '../../service/service.js';
import type { Tokenizer } from '../../text/tokenizer.js';
import type { Connection } from './http.js';
import { RemoteService } from './remote-service.js';
import { ServedSampling } from './served-sampling.js';

/** How a command line names it. */
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

export type Trained = {
  readonly service: TrainingService;
  readonly tokenizer: Tokenizer;
  /** Files in checkpoints for other programs; null when checkpoints lie on a service. */
  readonly companions: Companions | null;
  /** The model as it was before it was trained. */
  readonly openReference: () => Promise<TrainingService>;
  /** Ends what was opened on a service. */
  readonly close: () => Promise<void>;
  /** Whether answers come from another program, whose log-probabilities may differ from ours. */
  readonly isServed: boolean;
};

/** Opens the model at its start, or as the last checkpoint of the run left it. @throws UserError */
export function openTrained(config: TrainedConfig, run: Run): Promise<Trained> {
  const { engine } = config;
  return engine === 'tinker' ? onService(config, run) : inProcess({ ...config, engine }, run);
}

async function inProcess(config: TrainedConfig & { readonly engine: EngineChoice }, run: Run): Promise<Trained> {
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
  // Another run may have the same last part of its path.
  const name = `${basename(place)}-${createHash('sha256').update(place).digest('hex').slice(0, 8)}`;
  const folder = join(place, 'served');
  return ServedSampling.open(own, connection, { name, folder, kept: (age ?? 0) + 2 });
}

function connectionTo(url: string, key: string): Connection {
  const wait = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
  return { baseUrl: url.replace(/\/+$/, ''), key, wait, fetch: globalThis.fetch };
}

async function onService(config: TrainedConfig, { context, resumed }: Run): Promise<Trained> {
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
