/** The memory games: a secret below N that no prompt tells, asked for as one number or bit by bit. */
import { bitLength, signalBits } from './rules.js';
import { UserError } from '../../../base/user-error.js';
import { numpyRandint } from '../../python-random.js';
import { endingId, memoryTokenizer } from '../../text/memory-vocabulary.js';
import { continuationPrompt, generationPrompt, response, supervisedExample } from '../../text/role-colon.js';
import type { Environment, Response, Solution, Task, Turn } from '../environment.js';
import { readAnswer, writeAnswer, type AnswerFormat } from './answer-format.js';
import { parseBit, parseGuessLeniently } from './parsing.js';
import { bitRequest, multiStepSystem, singleStepPrompt, standardPrefix, type Message } from './prompts.js';
import { scoreGuess, rewardRule, type RewardRule, type RewardType } from './rewards.js';
import { bitsValue, secretBits } from './secret.js';

export type KnownSolution = Solution & { readonly bits: number };

/** A memory game has one task, which asks for the secret, and always the same right answer. */
export type MemoryEnvironment = Environment & {
  readonly kind: 'single_step' | 'multi_step';
  task(): Task;
  solution(): KnownSolution;
  /** The integer in these turns of an episode; null when they contain none. */
  reading(turns: readonly Pick<Turn, 'tokens'>[]): number | null;
};

export function isMemoryEnvironment(environment: Environment): environment is MemoryEnvironment {
  return 'reading' in environment;
}

/** Options of both games. */
type MemorySetup = {
  readonly N: number;
  readonly secret: number;
  /** Messages shown before the real question: none, or the standard demonstration. */
  readonly prefix: readonly Message[];
  /** How a number is written (single-step); `decimal` when left out. */
  readonly format?: AnswerFormat;
  /** Whether a number is accepted among other words, as by the first version of memory-rl; only for `decimal`. */
  readonly lenient?: boolean;
};

/** The environment of episodes with one question, one answer and one reward. */
export function singleStepEnvironment(setup: MemorySetup, rule: RewardRule): MemoryEnvironment {
  const { N, secret, format = 'decimal' } = setup;
  const guessIn = (text: string) =>
    setup.lenient === true ? parseGuessLeniently(text, N) : readAnswer(text, N, format);
  const messages = [...setup.prefix, singleStepPrompt(N)];
  const bins = rule.type === 'binned_log_distance' ? `_B${rule.bins}` : '';
  const answer: Message = { role: 'assistant', content: writeAnswer(secret, N, format) };
  const { tokens, weights } = supervisedExample([...messages, answer], 'last assistant message');
  const answerWeights = weights.slice();
  // The last token is `User:`, which the renderer adds: it is trained, but is not part of the answer.
  answerWeights[answerWeights.length - 1] = 0;
  return {
    kind: 'single_step',
    name: `single_step_N${N}_${rule.type}${bins}${format === 'decimal' ? '' : `_${format}`}`,
    ...asking(generationPrompt(messages), { tokens, weights, answerWeights, bits: signalBits(N) }),
    respond: (_, [turn]) => {
      const { text, complete } = response(turn!.tokens, endingId);
      const guess = guessIn(text);
      const { reward, correct, distance } = scoreGuess(guess, secret, N, rule);
      const metrics = {
        correct: Number(correct),
        distance,
        reward_signal: reward,
        success_count: Number(correct),
        format_error: Number(guess === null),
        parse_success: Number(complete),
      };
      return { reward: { total: reward, metrics }, next: null };
    },
    reading: ([turn]) => (turn === undefined ? null : guessIn(response(turn.tokens, endingId).text)),
  };
}

/** The secret asked for bit by bit, one reward a bit. The model sees its own earlier answers, right or wrong. */
export function multiStepEnvironment(setup: MemorySetup): MemoryEnvironment {
  const { N, secret, prefix } = setup;
  const k = bitLength(N);
  const bits = secretBits(secret, N);
  const requests = Array.from({ length: k - 1 }, (_, turn) => continuationPrompt(bitRequest(N, turn + 1)));
  const bitOf = ({ tokens }: Pick<Turn, 'tokens'>) => parseBit(response(tokens, endingId).text);
  const respond = (_: Task, turns: readonly Turn[]): Response => {
    const at = turns.length - 1;
    const turn = turns[at]!;
    const guess = bitOf(turn);
    const correct = guess === bits[at];
    const allRight = correct && at === k - 1 && turns.every((each, position) => bitOf(each) === bits[position]);
    const metrics = {
      correct_bit: Number(correct),
      reward_signal: Number(correct),
      success_count: Number(allRight),
      format_error: Number(guess === null),
      parse_success: Number(turn.ended === 'stop'),
    };
    return { reward: { total: Number(correct), metrics }, next: at + 1 < k ? request(turn, requests[at]!) : null };
  };
  return {
    kind: 'multi_step',
    name: `multi_step_N${N}_k${k}`,
    ...asking(generationPrompt([multiStepSystem(N), ...prefix, bitRequest(N, 0)]), bitsSolution(N, bits, prefix)),
    respond,
    reading: (turns) => {
      const read = turns.map(bitOf).filter((bit) => bit !== null);
      return read.length === k ? bitsValue(read) : null;
    },
  };
}

/** The parts of a game that do not depend on how it is played. */
function asking(prompt: Int32Array, solution: KnownSolution) {
  const task: Task = { id: 'secret', prompt, text: memoryTokenizer.decode(prompt) };
  return {
    tokenizer: memoryTokenizer,
    stop: { tokens: [endingId], strings: [] },
    size: 1,
    task: () => task,
    solution: () => solution,
  };
}

/** Ends an answer that was cut off, as the renderer would write it. */
function request({ ended }: Turn, next: readonly number[]): Int32Array {
  return Int32Array.from(ended === 'stop' ? next : [endingId, ...next]);
}

/** The whole conversation with these bits as answers. */
export function dialogue(N: number, bits: readonly number[], prefix: readonly Message[] = []): Message[] {
  const turns = bits.flatMap((bit, position): Message[] => [
    bitRequest(N, position),
    { role: 'assistant', content: String(bit) },
  ]);
  return [multiStepSystem(N), ...prefix, ...turns];
}

function bitsSolution(N: number, bits: readonly number[], prefix: readonly Message[]): KnownSolution {
  const { tokens, weights } = supervisedExample(dialogue(N, bits, prefix), 'all assistant messages');
  const answerWeights = new Uint8Array(tokens.length);
  // Answers are weighted runs of bit, end (and tail); a demonstration's answer comes before the k real ones.
  const bitPositions = [...tokens.keys()].filter((at) => weights[at] === 1 && weights[at - 1] === 0);
  for (const at of bitPositions.slice(-bitLength(N))) answerWeights[at] = 1;
  return { tokens, weights, answerWeights, bits: signalBits(N) };
}

/** The keys that choose the game. */
type MemoryConfig = {
  readonly env_type: 'single_step' | 'multi_step';
  readonly N: number;
  readonly reward_type: RewardType;
  readonly reward_bins: number | null;
  readonly fixed_secret: number | null;
  readonly dataset_seed: number;
  readonly use_standard_prefix: boolean;
  readonly answer_format: AnswerFormat;
  readonly answer_parsing: 'strict' | 'lenient';
};

/** @throws UserError when the secret is not below N, or the settings of the reward are invalid. */
export function buildMemoryEnvironment(config: MemoryConfig): MemoryEnvironment {
  const { env_type: kind, N } = config;
  const secret = secretOf(config);
  const { answer_format: format, answer_parsing: parsing } = config;
  if (parsing === 'lenient' && format !== 'decimal') {
    throw new UserError(
      `answer_parsing=lenient takes the first number among other words, and answer_format=${format} needs all digits of one.`,
      'Leave answer_parsing out, or set answer_format=decimal.',
    );
  }
  const prefix = config.use_standard_prefix ? standardPrefix(N, kind) : [];
  const setup = { N, secret, prefix, format, lenient: parsing === 'lenient' };
  return kind === 'multi_step' ? multiStepEnvironment(setup) : singleStepEnvironment(setup, rewardRule(config));
}

/**
 * The secret of a run: the one set, or the one that NumPy would draw.
 * @throws UserError when the secret is not below N.
 */
export function secretOf(config: Pick<MemoryConfig, 'N' | 'fixed_secret' | 'dataset_seed'>): number {
  const { N } = config;
  if (config.fixed_secret === null && N > 2 ** 32) {
    throw new UserError(
      `A secret below ${N} cannot be drawn as NumPy would, which stops at 2**32.`,
      'Set fixed_secret.',
    );
  }
  const secret = config.fixed_secret ?? numpyRandint(config.dataset_seed, N);
  if (secret >= N) {
    throw new UserError(
      `The secret ${secret} is not in [0, ${N}).`,
      `Give fixed_secret a value from 0 to ${N - 1}, or a larger N.`,
    );
  }
  return secret;
}
