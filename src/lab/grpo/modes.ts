import { AdaptedEngine } from '../engine/adapters/adapted-engine.js';
import type { Engine } from '../engine/engine.js';
import { adapterNames } from './routing.js';

/** A model with some of its adapters: `both`, which of a plain model is all there is, or one of the two alone. */
export type Mode = {
  readonly name: 'both' | 'retain_only' | 'forget_only';
  readonly scales: Readonly<Record<string, number>>;
};

const { retain, forget } = adapterNames;
const plainMode: Mode = { name: 'both', scales: {} };
const dualModes: readonly Mode[] = [
  { name: 'both', scales: { [retain]: 1, [forget]: 1 } },
  { name: 'retain_only', scales: { [retain]: 1, [forget]: 0 } },
  { name: 'forget_only', scales: { [retain]: 0, [forget]: 1 } },
];

/** Does something in each mode that the model has. The switches are as they were afterwards, also when it fails. */
export async function inEachMode<T>(engine: Engine, measure: (mode: Mode) => Promise<T>): Promise<T[]> {
  if (!isDual(engine)) return [await measure(plainMode)];
  return withSwitchesKept(engine, async () => {
    const results: T[] = [];
    for (const mode of dualModes) {
      await engine.setScales(mode.scales);
      results.push(await measure(mode));
    }
    return results;
  });
}

/** Does something with the frozen model alone. The switches are as they were afterwards, also when it fails. */
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
