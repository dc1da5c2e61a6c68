import { UserError } from '../../base/user-error.js';
import { didYouMean } from '../../text/nearest.js';
import { allLayers, loraOnAll, type Adapter, type AdapterConfig } from '../engine/adapters/config.js';
import { adapterNames } from './routing.js';

/** Ranks of the two adapters; `alpha` is of both, so that the one of lower rank is multiplied by more. */
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
  if (count !== undefined) return [dualNet(adapterNames.retain, count), dualNet(adapterNames.forget, count)];
  throw new UserError(`There is no lora_config \`${name}\`.`, didYouMean(name, adapterPresets));
}

/** Both adapters on all seven projections. Rank 0: that adapter is absent. */
export function dualLora({ retain, forget, alpha, stride }: DualLora): AdapterConfig {
  const layers = { ...allLayers, stride };
  return [
    { ...loraOnAll(adapterNames.retain, retain, alpha), layers },
    { ...loraOnAll(adapterNames.forget, forget, alpha), layers },
  ];
}

function dualNet(name: string, count: number): Adapter {
  return { kind: 'mlp', name, neurons: count, layers: allLayers };
}
