import type { Engine, PromptGroup } from '../engine/engine.js';
import type { Objective } from '../objectives/objective.js';
import { k3 } from '../objectives/reference.js';

/** A completion to learn from. What it says is of the whole batch, whichever of its samples are learnt from together. */
export type Sample = {
  /** Samples of one group share the array. */
  readonly prompt: Int32Array;
  /** At least one; with the end, if it was said. */
  readonly tokens: Int32Array;
  readonly advantage: number;
  /** Of each of its tokens in the loss. */
  readonly weight: number;
  /** Log-probability of each token under the reference model; null when nothing pulls there. */
  readonly reference: Float32Array | null;
};

/** How the loss of a sample's tokens is computed. */
export type Loss = {
  readonly objective: Objective;
  /** Coefficient of the pull towards the reference model. */
  readonly beta: number;
  /** Softmax temperature of the policy that wrote the samples. */
  readonly temperature: number;
};

/** Sums over the tokens of some samples: the loss weighted, `kl` (k3, nats) and `entropy` (nats) not. */
export type Learnt = { readonly loss: number; readonly kl: number; readonly entropy: number; readonly tokens: number };

export const nothingLearnt: Learnt = { loss: 0, kl: 0, entropy: 0, tokens: 0 };

/**
 * Adds the derivative of the samples' part of the loss to the engine's gradient.
 *
 * The policy that wrote the samples is the one that learns: the ratio of the two is 1 in value, and only its derivative counts.
 * So there is nothing to clip before a second step on the same samples.
 */
export async function differentiate(engine: Engine, samples: readonly Sample[], loss: Loss): Promise<Learnt> {
  const { objective, beta, temperature } = loss;
  const { logprobs, entropies } = await engine.forward(groupsOf(samples), { temperature });
  const slopes = new Float32Array(logprobs.length);
  const sums = { ...nothingLearnt };
  let at = 0;
  for (const { tokens, advantage, weight, reference } of samples) {
    for (let token = 0; token < tokens.length; token++, at++) {
      const lp = logprobs[at]!;
      const pull = reference === null ? 0 : k3.loss(lp, reference[token]!);
      const pullSlope = reference === null ? 0 : k3.slope(lp, reference[token]!);
      slopes[at] = weight * (objective.slope(lp, lp, advantage) + beta * pullSlope);
      sums.loss += weight * (objective.loss(lp, lp, advantage) + beta * pull);
      sums.kl += pull;
      sums.entropy += entropies[at]!;
      sums.tokens++;
    }
  }
  await engine.backward(slopes, null);
  return sums;
}

/** Log-probabilities that a model gives to each sample's tokens. */
export async function scores(
  engine: Engine,
  samples: readonly Pick<Sample, 'prompt' | 'tokens'>[],
  temperature: number,
): Promise<Float32Array[]> {
  const { logprobs } = await engine.forward(groupsOf(samples), { temperature });
  let at = 0;
  return samples.map(({ tokens }) => logprobs.slice(at, (at += tokens.length)));
}

/** Neighbours with one prompt are computed together. */
function groupsOf(samples: readonly Pick<Sample, 'prompt' | 'tokens'>[]): PromptGroup[] {
  const groups: { prompt: Int32Array; continuations: Int32Array[] }[] = [];
  for (const { prompt, tokens } of samples) {
    const last = groups.at(-1);
    if (last?.prompt === prompt) last.continuations.push(tokens);
    else groups.push({ prompt, continuations: [tokens] });
  }
  return groups;
}

export function addLearnt(a: Learnt, b: Learnt): Learnt {
  return { loss: a.loss + b.loss, kl: a.kl + b.kl, entropy: a.entropy + b.entropy, tokens: a.tokens + b.tokens };
}
