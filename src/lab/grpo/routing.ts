import type { AdaptedEngine } from '../engine/adapters/adapted-engine.js';
import type { Passes } from '../rewards/labels.js';
import { addLearnt, differentiate, nothingLearnt, type Learnt, type Loss, type Sample } from './samples.js';

/** What the two adapters are called, in files too: one is kept, the other takes what is to be forgotten. */
export const adapterNames = { retain: 'retain', forget: 'forget' } as const;
const both = [adapterNames.retain, adapterNames.forget] as const;

/** Which adapters learn from samples that are not flagged: both, or the retain adapter alone. */
export const routingModes = ['shared', 'exclusive'] as const;
export type RoutingMode = (typeof routingModes)[number];

/** Part of a step: the adapters that learn from these samples, and the switch of the forget adapter meanwhile. */
type Pass = { readonly takes: readonly boolean[]; readonly trained: readonly string[]; readonly forget: 0 | 1 };

/**
 * Gradient routing (Cloud et al. 2024) as a sum of passes over disjoint parts of the batch, in the order of small-rl: what is not
 * flagged, what is flagged, what is ablated. Flagged samples change the forget adapter alone. What is masked is the gradient
 * of parameters: what flows through the other adapter to lower layers flows on.
 *
 * Afterwards both adapters are switched on and trained, and the gradient is that of the whole step.
 */
export async function differentiateRouted(
  engine: AdaptedEngine,
  samples: readonly Sample[],
  passes: Passes,
  { mode, ...loss }: Loss & { readonly mode: RoutingMode },
): Promise<Learnt> {
  let sums = nothingLearnt;
  try {
    for (const { takes, trained, forget } of inOrder(passes, mode)) {
      const part = samples.filter((_, index) => takes[index]);
      if (part.length === 0) continue;
      await engine.setScales({ [adapterNames.forget]: forget });
      await engine.setTrained(trained);
      sums = addLearnt(sums, await differentiate(engine, part, loss));
    }
  } finally {
    await engine.setScales({ [adapterNames.forget]: 1 });
    await engine.setTrained(null);
  }
  return sums;
}

function inOrder({ good, hack, ablated }: Passes, mode: RoutingMode): Pass[] {
  return [
    { takes: good, trained: mode === 'shared' ? both : [adapterNames.retain], forget: 1 },
    { takes: hack, trained: [adapterNames.forget], forget: 1 },
    // What the forget adapter says is multiplied by 0 here, so its gradient is exactly 0.
    { takes: ablated, trained: both, forget: 0 },
  ];
}
