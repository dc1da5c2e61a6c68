/** LoRA as a directory that `peft` reads and writes: `adapter_config.json` and `adapter_model.safetensors`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { layersOf, loraTargets, projections, type Lora, type LoraTarget } from '../engine/adapters/config.js';
import { adapterLayout } from '../engine/adapters/layout.js';
import { extract, flatFrom } from '../engine/checkpoint.js';
import type { ModelShape } from '../engine/engine.js';
import { readSafetensors, writeSafetensors } from '../engine/safetensors.js';
import { writeWhole } from '../run/run-directory.js';
import { readText, withFile } from './regular-file.js';
import { makeMissing } from '../run/make-directory.js';

const files = { config: 'adapter_config.json', tensors: 'adapter_model.safetensors' } as const;
const longestConfig = 2 ** 20;

/** One LoRA, and its parameters as `adapterLayout` orders them. */
export type PeftLora = { readonly adapter: Lora; readonly parameters: Float32Array };

/**
 * Settings that must have these values: others mean another computation. Settings not listed here have no effect on a
 * finished adapter.
 */
const plain = {
  peft_type: z.literal('LORA'),
  bias: z.literal('none').default('none'),
  fan_in_fan_out: z.literal(false).default(false),
  use_rslora: z.literal(false).default(false),
  use_dora: z.literal(false).default(false),
  lora_bias: z.literal(false).default(false),
  use_qalora: z.literal(false).default(false),
  modules_to_save: z.null().default(null),
  layer_replication: z.null().default(null),
  target_parameters: z.null().default(null),
  trainable_token_indices: z.null().default(null),
  exclude_modules: z.null().default(null),
  rank_pattern: z.record(z.string(), z.never()).default({}),
  alpha_pattern: z.record(z.string(), z.never()).default({}),
};
const Config = z.looseObject({
  ...plain,
  r: z.int().min(1),
  lora_alpha: z.number().positive(),
  target_modules: z.union([z.literal('all-linear'), z.array(z.string()).nonempty()]),
  layers_to_transform: z.union([z.null(), z.int().min(0), z.array(z.int().min(0)).nonempty()]).default(null),
});

/**
 * Writes one LoRA as `save_pretrained` does.
 *
 * @param directory Created when missing; files of the same names are replaced.
 * @param base Path of the model that the adapter is for; null when that is not known.
 */
export function writePeft(
  directory: string,
  shape: ModelShape,
  { adapter, parameters }: PeftLora,
  base: string | null = null,
): void {
  makeMissing(directory);
  const { tensors } = adapterLayout(shape, [adapter]);
  const named = tensors.map((tensor) => [foreignName(tensor.name, adapter), extract(tensor, parameters)] as const);
  const sorted = new Map(named.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  writeWhole(join(directory, files.tensors), writeSafetensors({ tensors: sorted, metadata: { format: 'pt' } }));
  const inLayers = layersOf(shape, adapter);
  const config = {
    base_model_name_or_path: base,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    layers_to_transform: inLayers.length === shape.layers ? null : inLayers,
    lora_alpha: adapter.alpha,
    lora_dropout: 0,
    peft_type: 'LORA',
    r: adapter.rank,
    target_modules: adapter.targets,
    task_type: 'CAUSAL_LM',
  };
  writeWhole(join(directory, files.config), `${JSON.stringify(config, null, 2)}\n`);
}

/**
 * @param shape Shape of the model that the adapter is for.
 * @throws UserError when the adapter is not plain LoRA on that model.
 */
export function readPeft(directory: string, shape: ModelShape): PeftLora {
  for (const name of Object.values(files)) {
    if (!existsSync(join(directory, name))) {
      throw new UserError(
        `${directory} has no ${name}.`,
        'Give a directory that peft saved: rank, alpha and layers cannot be told from weights alone.',
      );
    }
  }
  const adapter = readConfig(join(directory, files.config), shape);
  const path = join(directory, files.tensors);
  const { tensors: parts } = adapterLayout(shape, [adapter]);
  const { tensors } = readSafetensors(
    withFile(path, (file) => file.read(0, file.bytes)),
    path,
  );
  const wanted = new Map(parts.map(({ name }) => [foreignName(name, adapter), name]));
  const stray = [...tensors.keys()].find((name) => !wanted.has(name));
  if (stray !== undefined) {
    throw new UserError(
      `${path} has a tensor "${stray}", which belongs neither to its ${files.config} nor to the model.`,
      'Give the model that the adapter was trained on.',
    );
  }
  const own = new Map([...tensors].map(([name, tensor]) => [wanted.get(name)!, tensor]));
  return { adapter, parameters: flatFrom(parts, own) };
}

function readConfig(path: string, shape: ModelShape): Lora {
  const config = Config.safeParse(parseJson(readText(path, longestConfig), path));
  if (!config.success) {
    const { path: at, message } = config.error.issues[0]!;
    throw new UserError(
      `${path} does not describe plain LoRA: \`${at.join('.')}\`: ${message}.`,
      'Merge the adapter with peft (merge_and_unload), and open the model that it saves.',
    );
  }
  const { r: rank, lora_alpha: alpha, target_modules: modules, layers_to_transform: given } = config.data;
  const { targets, layers } = targetsOf(modules, path);
  return { kind: 'lora', name: 'default', rank, alpha, targets, layers: rangeOf(given ?? layers, shape, path) };
}

type Targets = { readonly targets: Lora['targets']; readonly layers: readonly number[] | null };

/**
 * Parses the names of projections; `all-linear` means every one of them but not the head, as in peft; or full paths,
 * as peft writes them for it, which must be the same projections in each layer. `layers` null: all of them.
 */
function targetsOf(modules: 'all-linear' | readonly string[], path: string): Targets {
  if (modules === 'all-linear') return { targets: [...projections], layers: null };
  const named = modules.map(
    (module) =>
      /^(?:(?:base_model\.)?model\.)*layers\.(\d+)\.\w+\.(\w+)$/.exec(module) ?? ([null, null, module] as const),
  );
  const isKnown = (name: string): name is LoraTarget => (loraTargets as readonly string[]).includes(name);
  const stray = named.findIndex(([, , name]) => !isKnown(name));
  if (stray >= 0) throw unlike(path, `${modules[stray]} is none of ${loraTargets.join(', ')}`);
  const targets = loraTargets.filter((target) => named.some(([, , name]) => name === target));
  // The head is in no layer.
  const heads = targets.includes('lm_head') ? 1 : 0;
  const layers = [...new Set(named.flatMap(([, layer]) => (layer == null ? [] : [Number(layer)])))];
  const isUniform = layers.length === 0 ? new Set(modules).size === targets.length : new Set(modules).size === layers.length * (targets.length - heads) + heads; // prettier-ignore
  if (!isUniform) throw unlike(path, 'it does not name the same projections in each layer');
  return { targets: targets, layers: layers.length === 0 ? null : layers };
}

function unlike(path: string, why: string): UserError {
  return new UserError(
    `${path} does not describe plain LoRA: \`target_modules\`: ${why}.`,
    'Merge the adapter with peft (merge_and_unload), and open the model that it saves.',
  );
}

/** The layers as a range; each fraction lies in the middle of a layer's interval, so that rounding cannot move it. */
function rangeOf(layers: number | readonly number[] | null, shape: ModelShape, path: string): Lora['layers'] {
  if (layers === null) return { start: 0, end: 1, stride: 1 };
  const sorted = (typeof layers === 'number' ? [layers] : [...layers]).sort((a, b) => a - b);
  const [first, last] = [sorted[0]!, sorted.at(-1)!];
  const stride = sorted.length === 1 ? 1 : sorted[1]! - first;
  if (last >= shape.layers || sorted.some((layer, index) => layer !== first + index * stride)) {
    throw new UserError(
      `${path}: \`layers_to_transform\` is ${sorted.join(', ')}, and the model has ${shape.layers} layers.`,
      'Only layers that the model has, at equal distances, can be read.',
    );
  }
  return { start: (first + 0.5) / shape.layers, end: Math.min(1, (last + 1.5) / shape.layers), stride };
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UserError(`${path} is not JSON.`, 'Take the file from where the adapter was saved.', { cause });
  }
}

/** `base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight`: the adapter's own name is not stored. */
function foreignName(name: string, { name: adapter }: Lora): string {
  return `base_model.model.${name.slice(0, name.length - adapter.length)}weight`;
}
