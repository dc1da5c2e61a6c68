import type { Engine, PromptGroup } from '../engine/engine.js';
import type { Environment } from '../environment.js';
import { k3 } from '../objectives/reference.js';
import type { Episode } from '../rollout.js';

/** `kl`: how far the step went in the end, nats per episode. `halvings`: how often it was halved for that. */
export type BoundedStep = { readonly kl: number; readonly halvings: number };

type Bound = {
  readonly environment: Environment;
  readonly episodes: readonly Episode[];
  readonly temperature: number;
  /** Nats per episode. */
  readonly bound: number;
};

/** A step that was halved so often moves nothing that single precision would show. */
const mostHalvings = 20;

/**
 * Takes an optimizer step, and halves it until the policy has moved by no more than the bound on the episodes the step was made
 * from: the backtracking of TRPO (Schulman et al. 2015, appendix C) on steps of Adam. The optimizer's moments stay as they are.
 *
 * Adam's steps have their full size however small the gradient is. Once a policy is right nearly always, one rare wrong answer
 * is the whole gradient, and a full-size step away from it moves the right answers, too.
 *
 * @param step Changes the weights. @returns the norm of the gradient.
 */
export async function boundedStep(
  engine: Engine,
  { environment, episodes, temperature, bound }: Bound,
  step: () => Promise<number>,
): Promise<{ readonly gradientNorm: number; readonly step: BoundedStep }> {
  const groups = asPromptGroup(environment, episodes);
  const scores = async () => (await engine.forward(groups, { temperature })).logprobs;
  const said = episodes.flatMap(({ turns }) => turns.map((turn) => turn >= 0));
  const [before, start] = [await scores(), await engine.weights()];
  const distance = async () => klOfSample(before, await scores(), said) / episodes.length;
  const gradientNorm = await step();
  let kl = await distance();
  let halvings = 0;
  // A distance that is no number is too far.
  while (!(kl <= bound) && halvings < mostHalvings) {
    await engine.loadWeights(between(start, await engine.weights()));
    halvings++;
    kl = await distance();
  }
  return { gradientNorm, step: { kl, halvings } };
}

/** The episodes as continuations of the environment's prompt, which is computed once. */
export function asPromptGroup({ prompt }: Environment, episodes: readonly Episode[]): PromptGroup[] {
  return [{ prompt, continuations: episodes.map(({ tokens }) => Int32Array.from(tokens)) }];
}

/** KL(before ‖ after) of all sampled tokens that were said, by the estimator k3, which is never negative. */
function klOfSample(before: Float32Array, after: Float32Array, said: readonly boolean[]): number {
  return said.reduce((sum, counts, at) => (counts ? sum + k3.loss(before[at]!, after[at]!) : sum), 0);
}

function between(start: Float32Array, end: Float32Array): Float32Array {
  return start.map((weight, at) => (weight + end[at]!) / 2);
}
