import * as z from 'zod';
import { UserError } from '../../../base/user-error.js';
import type { ModelShape } from '../engine.js';

/** The matrices of a layer that LoRA can adapt, by Hugging Face's names. */
export const projections = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const;
export type Projection = (typeof projections)[number];

/** The targets of LoRA: the projections, and the head, which is then untied from the embedding. */
export const loraTargets = [...projections, 'lm_head'] as const;
export type LoraTarget = (typeof loraTargets)[number];

/** A range of layers: of L layers, those from ⌊L · start⌋ up to but excluding ⌊L · end⌋, every `stride`-th. */
const Layers = z.strictObject({
  start: z.number().min(0).max(1),
  end: z.number().min(0).max(1),
  stride: z.int().min(1),
});

const Name = z.string().regex(/^[a-z][a-z0-9_-]*$/, 'use small letters, digits, - and _');

/**
 * Low-rank adaptation (Hu et al. 2021): s · alpha/rank · B·A is added to a frozen W [out × in], with A [rank × in] and
 * B [out × rank]. Rank 0 means no adapter. `s` is a scale of the engine, 1 unless it is set.
 */
const Lora = z.strictObject({
  kind: z.literal('lora'),
  name: Name,
  rank: z.int().min(0),
  alpha: z.number().positive(),
  layers: Layers,
  targets: z.array(z.enum(loraTargets)).nonempty(),
});

/**
 * A small SwiGLU net beside the frozen one: s · D(silu(G x) ⊙ U x) is added to its output, with G and U [neurons ×
 * width] and D [width × neurons]. 0 neurons mean no adapter.
 */
const Mlp = z.strictObject({ kind: z.literal('mlp'), name: Name, neurons: z.int().min(0), layers: Layers });

const Adapter = z.discriminatedUnion('kind', [Lora, Mlp]);

/**
 * Settings of adapters that are stored beside their weights. Nothing has a default: a file that leaves something out
 * is refused.
 */
export const AdapterConfig = z
  .array(Adapter)
  .nonempty()
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'two adapters have the same name');

export type Lora = z.infer<typeof Lora>;
export type Mlp = z.infer<typeof Mlp>;
export type Adapter = z.infer<typeof Adapter>;
export type AdapterConfig = readonly Adapter[];

export const allLayers = { start: 0, end: 1, stride: 1 } as const;

/** LoRA on all seven projections of every layer. */
export function loraOnAll(name: string, rank: number, alpha: number): Lora {
  return { kind: 'lora', name, rank, alpha, layers: allLayers, targets: [...projections] };
}

/** @throws UserError that names the wrong value and `where`, the file it was read from. */
export function readAdapterConfig(value: unknown, where: string): AdapterConfig {
  const read = AdapterConfig.safeParse(value);
  if (read.success) return read.data;
  const { path, message } = read.error.issues[0]!;
  throw new UserError(
    `${where} does not say what the adapters are${path.length === 0 ? '' : `, at \`${path.join('.')}\``}: ${message}.`,
    'Use the file that was written with the weights: rank, alpha and layers cannot be told from them.',
  );
}

/** Indices of the layers that have the adapter. */
export function layersOf({ layers: count }: Pick<ModelShape, 'layers'>, { layers }: Adapter): number[] {
  const [first, end] = [Math.floor(count * layers.start), Math.floor(count * layers.end)];
  return Array.from({ length: count }, (_, index) => index).filter(
    (index) => index >= first && index < end && (index - first) % layers.stride === 0,
  );
}

/** Factor of the adapter's output, besides its scale s. */
export function strengthOf(adapter: Adapter): number {
  return adapter.kind === 'lora' ? adapter.alpha / adapter.rank : 1;
}
