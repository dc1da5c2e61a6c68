import { inWords, isResultName } from '../../../contract/metric-names.js';
import { counterNamed } from '../../row-numbers.js';

const setWords = 'train training test testing val valid validate validation eval evaluation dev'.split(' ');
const sets: ReadonlySet<string> = new Set(setWords);
/** Words that may be before or after the word of a counter. */
const besideCounter: ReadonlySet<string> = new Set([
  ...setWords,
  ...'loss metrics stats results completed finished starting beginning learning running learner global current end'.split(
    ' ',
  ),
  ...'of at in on after data num number inner'.split(' '),
]);
/** Words between a word and a number that is not its value. */
const prose: ReadonlySet<string> = new Set(
  'from to for than with by after took takes using rank gpu version file line port saving loading be at on in over and has have had improved'.split(' '), // prettier-ignore
);
const ofSettings =
  /(?:^|[\s_])(?:config\w*|args|arguments|\w*params|\w*parameters|settings|options|command|python\d?)$/i;
/** How far a training is to go. */
const limit = /^max[_ ]?(?:epoch|step|iter|iteration|episode|timestep|update)s?$/i;
/**
 * The meaning of the words before a number. `counter`: the key of the counter that they name. `set`: the evaluated set that they
 * name; `ownSet`: also the training set; `namesSet`: also within a word (`loss_val`). `isText`: they are text if no sign follows;
 * `isTextBeforeSign`: even if one does.
 */
export type PrintedName = {
  name: string;
  first: string;
  last: string;
  counter: string | null;
  isSet: boolean;
  set: string;
  ownSet: string;
  isMetric: boolean;
  isResult: boolean;
  namesSet: boolean;
  isOfSettings: boolean;
  isText: boolean;
  isTextBeforeSign: boolean;
};

/** Results by name, as programs print the same few names repeatedly. */
const known = new Map<string, PrintedName>();
const MOST_KNOWN = 4096;

export function printedName(written: string): PrintedName {
  const before = known.get(written);
  if (before !== undefined) return before;
  if (known.size >= MOST_KNOWN) known.clear();
  const found = namedBy(written);
  known.set(written, found);
  return found;
}

function namedBy(written: string): PrintedName {
  const name = written.replace(/\s+/g, ' ').replace(/ (?:is|was|are)$/, '');
  const words = name.split(' ');
  const [first, last] = [words[0]!, words.at(-1)!];
  const isMetric = isResultName(inWords(name)) || /\b(?:lr|norm|cost|entropy|kl)\b/i.test(name);
  const isText = words.some((each) => prose.has(each));
  return {
    name,
    first,
    last,
    counter: counterOf(name),
    isSet: isSet(name),
    set: inWords(name).split(' ').find((each) => sets.has(each) && !each.startsWith('train')) ?? '', // prettier-ignore
    ownSet: words.find(isSet) ?? '',
    isMetric,
    isResult: isResultName(inWords(name)),
    namesSet: inWords(name).split(' ').some(isSet), // prettier-ignore
    isOfSettings: ofSettings.test(name),
    isText: isText || words.length > 4,
    // `Resuming from step: 1000` is not a counter.
    isTextBeforeSign:
      limit.test(name) || prose.has(last) || (isText && wordCounter(last) !== null) || (words.length > 6 && !isMetric),
  };
}

/** The key of the counter with this name: `Episode Num`, `completed step`, `Epoch(train)`. Null: it is none. */
function counterOf(name: string): string | null {
  let found: string | null = null;
  for (const each of name.toLowerCase().split(/[\s()]+/)) {
    if (each === '' || besideCounter.has(each)) continue;
    const key = wordCounter(each);
    if (key === null || found !== null) return null;
    found = key;
  }
  // In `Reward: 12, Steps: 30` the steps are the length of an episode, and `epochs: 10` is a setting.
  return /^(?:steps|epochs)$|\bloss$|^num\b.*s$/i.test(name) ? null : found;
}

/**
 * The key of the counter with this name in a row. Counts of samples, frames and tokens are not among them: they order the rows of a
 * line that has no other counter, as they do in a file.
 */
function wordCounter(word: string): string | null {
  if (word === 'steps') return 'batch';
  const counter = counterNamed(word);
  if (counter === null || counter.is === 'time' || /^(?:n_?)?(?:epoch|episode)s$/.test(word)) return null;
  return counter.key === 'step' && counter.is === 'coarse' && !ofEnvironment.test(word) ? null : counter.key;
}

const ofEnvironment = /time_?step|policy_?step|^t_env$/;

function isSet(word: string): boolean {
  return sets.has(word.toLowerCase());
}

const digits = String.raw`(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)`;
/** A number as programs print it: source of a regular expression. */
export const numberText = String.raw`[-+]?(?:${digits}|(?:nan|NaN|NAN|[Ii]nf(?:inity)?)(?!\w))`;

const rates = 'it|tok|tokens|words|samples|seq|steps|im|img|images|frames|ex';
/** Units that may follow a number, of which only K, M, B and T scale it. */
export const unitText = String.raw`(?: ?%| ?(?:[KMGTP]i?B|B|ms|us|µs|s|sec|secs|seconds?|min|mins|minutes|m|h|hours|dB|W|x|(?:${rates})/s(?:ec)?|s/(?:${rates})|[GT]?FLOPS?|[GT]FLOPs?(?:/s)?)|[KkMGBT])(?![\w/])`;

const scales: Readonly<Record<string, number>> = { K: 1e3, k: 1e3, M: 1e6, G: 1e9, B: 1e9, T: 1e12 };

/** The number in a text, scaled by its unit: `1.2M`. NaN: it is none. */
export function toNumber(text: string, unit = ''): number {
  const number = Number(text.includes(',') ? text.replaceAll(',', '') : text);
  if (Number.isNaN(number))
    return /^[-+]?inf(?:inity)?$/i.test(text) ? (text.startsWith('-') ? -Infinity : Infinity) : NaN;
  const scale = unit === '' ? undefined : scales[unit];
  // 0.45 times 1e9 is not a round number in floating point.
  return scale === undefined ? number : Number((number * scale).toPrecision(15));
}

/** `end`: the place behind the closing bracket. */
type PrintedGroup = { pairs: readonly (readonly [string, number])[]; end: number };

/** Limit on the length of a group, characters. */
const LONGEST = 600;
const openAt = /[[{](?=[A-Za-z])|(?:(?<= is)|:) ?\((?=[\w ]{1,40}: )/y;
const closing: Readonly<Record<string, string>> = { '[': ']', '{': '}', '(': ')' };
/** Pairs are separated by commas or, where names have no spaces, by these. */
const between = /,|\s+(?=[\w./-]{1,60}[=:])/;
const pair = new RegExp(String.raw`^\s*([\w#./ -]{1,60}?)\s*[:=]\s*(${numberText})(${unitText})?\s*$`);

/**
 * Names and values in the brackets that open behind a label: `[loss=0.25, over 100 frames]`, `: (min: 0.0, avg: 0.5)`. Null: there
 * are none.
 */
export function groupIn(text: string, at: number): PrintedGroup | null {
  openAt.lastIndex = at;
  const open = openAt.exec(text)?.[0];
  if (open === undefined) return null;
  const from = at + open.length;
  const inside = text.slice(from, from + LONGEST);
  const length = inside.indexOf(closing[open.at(-1)!]!);
  if (length < 0) return null;
  const pairs = inside
    .slice(0, length)
    .split(open.endsWith('(') ? ',' : between)
    .flatMap((part) => {
      const [, name, number, unit = ''] = pair.exec(part) ?? [];
      return name === undefined ? [] : [[name, toNumber(number!, unit.trim())] as const];
    });
  return pairs.length === 0 ? null : { pairs, end: from + length + 1 };
}
