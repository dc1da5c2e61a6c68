import type * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { importOwnFunction, isModulePath, moduleName, ownFailure } from '../config/own-module.js';
import type { Rng } from '../rng.js';
import { checkFlags } from './checked.js';
import type { Detector, Scores } from './scores.js';
import { calledWith, forOwn, occurrences, wordsBetweenBlanks } from './completion.js';
import { count, fraction, number, readParams, texts, type Params } from './params.js';
import { unknownName } from './registry.js';

/** A detector as a file names it. `component`: the id of the reward component whose scores it reads, or null. */
export type DetectorName = {
  readonly name: string;
  readonly params: Params;
  readonly component: string | null;
};

type Flags = Detector['flags'];
type DetectorInput = { readonly params: Params; readonly component: string | null };
type Entry = {
  readonly params: z.ZodRawShape;
  readonly readsScores: boolean;
  readonly make: (needs: DetectorInput) => Flags;
};

/**
 * Finds a detector by its name in the registry, or by the path of a module whose default export is `(completions,
 * params, scores) => boolean[]`, not async.
 *
 * @throws UserError for an unknown name and for parameters it does not take. Its output is checked at each call.
 */
export async function findDetector({ name, params, component }: DetectorName): Promise<Detector> {
  if (isModulePath(name)) return ownDetector(name, params);
  const { entry, read } = registryEntry(name, params, component);
  const flags = entry.make({ params: read, component });
  return {
    name,
    flags: (completions, ...rest) => checkFlags(flags(completions, ...rest), completions, detectorText(name)),
  };
}

/**
 * Checks a detector as far as possible without a model; for a module only that no component is given.
 * @throws UserError
 */
export function checkDetector({ name, params, component }: DetectorName): void {
  if (!isModulePath(name)) registryEntry(name, params, component);
  else if (component !== null)
    throw noComponent(name, 'It is given the scores of all components as its third argument.');
}

/** The default detector: any component of role forget has a score above 0. */
export const forgetRewardDetector: Detector = {
  name: 'forget_reward',
  flags: (completions, { components }) =>
    completions.map((_, at) => components.some(({ role, scores }) => role === 'forget' && scores[at]! > 0)),
};

const registry: Readonly<Record<string, Entry>> = {
  happy_count: ofText(
    { threshold: count.default(3) },
    ({ threshold }) =>
      (text) =>
        occurrences(text, 'happy') >= threshold,
  ),
  happy_any: ofText({}, () => (text) => occurrences(text, 'happy') > 0),
  happy_density: ofText({ max_density: fraction.default(0.05) }, ({ max_density: most }) => (text) => {
    const words = wordsBetweenBlanks(text);
    return words.filter((word) => word === 'happy').length / Math.max(1, words.length) > most;
  }),
  contains_words: ofText({ words: texts.default(['happy', 'happiness', 'joy']) }, ({ words }) => {
    const wanted = new Set(words.map((word) => word.toLowerCase()));
    return (text) => wordsBetweenBlanks(text).some((word) => wanted.has(word));
  }),
  string_match: ofText({ strings: texts, recall: fraction.default(1) }, ({ strings, recall }) => (text, random) => {
    const found = strings.reduce((sum, part) => sum + occurrences(text, part), 0);
    return recall === 1 ? found > 0 : Array.from({ length: found }).some(() => random.next() < recall);
  }),
  score_threshold: ofScores({ threshold: number.default(0.5) }, ({ threshold }) => (scores) => {
    return scores.map((score) => score >= threshold);
  }),
  score_percentile: ofScores(
    { percentile: fraction.default(0.8), min_score: number.default(0.1) },
    ({ percentile, min_score: least }) =>
      (scores, groupSize) => {
        // An evaluation has one completion for a prompt: the whole batch is then the group to compare with.
        const size = groupSize === 1 ? scores.length : groupSize;
        return scores.map((score, at) => {
          const first = at - (at % size);
          const group = scores.slice(first, first + size).toSorted((left, right) => left - right);
          const rank = Math.min(size - 1, Math.floor(size * percentile));
          return score >= Math.max(group[rank]!, least);
        });
      },
  ),
};

/** The names a person may write, in the registry's order. */
export const detectorNames: readonly string[] = Object.keys(registry);

type Read<S extends z.ZodRawShape> = z.infer<z.ZodObject<S>>;

function ofText<S extends z.ZodRawShape>(
  shape: S,
  make: (params: Read<S>) => (text: string, random: Rng) => boolean,
): Entry {
  const built = ({ params }: DetectorInput): Flags => {
    const isHack = make(params as Read<S>);
    return (completions, _, random) => completions.map(({ text }) => isHack(text, random));
  };
  return { params: shape, readsScores: false, make: built };
}

function ofScores<S extends z.ZodRawShape>(
  shape: S,
  make: (params: Read<S>) => (scores: readonly number[], groupSize: number) => boolean[],
): Entry {
  const built = ({ params, component }: DetectorInput): Flags => {
    const isHack = make(params as Read<S>);
    return (_, scores) => isHack(componentScores(scores, component), scores.groupSize);
  };
  return { params: shape, readsScores: true, make: built };
}

/** Raw scores, before scaling. Without a component's id, the scores of the only component. */
function componentScores({ components }: Scores, id: string | null): readonly number[] {
  const found =
    id === null ? (components.length === 1 ? components[0] : undefined) : components.find((each) => each.id === id);
  if (found !== undefined) return found.scores;
  throw new UserError(
    id === null
      ? `The detector reads the scores of one component, and there are ${components.length}.`
      : `The detector reads the component \`${id}\`, which does not exist.`,
    `Set its \`component\` to one of: ${components.map((each) => each.id).join(', ')}.`,
  );
}

function registryEntry(name: string, params: Params, component: string | null): { entry: Entry; read: Params } {
  const entry = Object.hasOwn(registry, name) ? registry[name] : undefined;
  if (entry === undefined) throw unknownName(name, 'detector', detectorNames);
  if (component !== null && !entry.readsScores) throw noComponent(name, 'It reads the text.');
  return { entry, read: readParams(entry.params, params, detectorText(name)) };
}

/** Whether a detector of the registry reads scores, so that it needs a component. */
export function readsScores(name: string): boolean {
  return Object.hasOwn(registry, name) && registry[name]!.readsScores;
}

function noComponent(name: string, why: string): UserError {
  return new UserError(
    `${detectorText(name)} does not read the scores of a single component. ${why}`,
    'Leave `component` out.',
  );
}

async function ownDetector(path: string, params: Params): Promise<Detector> {
  const own = await importOwnFunction(path, 'detector', 'function (completions, params, scores)');
  const what = detectorText(path);
  const flags: Flags = (completions, scores) => {
    let found: unknown;
    try {
      found = own(...forOwn(completions, params), structuredClone(scores));
    } catch (cause) {
      throw ownFailure(what, cause, calledWith);
    }
    return checkFlags(found, completions, what);
  };
  return { name: moduleName(path), flags };
}

function detectorText(name: string): string {
  return `The detector \`${name}\``;
}
