import type { AnswerFormat } from './answer-format.js';
import type { Engine } from '../../engine/engine.js';
import { bitRequest, multiStepSystem } from './prompts.js';
import { bitLength, signalBits } from '../../../analysis/memory-rules.js';
import { secretBits } from './secret.js';
import { numberExample } from './uniform-answers.js';
import { rng } from '../../rng.js';
import { endingId, memoryTokenizer } from '../../text/memory-vocabulary.js';
import { continuationPrompt, generationPrompt } from '../../text/role-colon.js';
import { bits } from '../../probes/bits-known.js';

/** How even the answers to one question are. */
export type Uniformity = {
  readonly N: number;
  /** Probability that an answer is a number below N (all bits legal), written without leading zeros, and ended. */
  readonly validRate: number;
  /** Entropy of the answer given that it is valid, over log2 N; 1 when uniform. */
  readonly entropyRatio: number;
  /** Bits known of each secret looked at. Near 0 when the model favours none. */
  readonly bitsBySecret: ReadonlyMap<number, number>;
};

/** Exact: the probability of every number below N. */
export async function numberUniformity(
  engine: Engine,
  N: number,
  format: AnswerFormat = 'decimal',
): Promise<Uniformity> {
  const logprobs = await numberLogprobs(engine, N, format);
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
    conversations.forEach((said, index) => {
      const pair = bitLogprobs(rows, index, engine.shape.vocabulary);
      const mass = Math.exp(pair[0]) + Math.exp(pair[1]);
      valid[index]! *= mass;
      known[index]! += pair[said[position] as 0 | 1];
      entropy += binaryEntropy(Math.exp(pair[0]) / mass) / chosen.length;
    });
    if (position + 1 < k) await decoder.extend(conversations.map((said) => nextTurn(N, said, position)));
  }
  const bitsBySecret = new Map(chosen.map((value, index) => [value, bits(known[index]!, signalBits(N))]));
  return { N, validRate: mean(valid), entropyRatio: entropy / k, bitsBySecret };
}

/** Of answers with these log-probabilities (natural): the probability that it is one of them, and the entropy given that, bits. */
export function spreadOf(logprobs: readonly number[]): { readonly valid: number; readonly entropy: number } {
  const probabilities = logprobs.map(Math.exp);
  const valid = probabilities.reduce((sum, p) => sum + p, 0);
  const entropy = -probabilities.reduce((sum, p) => (p === 0 ? sum : sum + (p / valid) * Math.log2(p / valid)), 0);
  return { valid, entropy };
}

/** Natural log of the probability of each answer below N, its end included and the tail not. */
export async function numberLogprobs(engine: Engine, N: number, format: AnswerFormat): Promise<number[]> {
  const atOnce = 512;
  const found: number[] = [];
  for (let from = 0; from < N; from += atOnce) {
    const examples = Array.from({ length: Math.min(atOnce, N - from) }, (_, index) =>
      numberExample(N, from + index, format),
    );
    const start = examples[0]!.weights.indexOf(1);
    const continuations = examples.map(({ tokens }) => tokens.slice(start, -1));
    const { logprobs } = await engine.forward([{ prompt: examples[0]!.tokens.slice(0, start), continuations }]);
    let at = 0;
    for (const { length } of continuations) {
      found.push(logprobs.subarray(at, at + length).reduce((sum, each) => sum + each, 0));
      at += length;
    }
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

/** What follows the true bit at `position`: the bit itself, its end, the next request. */
function nextTurn(N: number, said: readonly number[], position: number): number[] {
  return [memoryTokenizer.id(String(said[position])), endingId, ...continuationPrompt(bitRequest(N, position + 1))];
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
