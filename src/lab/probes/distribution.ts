import type { AnswerFormat } from '../environments/memory/answer-format.js';
import { numberLogprobs, spreadOf } from '../environments/memory/uniformity.js';
import type { TrainingService } from '../service/service.js';

/** The exact distribution of the policy over all numbers below N. */
type Distribution = {
  /** Probability that an answer is a number below N. */
  readonly 'test/distribution/valid': number;
  /** Entropy of the answer, given that it is valid; bits. */
  readonly 'test/distribution/entropy': number;
  /**
   * KL from the uniform distribution over [0, N), given that the answer is valid; bits. Measures how far the policy
   * has committed itself to some numbers.
   */
  readonly 'test/distribution/kl_uniform': number;
  /** Number of answers at least as likely as the secret: 1 when it is the likeliest. */
  readonly 'test/distribution/secret_rank': number;
};

/** Runs one forward pass over N answers, so its cost grows with N. */
export async function answerDistribution(
  service: Pick<TrainingService, 'forward'>,
  { N, secret, format }: { readonly N: number; readonly secret: number; readonly format: AnswerFormat },
): Promise<Distribution> {
  const logprobs = await numberLogprobs(service, N, format);
  const { valid, entropy } = spreadOf(logprobs);
  return {
    'test/distribution/valid': valid,
    'test/distribution/entropy': entropy,
    'test/distribution/kl_uniform': Math.log2(N) - entropy,
    'test/distribution/secret_rank': logprobs.filter((logprob) => logprob >= logprobs[secret]!).length,
  };
}
