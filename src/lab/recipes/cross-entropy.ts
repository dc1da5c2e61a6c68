import type { Engine, PromptGroup } from '../engine/engine.js';
import type { Example } from '../text/role-colon.js';

/** Examples that begin with the same unlearnt tokens, so that these are computed once. */
type Bundle = { readonly prompt: Int32Array; readonly continuations: Int32Array[]; readonly weights: number[] };

/** What a supervised batch measured. `nll`: mean over learnt tokens, in nats. */
type Supervised = { readonly nll: number; readonly tokens: number };

/**
 * Forward and backward of the mean cross-entropy over the learnt tokens of a batch. Leaves the gradient in the engine.
 *
 * Equal examples are computed once and weighted by their number: the same loss, up to rounding.
 */
export async function crossEntropy(engine: Engine, examples: readonly Example[]): Promise<Supervised> {
  const { nll, tokens, weights } = await forward(engine, examples);
  await engine.backward(
    Float32Array.from(weights, (weight) => -weight / tokens),
    null,
  );
  return { nll, tokens };
}

/** The same of the forward pass alone: a measurement. */
export async function meanNll(engine: Engine, examples: readonly Example[]): Promise<Supervised> {
  const { nll, tokens } = await forward(engine, examples);
  return { nll, tokens };
}

/** `weights`: of each token that the engine scored. */
async function forward(
  engine: Engine,
  examples: readonly Example[],
): Promise<Supervised & { readonly weights: readonly number[] }> {
  const bundles = bundle(examples);
  const groups: PromptGroup[] = bundles.map(({ prompt, continuations }) => ({ prompt, continuations }));
  const { logprobs } = await engine.forward(groups);
  const weights = bundles.flatMap((each) => each.weights);
  const tokens = weights.reduce((sum, weight) => sum + weight, 0);
  let nll = 0;
  weights.forEach((weight, at) => (nll -= weight * logprobs[at]!));
  return { nll: nll / tokens, tokens, weights };
}

function bundle(examples: readonly Example[]): Bundle[] {
  const bundles = new Map<string, Bundle>();
  for (const { example, count } of counted(examples)) {
    const start = example.weights.indexOf(1);
    const prompt = example.tokens.slice(0, start);
    const name = prompt.join();
    const known = bundles.get(name) ?? { prompt, continuations: [], weights: [] };
    bundles.set(name, known);
    known.continuations.push(example.tokens.slice(start));
    known.weights.push(...Array.from(example.weights.subarray(start), (weight) => weight * count));
  }
  return [...bundles.values()];
}

function counted(examples: readonly Example[]): { example: Example; count: number }[] {
  const counts = new Map<string, { example: Example; count: number }>();
  for (const example of examples) {
    const name = `${example.tokens.join()}/${example.weights.join()}`;
    const known = counts.get(name);
    if (known === undefined) counts.set(name, { example, count: 1 });
    else known.count++;
  }
  return [...counts.values()];
}
