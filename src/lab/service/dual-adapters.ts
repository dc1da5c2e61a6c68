/** Two adapters on one model: one is kept, and the other takes what is to be forgotten (Cloud et al. 2024). */
import { UserError } from '../../base/user-error.js';
import { didYouMean } from '../../text/nearest.js';
import { AdaptedEngine } from '../engine/adapters/adapted-engine.js';
import { allLayers, loraOnAll, type Adapter, type AdapterConfig } from '../engine/adapters/config.js';
import type { Engine } from '../engine/engine.js';
import type { RoutingPass } from './service.js';

/** Names of the two adapters, in files too. */
const adapterNames = { retain: 'retain', forget: 'forget' } as const;
const { retain, forget } = adapterNames;

/** Ranks of the two adapters. Both have the same `alpha`, so that the one of lower rank has the larger factor. */
type DualLora = { readonly retain: number; readonly forget: number; readonly alpha: number; readonly stride: number };

/** small-rl's table: r8 is rank 8 for both, r32f4 rank 4 for the forget adapter, h every other layer. */
const ranks: Readonly<Record<string, DualLora>> = {
  ...Object.fromEntries([1, 2, 4, 8, 16, 32].map((r) => [`r${r}`, { retain: r, forget: r, alpha: r, stride: 1 }])),
  r1h: { retain: 1, forget: 1, alpha: 1, stride: 2 },
  ...Object.fromEntries([16, 4, 1].map((f) => [`r32f${f}`, { retain: 32, forget: f, alpha: 32, stride: 1 }])),
};
const aliases: Readonly<Record<string, string>> = { r1m: 'r1', r8m: 'r8', r32m: 'r32', r1hm: 'r1h' };

/** Neurons of two small nets beside each layer's own, in the place of LoRA. */
const neurons = [5, 10, 16, 30, 32, 64, 128, 256];

export const adapterPresets = [...Object.keys(ranks), ...Object.keys(aliases), ...neurons.map((n) => `m${n}`)];

/** The retain and the forget adapter of a preset. @throws UserError when there is none of this name. */
export function presetAdapters(name: string): AdapterConfig {
  const rank = ranks[aliases[name] ?? name];
  if (rank !== undefined) return dualLora(rank);
  const count = neurons.find((n) => `m${n}` === name);
  if (count !== undefined) return [dualNet(retain, count), dualNet(forget, count)];
  throw new UserError(`There is no lora_config \`${name}\`.`, didYouMean(name, adapterPresets));
}

/** Both adapters on all seven projections. Rank 0 leaves an adapter out. */
export function dualLora(sizes: DualLora): AdapterConfig {
  const layers = { ...allLayers, stride: sizes.stride };
  return [retain, forget].map((name) => ({ ...loraOnAll(name, sizes[name], sizes.alpha), layers }));
}

function dualNet(name: string, count: number): Adapter {
  return { kind: 'mlp', name, neurons: count, layers: allLayers };
}

/** The adapters that learn from samples that are not flagged: both, or the retain adapter alone. */
export const routingModes = ['shared', 'exclusive'] as const;
export type RoutingMode = (typeof routingModes)[number];

/** The passes of a routed step: every sample is in one of them. One entry a sample. */
export type Passes = {
  readonly good: readonly boolean[];
  readonly hack: readonly boolean[];
  readonly ablated: readonly boolean[];
};

/**
 * Gradient routing as a sum of passes over disjoint parts of the batch, in the order of small-rl: samples that are not
 * flagged, flagged samples, ablated samples. Flagged samples change the forget adapter alone. The mask applies to the
 * gradient of parameters: derivatives still pass through the other adapter to lower layers.
 */
export function routingPasses({ good, hack, ablated }: Passes, mode: RoutingMode): RoutingPass[] {
  return [
    { takes: good, trained: mode === 'shared' ? [retain, forget] : [retain], scales: { [forget]: 1 } },
    { takes: hack, trained: [forget], scales: { [forget]: 1 } },
    // The forget adapter's output is multiplied by 0 here, so its gradient is exactly 0.
    { takes: ablated, trained: [retain, forget], scales: { [forget]: 0 } },
  ];
}

/** A model with some of its adapters: `both`, the only mode of a plain model, or one of the two alone. */
export type Mode = {
  readonly name: 'both' | 'retain_only' | 'forget_only';
  readonly scales: Readonly<Record<string, number>>;
};

/** The model as it was trained, with all its adapters at scale 1. */
export const wholeModel: Mode = { name: 'both', scales: {} };
const dualModes: readonly Mode[] = [
  { name: 'both', scales: { [retain]: 1, [forget]: 1 } },
  { name: 'retain_only', scales: { [retain]: 1, [forget]: 0 } },
  { name: 'forget_only', scales: { [retain]: 0, [forget]: 1 } },
];

/** Calls `measure` in each mode that the model has. The scales are restored afterwards, also when it fails. */
export async function inEachMode<T>(engine: Engine, measure: (mode: Mode) => Promise<T>): Promise<T[]> {
  if (!isDual(engine)) return [await measure(wholeModel)];
  return withSwitchesKept(engine, async () => {
    const results: T[] = [];
    for (const mode of dualModes) {
      await engine.setScales(mode.scales);
      results.push(await measure(mode));
    }
    return results;
  });
}

/** Calls `measure` on the frozen model alone. The scales are restored afterwards, also when it fails. */
export function withoutAdapters<T>(engine: AdaptedEngine, measure: () => Promise<T>): Promise<T> {
  return withSwitchesKept(engine, async () => {
    await engine.setScales(Object.fromEntries(engine.adapters.map(({ name }) => [name, 0])));
    return measure();
  });
}

async function withSwitchesKept<T>(engine: AdaptedEngine, work: () => Promise<T>): Promise<T> {
  const before = engine.scales;
  try {
    return await work();
  } finally {
    await engine.setScales(before);
  }
}

function isDual(engine: Engine): engine is AdaptedEngine {
  if (!(engine instanceof AdaptedEngine)) return false;
  const names = engine.adapters.map(({ name }) => name);
  return names.includes(retain) && names.includes(forget);
}
