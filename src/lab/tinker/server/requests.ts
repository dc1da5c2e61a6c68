/** Schemas of the JSON that clients send. Unknown fields belong to newer clients; the service ignores them. */
import * as z from 'zod';
import { UserError } from '../../../base/user-error.js';
import { notText, type ForwardBackwardRequest, type WireDatum } from '../protocol/messages.js';
import { denseOf, type Tensor } from '../protocol/tensors.js';
import { recipientOf } from './age.js';

const MOST_SAMPLES = 4096;

const Token = z
  .int()
  .min(-(2 ** 31))
  .max(2 ** 31 - 1);
const Sequential = z.int().min(0).nullish();

const Metadata = z.record(z.string(), z.string()).nullish();

export const CreateSession = z.object({
  sdk_version: z.string().nullish(),
  display_name: z.string().nullish(),
  user_metadata: Metadata,
});
export type CreateSession = z.infer<typeof CreateSession>;

export const SessionId = z.object({ session_id: z.string() });
export const ModelId = z.object({ model_id: z.string() });
/** The part of a request on a model that says where in the model's order it stands. */
export const ModelPlace = z.object({ model_id: z.string(), seq_id: z.int().min(1) });
export const RequestId = z.object({ request_id: z.string() });

const LoraConfig = z.object({
  rank: z.int().min(0).max(4096).default(32),
  seed: z.int().nullish(),
  train_unembed: z.boolean().default(true),
  train_mlp: z.boolean().default(true),
  train_attn: z.boolean().default(true),
});
const OptimizerConfig = z.object({ type: z.string() }).nullish();

export const CreateModel = z.object({
  session_id: z.string(),
  model_seq_id: z.int().min(0),
  base_model: z.string(),
  lora_config: LoraConfig.nullish(),
  optimizer_config: OptimizerConfig,
});
export type CreateModel = z.infer<typeof CreateModel>;

export const OptimStep = z.object({
  model_id: z.string(),
  seq_id: Sequential,
  adam_params: z.object({
    learning_rate: z.number().min(0).default(1e-4),
    beta1: z.number().min(0).lt(1).default(0.9),
    beta2: z.number().min(0).lt(1).default(0.95),
    eps: z.number().positive().default(1e-12),
    weight_decay: z.number().min(0).default(0),
    grad_clip_norm: z.number().min(0).default(0),
  }),
});
export type OptimStep = z.infer<typeof OptimStep>;

/** Time to live in seconds, at most a hundred years: later times cannot all be written as a date. */
const TtlSeconds = z
  .number()
  .positive()
  .max(100 * 365.25 * 86_400);

export const SaveWeights = z.object({
  model_id: z.string(),
  seq_id: Sequential,
  path: z.string().nullish(),
  overwrite: z.boolean().default(false),
  ttl_seconds: TtlSeconds.nullish(),
  user_metadata: Metadata,
  sampling_session_seq_id: Sequential,
});
export type SaveWeights = z.infer<typeof SaveWeights>;

/** Weights for other programs. `age_encryption_recipients`: public keys, to which the files are encrypted. */
export const SaveExternal = z.object({
  model_id: z.string(),
  seq_id: Sequential,
  path: z.string(),
  ttl_seconds: TtlSeconds.nullish(),
  age_encryption_recipients: z.array(z.string().transform(checkedRecipient)).max(10).nullish(),
});
export type SaveExternal = z.infer<typeof SaveExternal>;

function checkedRecipient(text: string): string {
  recipientOf(text);
  return text;
}

/** Projects are not known here: a copy belongs to this machine, like its source. */
export const CopyWeights = z.object({ source_path: z.string(), ttl_seconds: TtlSeconds.nullish() });

export const LoadWeights = z.object({
  model_id: z.string().nullish(),
  seq_id: Sequential,
  session_id: z.string().nullish(),
  model_seq_id: Sequential,
  path: z.string(),
  optimizer: z.boolean().default(false),
  optimizer_config: OptimizerConfig,
});
export type LoadWeights = z.infer<typeof LoadWeights>;

/** Words of a name, in any order, and metadata that must be the same. */
export const SearchSessions = z.object({
  session_id: z.string().nullish(),
  display_name: z.string().nullish(),
  user_metadata: z.record(z.string(), z.string()).default({}),
  statuses: z.array(z.object({ type: z.string() })).nullish(),
  limit: z.int().min(1).max(200).default(50),
  cursor: z.object({ last_session_id: z.string() }).nullish(),
});
export type SearchSessions = z.infer<typeof SearchSessions>;

/** null keeps weights for ever. */
export const TimeToLive = z.object({ ttl_seconds: TtlSeconds.nullable() });

export const CreateSamplingSession = z.object({
  session_id: z.string(),
  sampling_session_seq_id: z.int().min(0),
  model_path: z.string().nullish(),
  base_model: z.string().nullish(),
});
export type CreateSamplingSession = z.infer<typeof CreateSamplingSession>;

const TextChunk = z.object({
  type: z.literal('encoded_text', notText).default('encoded_text'),
  tokens: z.array(Token),
});
const ModelInput = z.object({ chunks: z.array(TextChunk) });

/** `sparse_…`: places of the numbers that are there, row by row (CSR). */
const TensorData = z.object({
  data: z.array(z.number()),
  dtype: z.enum(['float32', 'int64']),
  shape: z.array(z.int().min(0)).nullish(),
  sparse_crow_indices: z.array(z.int().min(0)).nullish(),
  sparse_col_indices: z.array(z.int().min(0)).nullish(),
});
export type TensorData = z.infer<typeof TensorData>;

const Sample = z.object({
  sampling_session_id: z.string().nullish(),
  seq_id: z.union([Sequential, z.string()]),
  base_model: z.string().nullish(),
  model_path: z.string().nullish(),
  num_samples: z.int().min(1).max(MOST_SAMPLES).default(1),
  prompt: ModelInput,
  sampling_params: z.object({
    max_tokens: z.int().min(1).nullish(),
    seed: z.int().nullish(),
    stop: z.union([z.string(), z.array(z.string()), z.array(z.int())]).nullish(),
    temperature: z.number().min(0).default(1),
    top_k: z.int().default(-1),
    top_p: z.number().positive().max(1).default(1),
  }),
  prompt_logprobs: z.boolean().nullish(),
  topk_prompt_logprobs: z.int().min(0).default(0),
  prompt_logprobs_last_n: z.int().min(1).nullish(),
  topk_sample_logprobs: z.int().min(0).default(0),
  target_prompt_logprobs: TensorData.nullish(),
  prompt_alt_tokens_k: z.int().min(0).default(0),
});
export type Sample = z.infer<typeof Sample>;

/**
 * Reads a sampling request. A pickled sampling client numbers its requests from a random multiple of a billion on, with up to 18 digits;
 * JSON.parse would round such numbers, so they are read as text.
 *
 * @param body The JSON that `parsed` comes from.
 */
export function readSample(parsed: unknown, body: Buffer): Sample {
  const number = (parsed as { seq_id?: unknown } | null)?.seq_id;
  if (typeof number !== 'number' || Number.isSafeInteger(number)) return Sample.parse(parsed);
  const exact = Array.from(body.toString().matchAll(/"seq_id"\s*:\s*(\d+)/g), ([, digits]) => digits);
  return Sample.parse({ ...(parsed as object), seq_id: exact.find((digits) => Number(digits) === number) ?? number });
}

const ForwardBackwardInput = z.object({
  data: z.array(z.object({ model_input: ModelInput, loss_fn_inputs: z.record(z.string(), TensorData) })),
  loss_fn: z.string(),
  loss_fn_config: z.record(z.string(), z.union([z.number(), z.string()])).nullish(),
});

/** Clients up to SDK 0.22 send this; newer ones send protobuf. */
const ForwardBackward = z.object({
  model_id: z.string(),
  seq_id: Sequential,
  forward_backward_input: ForwardBackwardInput.optional(),
  forward_input: ForwardBackwardInput.optional(),
});

export function tokensOf(input: z.infer<typeof ModelInput>): Int32Array {
  return Int32Array.from(input.chunks.flatMap(({ tokens }) => tokens));
}

export function readJsonForwardBackward(body: unknown, forwardOnly: boolean): ForwardBackwardRequest {
  const { model_id: modelId, seq_id: seqId, ...request } = ForwardBackward.parse(body);
  const input = request.forward_backward_input ?? request.forward_input;
  if (input === undefined) throw new UserError('The request has no forward_backward_input.', 'Send the data.');
  return {
    modelId,
    seqId: seqId ?? null,
    data: input.data.map(datumOf),
    lossFn: input.loss_fn,
    config: input.loss_fn_config ?? {},
    forwardOnly,
  };
}

function datumOf(datum: z.infer<typeof ForwardBackwardInput>['data'][number]): WireDatum {
  const inputs = Object.entries(datum.loss_fn_inputs).map(([name, data]): [string, Tensor] => [name, tensorOf(data)]);
  return { tokens: tokensOf(datum.model_input), inputs: new Map(inputs) };
}

function tensorOf({ data, dtype, shape, sparse_crow_indices: rows, sparse_col_indices: columns }: TensorData): Tensor {
  const values = dtype === 'float32' ? Float32Array.from(data) : Float64Array.from(data);
  if (rows != null && columns != null) return denseOf({ values, rows, columns }, shape ?? []);
  return { values, shape: shape ?? [data.length] };
}
