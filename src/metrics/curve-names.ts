import { basename } from 'node:path';
import { counterNamed, isAxis } from './row-numbers.js';
import { type Line, lowerBound } from './line.js';
import type { Source } from './source.js';
import type { FoundSource } from './detection.js';
import { isEvaluationSet, isTrainingSet } from './formats/event-tags.js';

/** One curve: its name, and the sources that have it under this key, in order of precedence. */
type Named = { readonly name: string; readonly key: string; readonly sources: readonly Source[] };

/**
 * What has been found out, which holds while files are read again: ids of sources by key, and pairs of them by values. `isRenamed`:
 * since the last question.
 */
type Found = {
  isRenamed: boolean;
  readonly holders: Map<string, Set<string>>;
  readonly apart: Set<string>;
  readonly alike: Set<string>;
};

/** Two curves with so many equal points at their end are the same. */
const ALIKE_POINTS = 8;
/** Limit on the curves of one key; further files count as the last of them, and are told as not used. */
const MOST_CURVES = 32;

/**
 * Names the curves of a run. A metric of several sources is one curve, taken from the first of them, or it is a curve in each, see
 * `areApart`: then the part of the path that tells the files apart is a part of the name (`train/loss`, `eval/loss`), and the bare
 * name means the curve of the training. Counters and times are axes, not curves, and keep their names.
 */
export class CurveNames {
  readonly #sources: readonly Source[];
  readonly #places: ReadonlyMap<Source, number>;
  /** The sources of each key. */
  readonly #holders = new Map<string, Set<Source>>();
  readonly #curves = new Map<string, readonly Named[]>();
  readonly #named = new Map<string, Named>();
  readonly #found: Found;
  /** Sources that may have new keys; keys whose curves have been the same so far. */
  readonly #grown: Set<Source>;
  readonly #doubtful = new Set<string>();

  /** @param sources In order of precedence. @param former The names so far. */
  constructor(sources: readonly Source[], former: CurveNames | null) {
    this.#sources = sources;
    this.#places = new Map(sources.map((source, place) => [source, place]));
    this.#grown = new Set(sources);
    const none: Found = { isRenamed: false, holders: new Map(), apart: new Set(), alike: new Set() };
    this.#found = former === null ? none : former.#found;
  }

  /** Whether curves that had been told under another name have got a new one since the last call. */
  renamed(): boolean {
    this.#catchUp();
    const { isRenamed } = this.#found;
    this.#found.isRenamed = false;
    return isRenamed;
  }

  grew(source: Source): void {
    if (this.#places.has(source)) this.#grown.add(source);
  }

  /** Notes the keys of a row. */
  took(source: Source, row: object): void {
    if (!this.#places.has(source)) return;
    for (const key in row) if (this.#claim(key, source)) this.#name(key);
  }

  /** The curve of a source's metric. */
  of(source: Source, key: string): Named | undefined {
    this.#catchUp();
    const curves = this.#curves.get(key);
    return curves?.length === 1 ? curves[0] : curves?.find(({ sources }) => sources.includes(source));
  }

  /** The curve with a name. A name of several means the one of the training; the beginning of another may be that of its file. */
  find(name: string): Named | undefined {
    this.#catchUp();
    const known = this.#named.get(name) ?? this.#meant(name);
    // The key may have been only in rows that were replaced.
    if (known === undefined || known.sources.some((source) => source.has(known.key))) return known;
    this.#holders.clear();
    this.#curves.clear();
    this.#named.clear();
    for (const source of this.#sources) this.#grown.add(source);
    this.#catchUp();
    return this.#named.get(name) ?? this.#meant(name);
  }

  /** The curves among which a name does not tell; none: it is clear. */
  among(name: string): readonly Named[] {
    this.#catchUp();
    return this.#named.has(name) ? [] : (this.#curves.get(name) ?? []);
  }

  #meant(name: string): Named | undefined {
    const own = this.#curves.get(name);
    if (own !== undefined) return own.find(({ sources }) => !isOfEvaluation(sources[0]!.found)) ?? own[0];
    for (let at = name.indexOf('/'); at > 0; at = name.indexOf('/', at + 1)) {
      const among = this.#curves.get(name.slice(at + 1)) ?? [];
      const fitting = among.filter(({ sources }) => isNamedBy(sources[0]!.found, name.slice(0, at)));
      if (fitting.length === 1) return fitting[0];
    }
    return undefined;
  }

  #catchUp(): void {
    if (this.#grown.size === 0) return;
    const keys = new Set(this.#doubtful);
    for (const source of this.#grown) for (const key of source.known()) if (this.#claim(key, source)) keys.add(key);
    this.#grown.clear();
    for (const key of keys) this.#name(key);
  }

  /** Notes that a source has a key; false: that is known. */
  #claim(key: string, source: Source): boolean {
    const known = this.#holders.get(key);
    if (known?.has(source) === true) return false;
    if (known === undefined) this.#holders.set(key, new Set([source]));
    else known.add(source);
    return true;
  }

  /** Names the curves of a key. */
  #name(key: string): void {
    const before = this.#curves.get(key) ?? [];
    const groups = this.#grouped(key);
    const parts = groups.length === 1 ? [''] : partsApart(groups.map(([first]) => first!.found));
    for (const curve of before) if (this.#named.get(curve.name) === curve) this.#named.delete(curve.name);
    const curves = groups.map((sources, place) => {
      const name = parts[place] === '' ? key : `${parts[place]}/${key}`;
      const isTaken = name !== key && this.#named.has(name);
      return { name: isTaken ? `${sources[0]!.found.places.at(-1)}/${key}` : name, key, sources };
    });
    this.#curves.set(key, curves);
    const others = curves.flatMap(({ name }) => this.#named.get(name)?.key ?? []);
    for (const curve of curves) this.#named.set(curve.name, curve);
    for (const other of others) this.#name(other);
    if (before.length > 0 && before.length !== curves.length) this.#hold(key, groups.flat());
  }

  /** Keeps in mind which sources have a key, so that their curves have these names from the first row on when they are read again. */
  #hold(key: string, sources: readonly Source[]): void {
    const held = this.#found.holders.get(key);
    const ids = sources.map(({ found }) => found.id);
    this.#found.isRenamed ||= ids.some((id) => held?.has(id) !== true);
    this.#found.holders.set(key, new Set(ids));
  }

  /** The sources of a key by curve. */
  #grouped(key: string): Source[][] {
    const held = this.#found.holders.get(key);
    const again = held === undefined ? [] : this.#sources.filter(({ found }) => held.has(found.id));
    const holders = [...new Set([...this.#holders.get(key)!, ...again])];
    holders.sort((one, other) => this.#places.get(one)! - this.#places.get(other)!);
    const groups: Source[][] = [];
    for (const source of holders) {
      const isCurve = !isAxis(key) && groups.length < MOST_CURVES;
      const group = isCurve ? groups.find(([first]) => !this.#areApart(first!, source, key)) : groups.at(-1);
      if (group === undefined) groups.push([source]);
      else group.push(source);
    }
    return groups;
  }

  #areApart(one: Source, other: Source, key: string): boolean {
    const byPath = areApart(one.found, other.found);
    if (byPath !== null) return byPath;
    const pair = JSON.stringify([key, one.found.id, other.found.id]);
    if (this.#found.apart.has(pair)) return true;
    return !this.#found.alike.has(pair) && this.#differ(one, other, { key, pair });
  }

  #differ(one: Source, other: Source, { key, pair }: { readonly key: string; readonly pair: string }): boolean {
    this.#doubtful.add(key);
    const [line, otherLine] = [one.table.series(key), other.table.series(key)];
    // Of a source that is being read, the newest points are not there yet.
    if (one.more || other.more || line.x.length === 0 || otherLine.x.length === 0) return false;
    const alike = alikePoints(line, otherLine);
    if (alike > 0 && alike < ALIKE_POINTS) return false;
    this.#doubtful.delete(key);
    (alike === 0 ? this.#found.apart : this.#found.alike).add(pair);
    return alike === 0;
  }
}

/** Number of equal points of two curves, backwards from where the shorter one ends; 0: they differ. */
function alikePoints(one: Line, other: Line): number {
  const end = Math.min(one.x.at(-1)!, other.x.at(-1)!);
  const [last, otherLast] = [one, other].map(({ x }) => lowerBound(x, x.length, end)) as [number, number];
  let count = 0;
  for (; count < ALIKE_POINTS; count++) {
    const [at, otherAt] = [last - count, otherLast - count];
    if (at < 0 || otherAt < 0) break;
    if (one.x[at] !== other.x[otherAt] || !Object.is(one.y[at], other.y[otherAt])) return 0;
  }
  return count;
}

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
function areApart(one: FoundSource, other: FoundSource): boolean | null {
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
function partsApart(sources: readonly FoundSource[]): string[] {
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

/** Facts of sources by their list of paths, which is replaced as files are found. */
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
