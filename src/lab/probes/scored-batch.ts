import type { Engine, Floats, PromptGroup } from '../engine/engine.js';
import { inGroups, type Rollout } from '../rollouts/rollouts.js';
import type { ScoredSequence } from './entropy-estimates.js';
import type { ScoreDerivatives } from './entropy-derivative.js';

/** Sequences of a policy, to be scored at any weights. Tokens of the environment are in them, and have no scores. */
export type Batch = { readonly groups: readonly PromptGroup[]; readonly generated: readonly (readonly boolean[])[] };

export function batchOf(groups: readonly (readonly Rollout[])[]): Batch {
  return {
    groups: groups.map((rollouts) => ({
      prompt: rollouts[0]!.task.prompt,
      continuations: rollouts.map(({ tokens }) => Int32Array.from(tokens)),
    })),
    generated: groups.flat().map(({ turnOf }) => turnOf.map((turn) => turn >= 0)),
  };
}

/** Prompts of one forward pass: bounds its memory. */
const atOnce = 128;

/** Scores of the generated tokens, sequence by sequence, at the engine's weights. */
export async function scoresOf(engine: Engine, batch: Batch, temperature: number): Promise<ScoredSequence[]> {
  const scored: ScoredSequence[] = [];
  for (const groups of inGroups(batch.groups, atOnce)) {
    const { logprobs, entropies } = await engine.forward(groups, { temperature });
    let at = 0;
    for (const { length } of groups.flatMap(({ continuations }) => continuations)) {
      const generated = batch.generated[scored.length]!;
      const own = (values: Float32Array) =>
        Float64Array.from(values.subarray(at, at + length)).filter((_, k) => generated[k]);
      scored.push({ logprobs: own(logprobs), entropies: own(entropies) });
      at += length;
    }
  }
  return scored;
}

/**
 * The gradient with respect to the weights, given the derivatives of a loss w.r.t. the scores of generated tokens; the
 * engine's own gradient is cleared.
 */
export async function gradientOf(
  engine: Engine,
  batch: Batch,
  { byLogprob, byEntropy }: ScoreDerivatives,
  temperature: number,
): Promise<Floats> {
  await engine.clearGradient();
  let first = 0;
  for (const groups of inGroups(batch.groups, atOnce)) {
    const count = groups.reduce((sum, { continuations }) => sum + continuations.length, 0);
    const rows = Array.from({ length: count }, (_, index) => {
      const derivatives = byLogprob[first + index]!.values();
      return batch.generated[first + index]!.map((isGenerated) => (isGenerated ? derivatives.next().value! : 0));
    });
    const generated = batch.generated.slice(first, first + count).flat();
    await engine.forward(groups, { temperature });
    const dEntropy =
      byEntropy === 0 ? null : Float64Array.from(generated, (isGenerated) => (isGenerated ? byEntropy : 0));
    await engine.backward(Float64Array.from(rows.flat()), dEntropy);
    first += count;
  }
  const gradient = await engine.gradient();
  await engine.clearGradient();
  return gradient;
}

/** A group, or one sequence, as a batch of its own. */
export function partOf(batch: Batch, group: number, index?: number): Batch {
  const first = batch.groups.slice(0, group).reduce((sum, { continuations }) => sum + continuations.length, 0);
  const { prompt, continuations } = batch.groups[group]!;
  if (index === undefined) {
    return { groups: [batch.groups[group]!], generated: batch.generated.slice(first, first + continuations.length) };
  }
  return { groups: [{ prompt, continuations: [continuations[index]!] }], generated: [batch.generated[first + index]!] };
}

/** Calls `measure` at weights + step · direction, and restores the weights bit for bit. */
export async function movedAlong<T>(
  engine: Engine,
  { direction, step }: { readonly direction: Floats; readonly step: number },
  measure: () => Promise<T>,
): Promise<T> {
  const before = await engine.weights();
  await engine.addToWeights(direction, step);
  try {
    return await measure();
  } finally {
    await engine.loadWeights(before);
  }
}
