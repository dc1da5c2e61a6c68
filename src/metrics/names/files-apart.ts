import { basename } from 'node:path';
import { counterNamed } from '../counters.js';
import type { FoundSource } from '../detection.js';
import { isEvaluationSet, isTrainingSet } from '../formats/event-tags.js';

/** Words in the names of files that say nothing of their content. */
const plain = /^(metrics?|logs?|logger|events?|history|progress|scalars?|results?|stats?|data|output)$/i;
/** Dates and times, by which the files of attempts differ. */
const times = /\d{4}-?\d\d-?\d\d(?:[T_ -]?\d\d-?\d\d-?\d\d)?|\d\d-\d\d-\d\d|\d{8,}/g;
/** `step_100`, `eval-3`: a file for each, one after the other. */
const numbered = /([A-Za-z]+)[_.-]?\d+/g;
/** The name of a run for which W&B has drawn one. */
const drawn = /^[a-z0-9]{8}$/;
/** Parts at the end of a path that tell which data set a file is about. */
const TELLING = 2;

/**
 * Whether two sources that have a metric of the same name have a curve of it each. Files in one format about different data sets have;
 * those of several attempts, or for one step each, share one. Formats that are written beside each other say the same, unless their files name two data sets.
 * Null: only the values tell.
 */
export function areApart(one: FoundSource, other: FoundSource): boolean | null {
  const [facts, others] = [factsOf(one), factsOf(other)];
  if (one.format.isSnapshot === true || other.format.isSnapshot === true) return false;
  if (familyOf(one) !== familyOf(other)) return facts.set !== others.set && facts.isOfSet && others.isOfSet;
  if (areOfOthers(facts, others)) return true;
  const isLater = one.attempt !== other.attempt && facts.base === others.base;
  return isLater || facts.kind === others.kind ? false : null;
}

/** Whether two files are of other data sets, or of other runs. Each attempt at a run without a name may have drawn another one. */
function areOfOthers({ set, run }: Facts, { set: otherSet, run: otherRun }: Facts): boolean {
  if (set !== otherSet) return true;
  return run !== otherRun && [run, otherRun].every((name) => name !== null && !drawn.test(name));
}

/** Whether a file is about the evaluation, by its name. */
export function isOfEvaluation(source: FoundSource): boolean {
  return factsOf(source).set !== '';
}

/** Whether a file or its folder has this name, or one with such a word. */
export function isNamedBy(source: FoundSource, name: string): boolean {
  const text = `/${endOf(source).join('/')}/`;
  const at = text.indexOf(name);
  return at > 0 && /[/_.-]/.test(text[at - 1]!) && /[/_.-]/.test(text[at + name.length]!);
}

/** What tells the files apart, one text for each: parts of their paths, or words of these. One that has only plain names has ''. */
export function partsApart(sources: readonly FoundSource[]): string[] {
  const runs = sources.map((source) => factsOf(source).run ?? '');
  const ends = unlike(sources.map(partsOf));
  const isShort = ends.every((parts) => parts.length <= 1);
  const words = unlike(ends.map(([name = '']) => (isShort ? wordsOf(name) : [])));
  const choices = [
    ...(isShort ? [words.map((each) => telling(each).join('_')), words.map((each) => each.join('_'))] : []),
    ...[ends.map((parts) => telling(parts).join('/')), ends.map((parts) => parts.join('/'))],
  ];
  const isGood = (texts: readonly string[]) =>
    new Set(texts).size === texts.length && texts.every((text) => !/^\d/.test(text));
  const named = runs.includes('') ? [] : [runs];
  return [...named, ...choices].find(isGood) ?? sources.map(({ places }) => places.at(-1)!);
}

/** The lists without what all have at the beginning and at the end. */
function unlike(all: readonly (readonly string[])[]): (readonly string[])[] {
  const [first = []] = all;
  const least = Math.min(...all.map(({ length }) => length));
  let from = 0;
  while (from < least && all.every((parts) => parts[from] === first[from])) from += 1;
  let end = 0;
  while (from + end < least && all.every((parts) => parts.at(-1 - end) === first.at(-1 - end))) end += 1;
  return all.map((parts) => parts.slice(from, parts.length - end));
}

function telling(words: readonly string[]): string[] {
  return words.filter((word) => !plain.test(word));
}

function familyOf({ format }: FoundSource): string {
  return format.family ?? format.name;
}

/**
 * What the path of a source says. `set`: the data set of an evaluation, or ''; `isOfSet`: it names that or the training; `kind`: the
 * path without times and numbers by which files follow each other; `base`: its last part; `run`: of the writer, null: not said.
 */
type Facts = {
  readonly set: string;
  readonly isOfSet: boolean;
  readonly kind: string;
  readonly base: string;
  readonly run: string | null;
};

/** By their list of paths, which is replaced as files are found. */
const known = new WeakMap<readonly string[], Facts>();

function factsOf(source: FoundSource): Facts {
  const before = known.get(source.places);
  if (before !== undefined) return before;
  const words = endOf(source).flatMap(wordsOf);
  const set = words.findLast(isEvaluationSet)?.toLowerCase() ?? '';
  const facts = {
    ...{ set, isOfSet: set !== '' || words.some(isTrainingSet) },
    ...{ kind: kindOf(source), base: endOf(source).at(-1) ?? '' },
    run: source.format.runIn?.(basename(source.paths.at(-1) ?? '')) ?? null,
  };
  known.set(source.places, facts);
  return facts;
}

function kindOf(source: FoundSource): string {
  const isOfOne = (word: string) => counterNamed(word) !== null || isEvaluationSet(word);
  const text = partsOf(source).join('/').replaceAll(times, 'T');
  return text.replaceAll(numbered, (whole, word: string) => (isOfOne(word) ? `${word}N` : whole));
}

function wordsOf(name: string): string[] {
  return name.split(/[_.\s-]+/).filter((word) => word !== '');
}

/** The parts of a path; the file's name without its ending, or none where it only says who wrote it. */
function partsOf({ places, format }: FoundSource): string[] {
  const parts = places
    .at(-1)!
    .split('/')
    .filter((part) => part !== '');
  const name = parts.pop() ?? '';
  return format.writerIn === undefined ? [...parts, name.replace(/(?!^)\.\w+$/, '')] : parts;
}

/** The end of a path, which tells what its file is about. */
function endOf(source: FoundSource): string[] {
  return partsOf(source).slice(-TELLING);
}
