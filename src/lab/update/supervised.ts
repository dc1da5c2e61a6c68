/** Supervised learning on examples. */
import type { AdamOptions } from '../engine/engine.js';
import { crossEntropy } from '../objectives/objectives.js';
import { requireFinite } from '../run/finite.js';
import type { Datum, TrainingService } from '../service/service.js';
import type { Example } from '../text/role-colon.js';

/** `nll`: mean over trained tokens, in nats. `tokens`: their number. */
type Supervised = { readonly nll: number; readonly tokens: number };

/**
 * Adds the gradient of the mean cross-entropy over the trained tokens of a batch.
 *
 * Equal examples are computed once and weighted by their number: the same loss, up to rounding.
 */
export async function learnExamples(service: TrainingService, examples: readonly Example[]): Promise<Supervised> {
  const { datums, tokens } = supervisedDatums(examples);
  const { loss } = await service.forwardBackward(datums, { objective: crossEntropy, divisor: tokens });
  return { nll: loss, tokens };
}

/** The mean cross-entropy, without a gradient. */
export async function meanNll(
  service: Pick<TrainingService, 'forward'>,
  examples: readonly Example[],
): Promise<Supervised> {
  const { datums, tokens } = supervisedDatums(examples);
  const logprobs = await service.forward(datums);
  let nll = 0;
  datums.forEach(({ weights }, index) =>
    logprobs[index]!.forEach((logprob, token) => (nll -= weights[token]! * logprob)),
  );
  return { nll: nll / tokens, tokens };
}

/**
 * Takes one optimizer step on the gradient of a batch.
 * @param nll Cross-entropy of the batch.
 * @throws UserError when `nll` or the norm of the gradient is not finite.
 */
export async function checkedStep(
  service: TrainingService,
  { nll, step }: { readonly nll: number; readonly step: number },
  adam: AdamOptions,
): Promise<number | null> {
  requireFinite(nll, 'the loss', step);
  const { gradientNorm } = await service.optimStep(adam);
  requireFinite(gradientNorm ?? 0, 'the norm of the gradient', step);
  return gradientNorm;
}

/**
 * Examples that begin with the same untrained tokens are made neighbours and share them, so that these are computed
 * once.
 */
function supervisedDatums(examples: readonly Example[]): { readonly datums: Datum[]; readonly tokens: number } {
  const byPrompt = new Map<string, { readonly prompt: Int32Array; readonly datums: Datum[] }>();
  let learnt = 0;
  for (const { example, count } of countExamples(examples)) {
    const start = example.weights.indexOf(1);
    const own = example.tokens.slice(0, start);
    const name = own.join();
    const { prompt, datums } = byPrompt.get(name) ?? { prompt: own, datums: [] };
    byPrompt.set(name, { prompt, datums });
    const weights = Array.from(example.weights.subarray(start), (weight) => weight * count);
    datums.push({ prompt, tokens: example.tokens.slice(start), weights });
    learnt += weights.reduce((sum, weight) => sum + weight, 0);
  }
  return { datums: [...byPrompt.values()].flatMap(({ datums }) => datums), tokens: learnt };
}

function countExamples(examples: readonly Example[]): { example: Example; count: number }[] {
  const counts = new Map<string, { example: Example; count: number }>();
  for (const example of examples) {
    const name = `${example.tokens.join()}/${example.weights.join()}`;
    const known = counts.get(name);
    if (known === undefined) counts.set(name, { example, count: 1 });
    else known.count++;
  }
  return [...counts.values()];
}
