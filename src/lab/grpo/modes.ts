import { AdaptedEngine } from '../engine/adapters/adapted-engine.js';
import type { Engine } from '../engine/engine.js';
import { adapterNames } from './routing.js';

/** A model with some of its adapters: `both`, which of a plain model is all there is, or one of the two alone. */
export type Mode = {
  readonly name: 'both' | 'retain_only' | 'forget_only';
  readonly scales: Readonly<Record<string, number>>;
};

const { retain, forget } = adapterNames;
const dualModes: readonly Mode[] = [
  { name: 'both', scales: { [retain]: 1, [forget]: 1 } },
  { name: 'retain_only', scales: { [retain]: 1, [forget]: 0 } },
  { name: 'forget_only', scales: { [retain]: 0, [forget]: 1 } },
];

/** The modes that this model has. */
export function modesOf(engine: Engine): readonly Mode[] {
  return isDual(engine) ? dualModes : [{ name: 'both', scales: {} }];
}

/** Does something in each mode. The switches are as they were afterwards, also when it fails. */
export async function inEachMode<T>(engine: Engine, measure: (mode: Mode) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  const before = isDual(engine) ? engine.scales : null;
  try {
    for (const mode of modesOf(engine)) {
      if (isDual(engine)) await engine.setScales(mode.scales);
      results.push(await measure(mode));
    }
  } finally {
    if (isDual(engine) && before !== null) await engine.setScales(before);
  }
  return results;
}

/** Does something with the frozen model alone. The switches are as they were afterwards, also when it fails. */
export async function withoutAdapters<T>(engine: AdaptedEngine, measure: () => Promise<T>): Promise<T> {
  const before = engine.scales;
  try {
    await engine.setScales(Object.fromEntries(engine.adapters.map(({ name }) => [name, 0])));
    return await measure();
  } finally {
    await engine.setScales(before);
  }
}

function isDual(engine: Engine): engine is AdaptedEngine {
  if (!(engine instanceof AdaptedEngine)) return false;
  const names = engine.adapters.map(({ name }) => name);
  return names.includes(retain) && names.includes(forget);
}
