import type { AnswerFormat } from './answer-format.js';
import type { Engine } from '../../engine/engine.js';
import { bitRequest, multiStepSystem } from './prompts.js';
import { bitLength, signalBits } from './rules.js';
import { secretBits } from './secret.js';
import { numberExample } from './uniform-answers.js';
import { rng } from '../../rng.js';
import { endingId, memoryTokenizer } from '../../text/memory-vocabulary.js';
import { continuationPrompt, generationPrompt } from '../../text/role-colon.js';
import { bits } from '../../probes/bits-known.js';
import type { TrainingService } from '../../service/service.js';

type Forward = Pick<TrainingService, 'forward'>;

/** Evenness of the answers to one question. */
export type Uniformity = {
  readonly N: number;
  /** Probability that an answer is a number below N (all bits valid), written without leading zeros, and ended. */
  readonly validRate: number;
  /** Entropy of the answer given that it is valid, over log2 N; 1 when uniform. */
  readonly entropyRatio: number;
  /** Bits known of each secret measured. Near 0 when the model favours none. */
  readonly bitsBySecret: ReadonlyMap<number, number>;
};

/** Exact, from the probability of every number below N. */
export async function numberUniformity(
  service: Forward,
  N: number,
  format: AnswerFormat = 'decimal',
): Promise<Uniformity> {
  const logprobs = await numberLogprobs(service, N, format);
  const { valid: validRate, entropy } = spreadOf(logprobs);
  const bitsBySecret = new Map(logprobs.map((logprob, value) => [value, bits(logprob, signalBits(N))]));
  return { N, validRate, entropyRatio: entropy / Math.log2(N), bitsBySecret };
}

/**
 * The bits of up to 64 secrets below N: all of them, or the first of `secrets` and then random ones. Entropy and valid
 * rate are exact along each of these conversations, and averaged over them.
 */
export async function bitUniformity(engine: Engine, N: number, secrets: readonly number[]): Promise<Uniformity> {
  const chosen = chooseSecrets(N, secrets);
  const k = bitLength(N);
  const conversations = chosen.map((value) => secretBits(value, N));
  const decoder = await engine.decoder(generationPrompt([multiStepSystem(N), bitRequest(N, 0)]), chosen.length);
  const known = new Float64Array(chosen.length);
  const valid = new Float64Array(chosen.length).fill(1);
  let entropy = 0;
  for (let position = 0; position < k; position++) {
    const rows = await decoder.logprobs();
    conversations.forEach((bits, index) => {
      const pair = bitLogprobs(rows, index, engine.shape.vocabulary);
      const mass = Math.exp(pair[0]) + Math.exp(pair[1]);
      valid[index]! *= mass;
      known[index]! += pair[bits[position] as 0 | 1];
      entropy += binaryEntropy(Math.exp(pair[0]) / mass) / chosen.length;
    });
    if (position + 1 < k) await decoder.extend(conversations.map((bits) => nextTurn(N, bits, position)));
  }
  const bitsBySecret = new Map(chosen.map((value, index) => [value, bits(known[index]!, signalBits(N))]));
  return { N, validRate: mean(valid), entropyRatio: entropy / k, bitsBySecret };
}

/** For answers with these log-probabilities (natural): their total probability, and the entropy among them, in bits. */
function spreadOf(logprobs: readonly number[]): { readonly valid: number; readonly entropy: number } {
  const probabilities = logprobs.map(Math.exp);
  const valid = probabilities.reduce((sum, p) => sum + p, 0);
  const entropy = -probabilities.reduce((sum, p) => (p === 0 ? sum : sum + (p / valid) * Math.log2(p / valid)), 0);
  return { valid, entropy };
}

/**
 * Natural log of the probability of each answer below N, including the end of its message but not the `User:` after
 * that.
 */
async function numberLogprobs(service: Forward, N: number, format: AnswerFormat): Promise<number[]> {
  const atOnce = 512;
  const found: number[] = [];
  for (let from = 0; from < N; from += atOnce) {
    const examples = Array.from({ length: Math.min(atOnce, N - from) }, (_, index) =>
      numberExample(N, from + index, format),
    );
    const start = examples[0]!.weights.indexOf(1);
    const prompt = examples[0]!.tokens.slice(0, start);
    const datums = examples.map(({ tokens, weights }) => {
      return { prompt, tokens: tokens.slice(start, -1), weights: weights.subarray(start, -1) };
    });
    for (const logprobs of await service.forward(datums)) found.push(logprobs.reduce((sum, each) => sum + each, 0));
  }
  return found;
}

function chooseSecrets(N: number, named: readonly number[]): number[] {
  const most = 64;
  if (N <= most) return Array.from({ length: N }, (_, value) => value);
  const random = rng(N, 'secrets to check');
  const chosen = new Set(named.filter((secret) => secret < N));
  while (chosen.size < most) chosen.add(random.below(N));
  return [...chosen].slice(0, Math.max(most, named.length));
}

/** Tokens of a turn with the true bit at `position`: the bit, its end, and the next request. */
function nextTurn(N: number, bits: readonly number[], position: number): number[] {
  return [memoryTokenizer.id(String(bits[position])), endingId, ...continuationPrompt(bitRequest(N, position + 1))];
}

function bitLogprobs(rows: Float32Array, row: number, vocabulary: number): [number, number] {
  const at = (token: string) => rows[row * vocabulary + memoryTokenizer.id(token)]!;
  return [at('0'), at('1')];
}

function binaryEntropy(p: number): number {
  return p <= 0 || p >= 1 ? 0 : -(p * Math.log2(p) + (1 - p) * Math.log2(1 - p));
}

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Maximum distance from zero of the bits known of any secret. */
const tolerance = 1.5;
const leastEntropyRatio = 0.97;
const leastValidRate = 0.99;

/** Faults of a warmed-up model for one N, in words; empty when it may be used. */
export function unevenness(
  { N, validRate, entropyRatio, bitsBySecret }: Uniformity,
  named: readonly number[],
): string[] {
  const problems: string[] = [];
  if (!(validRate >= leastValidRate))
    problems.push(`N=${N}: only ${percent(validRate)} of answers are valid (99 % needed)`);
  if (!(entropyRatio >= leastEntropyRatio)) {
    problems.push(`N=${N}: their entropy is ${percent(entropyRatio)} of log2 N (97 % needed)`);
  }
  const uneven = [...bitsBySecret].filter(([, known]) => !(Math.abs(known) <= tolerance));
  const asked = uneven.filter(([secret]) => named.includes(secret));
  if (uneven.length > asked.length) {
    problems.push(`N=${N}: ${uneven.length} of ${bitsBySecret.size} secrets are not within ±${tolerance} bits`);
  }
  for (const [secret, known] of asked) {
    problems.push(`N=${N}: ${known.toFixed(2)} bits of the secret ${secret} are known (within ±${tolerance} needed)`);
  }
  return problems;
}

/** `N=64: 99.8 % valid, entropy 99.9 % of log2 N, bits known -0.31 (secret 5) to 0.24 (secret 60)`. */
export function uniformityLine({ N, validRate, entropyRatio, bitsBySecret }: Uniformity): string {
  const sorted = [...bitsBySecret].sort((a, b) => a[1] - b[1]);
  const [least, most] = [sorted[0]!, sorted[sorted.length - 1]!];
  const bits = `bits known ${least[1].toFixed(2)} (secret ${least[0]}) to ${most[1].toFixed(2)} (secret ${most[0]})`;
  return `N=${N}: ${percent(validRate)} valid, entropy ${percent(entropyRatio)} of log2 N, ${bits}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)} %`;
}

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

/** The policy's distribution over all N answers. Runs one forward pass over N answers, so its cost grows with N. */
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
