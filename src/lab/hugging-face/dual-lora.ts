/** Checkpoints of small-rl itself: a model of Hugging Face whose projections have a retain and a forget adapter beside them. */
import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { projections, type AdapterConfig, type Lora } from '../engine/adapters/config.js';
import { adapterLayout } from '../engine/adapters/layout.js';
import { flatFrom } from '../engine/checkpoint.js';
import type { ModelShape } from '../engine/engine.js';
import { readJson } from '../run/read-json.js';
import { configFiles, readConfig } from './config.js';
import { readText } from './regular-file.js';
import { cannotLoad, loadWeights, readTensor, storedEntries, type StoredEntries } from './stored-weights.js';

/** Setting that small-rl's first checkpoints lack: the factor of the adapters' output, times their rank. */
export type DualHint = { readonly alpha: number | null };

type DualModel = {
  readonly shape: ModelShape;
  /** Weights of the frozen model. */
  readonly weights: Float32Array;
  readonly config: AdapterConfig;
  readonly parameters: Float32Array;
};

/** small-rl's names of adapters, earlier and later, and ours. */
const adapterOf = { good: 'retain', bad: 'forget', retain: 'retain', forget: 'forget' } as const;
type Written = keyof typeof adapterOf;
const factor = /^model\.layers\.(\d+)\.\w+\.(\w+)\.lora_([AB])_(good|bad|retain|forget)$/;

const longestConfig = 2 ** 20;
/** File beside later checkpoints. */
const ownConfig = 'dual_lora_config.json';

export function isDual(directory: string): boolean {
  return [...storedEntries(directory).keys()].some((name) => factor.test(name));
}

/** @throws UserError when the adapters differ between layers, or alpha is unknown. */
export function readDual(directory: string, hint: DualHint): DualModel {
  const path = join(directory, configFiles.model);
  const { config, problems } = readConfig(readText(path, longestConfig), path);
  if (problems.length > 0) throw cannotLoad(problems);
  const { shape } = config;
  const entries = storedEntries(directory);
  const frozen = new Map(
    [...entries].flatMap(([name, entry]) => (factor.test(name) ? [] : [[plainName(name), entry] as const])),
  );
  const adapters = adaptersIn(entries, shape, alphaOf(directory, hint));
  const { tensors: parts } = adapterLayout(shape, adapters);
  const own = [...entries.keys()].flatMap((name) => {
    const ownName = ourName(name);
    return ownName === null ? [] : [[ownName, readTensor(name, entries)] as const];
  });
  const known = new Set(parts.map(({ name }) => name));
  const stray = own.find(([name]) => !known.has(name));
  if (stray !== undefined || own.length !== parts.length) {
    throw unlike(
      directory,
      `${stray?.[0] ?? 'one of them'} is not in every layer and projection that the others are in`,
    );
  }
  return { shape, weights: loadWeights(shape, frozen), config: adapters, parameters: flatFrom(parts, new Map(own)) };
}

function adaptersIn(entries: StoredEntries, shape: ModelShape, alpha: number): AdapterConfig {
  return (['retain', 'forget'] as const).map((name): Lora => {
    const found = [...entries].flatMap(([stored, { shape: sizes }]) => {
      const [, layer, target, side, which] = factor.exec(stored) ?? [];
      return side === 'A' && adapterOf[which as Written] === name
        ? [{ layer: Number(layer), target, rank: sizes[0]! }]
        : [];
    });
    const layers = [...new Set(found.map(({ layer }) => layer))].sort((a, b) => a - b);
    const targets = projections.filter((each) => found.some(({ target }) => target === each));
    return {
      kind: 'lora',
      name,
      rank: found[0]?.rank ?? 0,
      alpha,
      targets: targets.length === 0 ? [...projections] : targets,
      layers: rangeOf(layers, shape),
    };
  });
}

/** Each fraction lies in the middle of a layer's interval, so that rounding cannot move it. */
function rangeOf(layers: readonly number[], shape: ModelShape): Lora['layers'] {
  if (layers.length === 0) return { start: 0, end: 1, stride: 1 };
  const [first, last] = [layers[0]!, layers.at(-1)!];
  const stride = layers.length === 1 ? shape.layers : layers[1]! - first;
  return { start: (first + 0.5) / shape.layers, end: Math.min(1, (last + 1.5) / shape.layers), stride };
}

/** small-rl's own default, when neither a checkpoint nor the user gives alpha. */
export const standardAlpha = 16;

/** The alpha in the files of small-rl's adapters; null when they do not have it. */
export function storedAlpha(directory: string): number | null {
  const config = readJson(join(directory, ownConfig)) as {
    readonly lora_alpha?: unknown;
    readonly alpha?: unknown;
  } | null;
  const stored = config?.lora_alpha ?? config?.alpha;
  return typeof stored === 'number' && stored > 0 ? stored : null;
}

function alphaOf(directory: string, { alpha: hinted }: DualHint): number {
  const alpha = storedAlpha(directory) ?? hinted;
  if (alpha !== null) return alpha;
  throw new UserError(
    `${directory} holds small-rl's two adapters, but not their alpha, the factor of their output.`,
    'Give the setting of its training: lora_config=r32 or lora_alpha=16.',
  );
}

/** `…q_proj.base_layer.weight` is the frozen `…q_proj.weight`. */
function plainName(name: string): string {
  return name.replace('.base_layer.', '.');
}

function ourName(name: string): string | null {
  const [, , , side, which] = factor.exec(name) ?? [];
  if (side === undefined) return null;
  return `${name.slice(0, name.lastIndexOf('.'))}.lora_${side}.${adapterOf[which as Written]}`;
}

function unlike(directory: string, why: string): UserError {
  return new UserError(
    `The adapters in ${directory} cannot be read: ${why}.`,
    'Take the checkpoint from where it was saved.',
  );
}
