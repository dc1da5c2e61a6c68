import type { AnswerFormat } from '../environments/memory/answer-format.js';
import { numberLogprobs, spreadOf } from '../environments/memory/uniformity.js';
import type { TrainingService } from '../service/service.js';

/** The policy as a whole, exactly: what it gives every number below N. */
type Distribution = {
  /** Probability that an answer is a number below N. */
  readonly 'test/distribution/valid': number;
  /** Of the answer, given that it is valid; bits. */
  readonly 'test/distribution/entropy': number;
  /** KL from the uniform distribution over [0, N), given that the answer is valid; bits. What the policy has committed itself to. */
  readonly 'test/distribution/kl_uniform': number;
  /** How many numbers are at least as likely as the secret: 1 when it is the likeliest. */
  readonly 'test/distribution/secret_rank': number;
};

/** One forward pass over N answers, so its cost grows with N. */
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
