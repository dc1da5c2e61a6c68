/**
 * `config.json` of a LLaMA or Qwen2 model, as `transformers` writes it: the parts that the engine can compute, and
 * those it cannot.
 *
 * Keys and defaults are those of `LlamaConfig` and `Qwen2Config` (transformers 4 and 5, which keep RoPE's settings in
 * different places).
 */
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import type { ModelShape, RopeScaling } from '../engine/engine.js';
import { checkShape } from '../engine/model-shape.js';

/** Files of the model's architecture, and of its defaults for generation. */
export const configFiles = { model: 'config.json', generation: 'generation_config.json' } as const;

/** A model as its config describes it. */
export type ModelConfig = {
  readonly shape: ModelShape;
  /** Id of the token that begins a text, if there is one. */
  readonly beginning: number | null;
  /** Ids of the tokens that end a text. */
  readonly endings: readonly number[];
};

/** A parsed config, and each problem that keeps the engine from computing the model; one sentence each. */
type ConfigReading = { readonly config: ModelConfig; readonly problems: readonly string[] };

const count = z.int().positive();
const Rope = z.looseObject({
  rope_type: z.string().optional(),
  type: z.string().optional(),
  rope_theta: z.number().positive().optional(),
  partial_rotary_factor: z.number().optional(),
  factor: z.number().optional(),
  low_freq_factor: z.number().optional(),
  high_freq_factor: z.number().optional(),
  original_max_position_embeddings: z.number().optional(),
});
type Rope = z.infer<typeof Rope>;

/** Supported models, by `model_type`. `context`: default for a config without it. */
const kinds = {
  llama: { architecture: 'LlamaForCausalLM', qkvBias: false, context: 2048 },
  qwen2: { architecture: 'Qwen2ForCausalLM', qkvBias: true, context: 32_768 },
} as const;

/** Loose: programs write many keys that do not affect the computation. */
const Config = z.looseObject({
  model_type: z.enum(['llama', 'qwen2']),
  architectures: z.array(z.string()).nullish(),
  vocab_size: count,
  hidden_size: count,
  intermediate_size: count,
  num_hidden_layers: count,
  num_attention_heads: count,
  num_key_value_heads: count.nullish(),
  head_dim: count.nullish(),
  max_position_embeddings: count.nullish(),
  rms_norm_eps: z.number().nonnegative().default(1e-6),
  hidden_act: z.string().default('silu'),
  tie_word_embeddings: z.boolean().default(false),
  attention_bias: z.boolean().default(false),
  mlp_bias: z.boolean().default(false),
  use_sliding_window: z.boolean().nullish(),
  rope_theta: z.number().positive().nullish(),
  rope_scaling: Rope.nullish(),
  rope_parameters: Rope.nullish(),
  partial_rotary_factor: z.number().nullish(),
  quantization_config: z.unknown().optional(),
  bos_token_id: z.int().nonnegative().nullish(),
  eos_token_id: z.union([z.int().nonnegative(), z.array(z.int().nonnegative())]).nullish(),
});
type Config = z.infer<typeof Config>;

/**
 * @param text Text of the file.
 * @param path Path of the file, for errors.
 * @throws UserError when the text is not the config of a LLaMA or Qwen2 model.
 */
export function readConfig(text: string, path: string): ConfigReading {
  const raw = parse(text, path);
  const kind = z.looseObject({ model_type: z.string() }).safeParse(raw);
  if (kind.success && !Object.hasOwn(kinds, kind.data.model_type)) throw otherModel(path, kind.data.model_type);
  const parsed = Config.safeParse(raw);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path: at, message }) => `\`${at.join('.')}\`: ${message}`);
    throw new UserError(`${path} is not the config of a LLaMA or Qwen2 model: ${issues.join('; ')}.`, fetchAgain);
  }
  const config = { shape: shapeOf(parsed.data), ...specialIds(parsed.data) };
  return { config, problems: [...unsupportedSettings(parsed.data), ...impossible(config.shape)] };
}

/** The file's text for a model of this shape, which transformers 4 and 5 read alike. */
export function writeConfig({ shape, beginning, endings }: ModelConfig): string {
  const kind = kindOf(shape);
  // The keys of a LLaMA model are in their alphabetical order, as transformers writes them.
  const isLlama = kind === 'llama';
  const rope = { rope_theta: shape.ropeTheta, ...ropeText(shape) };
  const config = {
    architectures: [architectureOf(shape)],
    ...(isLlama ? { attention_bias: false } : {}),
    attention_dropout: 0,
    bos_token_id: beginning,
    dtype: 'float32',
    eos_token_id: endings.length > 1 ? endings : (endings[0] ?? null),
    head_dim: shape.width / shape.heads,
    hidden_act: 'silu',
    hidden_size: shape.width,
    initializer_range: 0.02,
    intermediate_size: shape.feedForward,
    max_position_embeddings: shape.context,
    ...(isLlama ? { mlp_bias: false } : {}),
    model_type: kind,
    num_attention_heads: shape.heads,
    num_hidden_layers: shape.layers,
    num_key_value_heads: shape.kvHeads,
    pad_token_id: null,
    ...(isLlama ? { pretraining_tp: 1 } : {}),
    rms_norm_eps: shape.normEpsilon,
    // Version 5 of transformers reads `rope_parameters`, version 4 `rope_theta` and `rope_scaling`.
    rope_parameters: rope,
    rope_theta: shape.ropeTheta,
    ...(shape.ropeScaling === undefined ? {} : { rope_scaling: ropeText(shape) }),
    tie_word_embeddings: shape.tied,
    torch_dtype: 'float32',
    use_cache: true,
    ...(isLlama ? {} : { use_sliding_window: false }),
    vocab_size: shape.vocabulary,
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

function ropeText({ ropeScaling: scaling }: ModelShape) {
  if (scaling === undefined) return { rope_type: 'default' };
  return {
    rope_type: 'llama3',
    factor: scaling.factor,
    low_freq_factor: scaling.lowFrequency,
    high_freq_factor: scaling.highFrequency,
    original_max_position_embeddings: scaling.originalContext,
  };
}

/** The class of transformers for a model of this shape. */
export function architectureOf(shape: ModelShape): string {
  return kinds[kindOf(shape)].architecture;
}

function kindOf({ qkvBias }: ModelShape): keyof typeof kinds {
  return qkvBias === true ? 'qwen2' : 'llama';
}

/** The text of `generation_config.json`. Batches are padded with the token that ends a text, if there is one. */
export function writeGenerationConfig({ beginning, endings }: Omit<ModelConfig, 'shape'>): string {
  const config = {
    bos_token_id: beginning,
    eos_token_id: endings.length > 1 ? endings : (endings[0] ?? null),
    pad_token_id: endings[0] ?? null,
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

function shapeOf(config: Config): ModelShape {
  const { qkvBias, context } = kinds[config.model_type];
  const ropeScaling = scalingOf(config);
  return {
    vocabulary: config.vocab_size,
    width: config.hidden_size,
    layers: config.num_hidden_layers,
    heads: config.num_attention_heads,
    kvHeads: config.num_key_value_heads ?? config.num_attention_heads,
    feedForward: config.intermediate_size,
    tied: config.tie_word_embeddings,
    ropeTheta: config.rope_parameters?.rope_theta ?? config.rope_theta ?? 10_000,
    normEpsilon: config.rms_norm_eps,
    context: config.max_position_embeddings ?? context,
    ...(ropeScaling === null ? {} : { ropeScaling }),
    ...(qkvBias ? { qkvBias } : {}),
  };
}

const ropeKeys = ['rope_scaling', 'rope_parameters'] as const;

/** Null when RoPE is not scaled so, or the config lacks some of its numbers. */
function scalingOf(config: Config): RopeScaling | null {
  const rope = ropeKeys.map((key) => config[key]).find((each) => ropeKind(each) === 'llama3');
  const [factor, lowFrequency, highFrequency, originalContext] = scalingKeys.map((key) => rope?.[key]);
  if (factor === undefined || lowFrequency === undefined || highFrequency === undefined) return null;
  return originalContext === undefined ? null : { factor, lowFrequency, highFrequency, originalContext };
}

const scalingKeys = ['factor', 'low_freq_factor', 'high_freq_factor', 'original_max_position_embeddings'] as const;

function ropeKind(rope: Rope | null | undefined): string {
  return rope?.rope_type ?? rope?.type ?? 'default';
}

function specialIds({ bos_token_id: bos, eos_token_id: eos }: Config): Omit<ModelConfig, 'shape'> {
  return { beginning: bos ?? null, endings: typeof eos === 'number' ? [eos] : (eos ?? []) };
}

function unsupportedSettings(config: Config): string[] {
  const { architectures, hidden_act: activation, quantization_config: quantization } = config;
  const problems: string[] = [];
  const { architecture } = kinds[config.model_type];
  if (architectures?.length && !architectures.includes(architecture)) {
    problems.push(`\`architectures\` is ${architectures.join(', ')}, not ${architecture}`);
  }
  if (activation !== 'silu') problems.push(`\`hidden_act\` is ${activation}, not silu`);
  if (config.attention_bias) problems.push('`attention_bias` is true: the output of attention has no bias here');
  if (config.use_sliding_window === true) problems.push('`use_sliding_window` is true: attention sees all tokens here');
  if (config.mlp_bias) problems.push('`mlp_bias` is true: the projections of the MLP have no bias here');
  if (quantization !== undefined && quantization !== null) problems.push('`quantization_config` is set');
  return [...problems, ...unsupportedHeads(config), ...unsupportedRope(config)];
}

function unsupportedHeads({ head_dim: dim, hidden_size: width, num_attention_heads: heads }: Config): string[] {
  if (dim === undefined || dim === null || dim * heads === width) return [];
  return [`\`head_dim\` is ${dim}, not \`hidden_size\` ${width} / \`num_attention_heads\` ${heads}`];
}

/** Two versions of transformers have three names for the type; each must be absent, "default" or "llama3". */
function unsupportedRope(config: Config): string[] {
  const others = ropeKeys.flatMap((key) => {
    const kind = ropeKind(config[key]);
    const missing = kind === 'llama3' ? scalingKeys.filter((each) => config[key]?.[each] === undefined) : [];
    if (missing.length > 0) return [`\`${key}\` is llama3 without ${missing.join(', ')}`];
    const isKnown = kind === 'default' || kind === 'llama3';
    return isKnown ? [] : [`\`${key}\` is ${kind}: only plain RoPE and that of Llama 3 are computed here`];
  });
  // Models that mix kinds of attention have a set of settings for each.
  const nested = Object.values(config.rope_parameters ?? {}).some((value) => typeof value === 'object');
  if (nested) others.push('`rope_parameters` holds several sets of settings: only one is used here');
  const part = config.rope_parameters?.partial_rotary_factor ?? config.partial_rotary_factor ?? 1;
  return part === 1 ? others : [...others, `\`partial_rotary_factor\` is ${part}: RoPE turns whole heads here`];
}

function impossible(shape: ModelShape): string[] {
  try {
    checkShape(shape);
    return [];
  } catch (error) {
    if (error instanceof UserError) return [error.message.replace(/\.$/, '')];
    throw error;
  }
}

const fetchAgain = 'Give a directory that `save_pretrained` of transformers wrote, or fetch it again.';

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UserError(`${path} is not JSON.`, fetchAgain, { cause });
  }
}

function otherModel(path: string, kind: string): UserError {
  return new UserError(
    `${path} describes a model of type ${JSON.stringify(kind)}; only "llama" and "qwen2" can be computed here.`,
    'Give the directory of a LlamaForCausalLM or a Qwen2ForCausalLM.',
  );
}
