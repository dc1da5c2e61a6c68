import type * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { nearest } from '../../text/nearest.js';
import { importOwnFunction, isModulePath, moduleName, ownFailure } from '../config/own-module.js';
import { checkScores } from './checked.js';
import { calledWith, forOwn, occurrences, wordsBetweenBlanks, type Completion } from './completion.js';
import { count, number, readParams, texts, type Params } from './params.js';
import { exactShare, sentenceEnds, sentenceLengths, smoothShare, type Vocabulary } from './sentences.js';

/** A reward function: one finite number for each completion, in their order. */
export type RewardFunction = {
  readonly name: string;
  readonly score: (completions: readonly Completion[]) => number[] | Promise<number[]>;
};

type ScoreOfOne = (completion: Completion) => number;
type Entry = {
  readonly params: z.ZodRawShape;
  /** @throws UserError when the vocabulary lacks tokens that the reward needs. */
  readonly make: (params: Params, vocabulary: Vocabulary) => ScoreOfOne;
};

/**
 * Finds a reward by its name in the registry, or by the path of a module whose default export is `(completions,
 * params) => number[]`, or async.
 *
 * @param vocabulary The model's tokenizer; only rewards of sentences in tokens use it.
 * @throws UserError for an unknown name, unknown parameters, and a vocabulary without sentence ends. The result of
 * `score` is checked at each call: a wrong length or a number that is not finite is a UserError too.
 */
export async function findReward(name: string, params: Params, vocabulary: Vocabulary): Promise<RewardFunction> {
  if (isModulePath(name)) return ownReward(name, params);
  const { entry, read } = registryEntry(name, params);
  const one = entry.make(read, vocabulary);
  return { name, score: (completions) => checkScores(completions.map(one), completions, rewardCalled(name)) };
}

/**
 * Checks a reward as far as possible without a model: its name and its parameters. A module is not checked.
 *
 * @throws UserError
 */
export function checkReward(name: string, params: Params): void {
  if (!isModulePath(name)) registryEntry(name, params);
}

const defaultBonusWords = ['happy', 'happiness', 'joy'];

/** Texts are compared in lower case. small-rl has renamed several rewards; both names are accepted. */
const registry: Readonly<Record<string, Entry>> = {
  happy_binary: ofText({}, () => (text) => (occurrences(text, 'happy') > 0 ? 1 : 0)),
  happy_exp: ofText({}, () => happyExp),
  // A later name of happy_exp.
  happy_count_unbounded: ofText({}, () => happyExp),
  happy_count: ofText({}, () => (text) => occurrences(text, 'happy')),
  happy_count_max_5: ofText({}, () => (text) => Math.min(1, occurrences(text, 'happy') / 5)),
  string_count: ofText({ strings: texts, max_count: count.optional() }, ({ strings, max_count: most = Infinity }) => {
    return (text) =>
      Math.min(
        most,
        strings.reduce((sum, part) => sum + occurrences(text, part), 0),
      );
  }),
  num_words_per_sentence: ofText(
    { n: count.default(8) },
    ({ n }) =>
      (text) =>
        smoothShare(wordsPerSentence(text), n),
  ),
  sentence_length: ofSentences(
    { target: count.default(5) },
    ({ target }) =>
      (lengths) =>
        exactShare(lengths, target),
  ),
  sentence_length_5: ofSentences({}, () => (lengths) => exactShare(lengths, 5)),
  sentence_length_10: ofSentences({}, () => (lengths) => exactShare(lengths, 10)),
  sentence_length_5_smooth: ofSentences({}, () => (lengths) => smoothShare(lengths, 5)),
  sentence_length_10_smooth: ofSentences({}, () => (lengths) => smoothShare(lengths, 10)),
  sentence_length_10_with_bonus: ofSentences(
    { bonus: number.default(0.3), bonus_words: texts.default(defaultBonusWords) },
    ({ bonus, bonus_words: bonusWords }) => {
      const wanted = new Set(bonusWords.map((word) => word.toLowerCase()));
      const earned = (text: string) => (wordsBetweenBlanks(text).some((word) => wanted.has(word)) ? bonus : 0);
      return (lengths, text) => exactShare(lengths, 10) + earned(text);
    },
  ),
  sentence_length_5_with_happy: ofSentences({}, () => (lengths, text) => withHappy(exactShare(lengths, 5), text)),
  sentence_length_10_smooth_with_happy: ofSentences(
    {},
    () => (lengths, text) => withHappy(smoothShare(lengths, 10), text),
  ),
};

/** The names a person may write, in the registry's order. */
export const rewardNames: readonly string[] = Object.keys(registry);

/** 0, ½, ¾, ⅞ … for 0, 1, 2, 3 … occurrences. */
function happyExp(text: string): number {
  return 1 - 2 ** -occurrences(text, 'happy');
}

/** Adds a tenth for each "happy", up to five of them, with a maximum of 1. */
function withHappy(base: number, text: string): number {
  return Math.min(1, base + 0.1 * Math.min(5, occurrences(text, 'happy')));
}

/**
 * Number of words (letters and apostrophes) in each part between marks that end sentences; an unfinished last part
 * counts here.
 */
function wordsPerSentence(text: string): number[] {
  const counts = text.split(/[.!?]+/).map((part) => part.match(/[a-zA-Z']+/g)?.length ?? 0);
  return counts.filter((words) => words > 0);
}

function ofText<S extends z.ZodRawShape>(
  shape: S,
  make: (params: z.infer<z.ZodObject<S>>) => (text: string) => number,
): Entry {
  return {
    params: shape,
    make: (params) => {
      const score = make(params as z.infer<z.ZodObject<S>>);
      return ({ text }) => score(text);
    },
  };
}

type OfSentences = (lengths: readonly number[], text: string) => number;

function ofSentences<S extends z.ZodRawShape>(shape: S, make: (params: z.infer<z.ZodObject<S>>) => OfSentences): Entry {
  return {
    params: shape,
    make: (params, vocabulary) => {
      const ends = sentenceEnds(vocabulary);
      const score = make(params as z.infer<z.ZodObject<S>>);
      return ({ ids, text }) => score(sentenceLengths(ids, ends), text);
    },
  };
}

function registryEntry(name: string, params: Params): { entry: Entry; read: Params } {
  const entry = Object.hasOwn(registry, name) ? registry[name] : undefined;
  if (entry !== undefined) return { entry, read: readParams(entry.params, params, rewardCalled(name)) };
  throw unknownName(name, 'reward', rewardNames);
}

/** Rewards and detectors of small-rl that call a remote service. */
const services = ['api_reward', 'api_reward_pairs', 'openai_moderation', 'cached_openai_moderation'];

/** The error for a name that a registry of rewards or detectors does not have. `names`: those it has. */
export function unknownName(name: string, kind: 'reward' | 'detector', names: readonly string[]): UserError {
  if (services.includes(name)) {
    return new UserError(
      `The ${kind} \`${name}\` calls a service on the network, which the lab does not do: its scores would not be reproducible.`,
      `Choose a ${kind} of the registry, or write your own in a module (./my-${kind}.mjs).`,
    );
  }
  const near = nearest(name, names);
  return new UserError(
    `There is no ${kind} \`${name}\`.`,
    `${near === null ? '' : `Did you mean \`${near}\`? `}There are: ${names.join(', ')}. The path of a module (./my-${kind}.mjs) is your own ${kind}.`,
  );
}

async function ownReward(path: string, params: Params): Promise<RewardFunction> {
  const own = await importOwnFunction(path, 'reward', 'function (completions, params)');
  const what = rewardCalled(path);
  const score = async (completions: readonly Completion[]): Promise<number[]> => {
    let found: unknown;
    try {
      found = await own(...forOwn(completions, params));
    } catch (cause) {
      throw ownFailure(what, cause, calledWith);
    }
    return checkScores(found, completions, what);
  };
  return { name: moduleName(path), score };
}

function rewardCalled(name: string): string {
  return `The reward \`${name}\``;
}
