import { inWords, isResultName } from '../../../contract/metric-names.js';
import { unprefixed } from './line-prefix.js';
import { numberText, toNumber, unitText } from './printed-number.js';

/** A place in the training that a line names: `Step [10/600]` is `{ name: 'step', at: 10, of: 600 }`. Without a name: ''. */
export type Place = { name: string; at: number; of?: number; isBracketed: boolean };

/**
 * What a printed line says. `set`: what all of it is about, where that is not the training (`test`), or ''. `isSummary`: of what
 * was printed before. `averages`: running means of the metrics, by name. `isPure`: there is nothing in it but places.
 */
export type PrintedLine = {
  places: readonly Place[];
  metrics: Record<string, number>;
  averages: Readonly<Record<string, number>>;
  set: string;
  isSummary: boolean;
  isPure: boolean;
};

/** Names of counters of the training, and the key under which a row has them. */
const counters = new Map<string, string>([
  ...['step', 'iter', 'iteration', 'it', 'itr', 'update', 'updates', 'up.', 'round', 'tick', 'generation', 'gen', 'num_updates', 'timestep', 'timesteps', 'num_timesteps', 'total_timesteps'].map((name) => [name, 'step'] as const), // prettier-ignore
  ...['epoch', 'ep', 'ep.'].map((name) => [name, 'epoch'] as const),
  ...['batch', 'batches', 'minibatch', 'steps'].map((name) => [name, 'batch'] as const),
  ...[['episode', 'episode'], ['i_episode', 'episode'], ['trial', 'trial'], ['global_step', 'global_step']] as const, // prettier-ignore
]);
const setWords = 'train training test testing val valid validate validation eval evaluation dev'.split(' ');
const sets: ReadonlySet<string> = new Set(setWords);
/** Words that may stand before or behind the word of a counter. */
const besideCounter: ReadonlySet<string> = new Set([
  ...setWords,
  ...'loss results completed finished starting beginning learning running learner global current end'.split(' '),
  ...'of at in on after data num number inner'.split(' '),
]);
/** What a text has between a word and a number that is no value of it. */
const prose: ReadonlySet<string> = new Set(
  'from to for than with by after took takes using rank gpu version file line port saving loading be at on in over and has have had improved'.split(' '), // prettier-ignore
);
const ofSettings =
  /(?:^|[\s_])(?:config\w*|args|arguments|\w*params|\w*parameters|settings|options|command|python\d?)$/i;
/** Names without a sign between them and their numbers are taken for metrics only where one of them is one. */
const isMetric = (name: string): boolean =>
  isResultName(inWords(name)) || /\b(?:lr|norm|cost|entropy|kl)\b/i.test(name);

const word = String.raw`(?:[A-Za-z_%]|#(?=[A-Za-z]))[\w./@%'()&^*-]{0,79}`;
const nameAt = new RegExp(String.raw`${word}(?: {1,3}(?:${word}|\([A-Za-z][\w/ ]{0,20}\))){0,9}`, 'y');
const signAt = /\s*[:=#]\s*|\s+|(?=[[(])/y;
const share = String.raw`(?:\s*\(\s*[\d.]+\s*%\s*\))?`;
const countsAt = new RegExp(
  String.raw`([[(]?)\s*(\d[\d,]*)\s*(?:/|of)\s*(\d[\d,]*)(${share})\s*[\])]?(?![\w./:-]|\.\d)(?:=(${numberText}))?`,
  'y',
);
const valueAt = new RegExp(
  String.raw`(?:(?:tensor|array|np\.\w+|Array)\(\[?|\[)?\s*(${numberText})(${unitText})?(?:[\])]|, (?:device|dtype)=[^)]*\)|(?=[^\w.:/\])-]|$|/[A-Za-z]|[.:](?:\s|$)|[\])]))`,
  'y',
);
const averageAt = new RegExp(
  String.raw`\s?\(\s*(${numberText})(${unitText})?\s*\)|\s?\(\s*[-+]?[\d.]+[^()]{0,60}\)`,
  'y',
);
const spreadAt = new RegExp(String.raw`\s*(?:\+/-|±|\+)\s*[\d.]+(?:e[-+]?\d+)?`, 'y');
/** `[2,  4000]`, `[20]`, `20:` before a tab, `20` before `loss=…`, `20epoch`. */
const headAt =
  /\[\s*(?<epoch>\d+)\s*,\s+(?<batch>\d+)\s*\]|(?<epoch2>\d+)epoch\b|(?:\[(?=\d+\](?:\s|$)))?(?<step>\d+)(?:\]|:(?=\t)|(?=\s+[A-Za-z_]\w*=))/y;
const aloneAt = /\s*(?:$|(?=\|)|(?:batches|iters|steps)\b)/y;
const nextNumberAt = /(?: +|[:=] *)[-+]?\d/y;
const headingAt = /\s*(?:: ?|- |\]|(?=\s*\|))/y;
const separatorAt = /[\s|,;:)\]•·*]+|[([]|- |\/(?=[A-Za-z])/y;
const clockAt = /(?:\d+ days?, )?\d+(?::\d\d)+s?(?!\w)/y;
/** `Accuracy of the network on the 10000 test images: 54 %`. */
const sentence = new RegExp(
  String.raw`^([A-Za-z][A-Za-z ]{0,60}\d{1,12} [A-Za-z ]{1,60}?) *: *(${numberText})(${unitText})?$`,
);
const junkAt = /[^\s,;|()[\]]+/y;
/** Passed over where names and values are expected: clocks, days, percent, spreads, numbers with units. */
const noise = new RegExp(
  String.raw`^(?:[-+]?\d+(?::\d\d)+s?|(?:\d+[dhms])+|\d+%|[-–—/+]+|(?:${numberText})(?:${unitText})?)$`,
);

/** Reads a line without the codes of a terminal. Null: it has neither a place nor a metric. */
export function readLine(line: string): PrintedLine | null {
  const { text, logger, isSummary } = unprefixed(line);
  // W&B says again at the end what was written before.
  if (text === '' || line.startsWith('wandb:')) return null;
  const scan = new LineScan(text, evaluatedIn(logger));
  scan.run();
  return scan.result(isSummary);
}

/** A name and what stands between it and its value. `counter`: the key of the counter that it names. */
type Named = { name: string; sign: string; counter: string | null };
type Item = { name: string; value: number; sign: string; average: number | null; set: string };

/** Goes through a line once, from name to name. */
class LineScan {
  readonly #text: string;
  /** Whether signs have spaces around them: names may then be of several words. */
  readonly #isSpaced: boolean;
  #at = 0;
  #set: string;
  readonly #places: Place[] = [];
  readonly #items: Item[] = [];
  #junk = 0;
  /** The set in a heading, until it is known that there is something below it. */
  #heading = '';
  #isVoid = false;

  constructor(text: string, set: string) {
    this.#text = text;
    this.#isSpaced = text.includes(' = ');
    this.#set = set;
  }

  run(): void {
    this.#takeSentence();
    this.#takeHead();
    const { length } = this.#text;
    while (this.#at < length && !this.#isVoid) {
      if (this.#takesPlace() || this.#match(separatorAt) !== null || this.#takesNamed()) continue;
      const junk = this.#match(junkAt)?.[0];
      if (junk === undefined) this.#at += 1;
      else if (/\w/.test(junk) && !noise.test(junk)) this.#addJunk();
    }
  }

  result(isSummary: boolean): PrintedLine | null {
    const items = this.#isVoid ? [] : this.#accepted();
    if (this.#isVoid || (items.length === 0 && this.#places.length === 0)) return null;
    const metrics: Record<string, number> = {};
    const averages: Record<string, number> = {};
    const shared = sharedSet(items);
    for (const item of items) {
      const key = keyOf(item, shared);
      metrics[key] = item.value;
      if (item.average !== null) averages[key] = item.average;
    }
    const isPure = this.#items.length === 0 && this.#junk === 0;
    return { places: this.#places, metrics, averages, set: this.#set, isSummary, isPure };
  }

  /** Of a line with other text in it, only what is certain. */
  #accepted(): Item[] {
    const isBareMetric = this.#items.some(({ sign, name }) => sign === '' && isMetric(name));
    const items = isBareMetric ? this.#items : this.#items.filter(({ sign }) => sign !== '');
    const isCertain = this.#places.length > 0 || (this.#junk === 0 && items.length === this.#items.length);
    return isCertain ? items : items.filter(({ sign }) => sign === '=');
  }

  #takeSentence(): void {
    const [whole, name, value] = sentence.exec(this.#text) ?? [];
    if (name === undefined || !isMetric(name) || counterOf(firstWord(name)) !== null) return;
    this.#items.push({ name, value: toNumber(value!), sign: ':', average: null, set: '' });
    this.#at = whole!.length;
  }

  /** Numbers without a name that only the beginning of a line may have. */
  #takeHead(): void {
    const found = this.#match(headAt)?.groups ?? {};
    for (const name of ['step', 'epoch', 'batch']) {
      const at = found[name] ?? (name === 'epoch' ? found['epoch2'] : undefined);
      if (at !== undefined)
        this.#addPlace(name === 'batch' ? '' : name, { at: Number(at), isBracketed: name !== 'step' });
    }
  }

  /** `[10/600]`, `(10/600)`, and `10/600` where nothing else is beside it. */
  #takesPlace(): boolean {
    const from = this.#at;
    if (!/[\d[(]/.test(this.#text[from]!)) return false;
    const found = this.#match(countsAt);
    if (found === null) return false;
    const [, bracket, at, of] = found;
    if ((bracket === '' && this.#match(aloneAt) === null) || toNumber(of!) === 0) {
      this.#at = from;
      return false;
    }
    this.#takeHeading();
    this.#addPlace('', { at: toNumber(at!), of: toNumber(of!), isBracketed: true });
    return true;
  }

  #takesNamed(): boolean {
    const isInWord = this.#at > 0 && /[\w.=?&-]/.test(this.#text[this.#at - 1]!);
    const written = this.#match(nameAt)?.[0];
    if (written === undefined) return false;
    const open = countOf(written, '(') - countOf(written, ')');
    // The text of a call: what is in it are arguments.
    if (open > 0) this.#isVoid = true;
    const name = open < 0 ? written.slice(0, written.indexOf(')')) : written;
    this.#at -= written.length - name.length;
    const end = this.#at;
    if (isInWord) this.#addJunk();
    else if (!this.#takesValue(name)) {
      this.#at = end;
      this.#takeLabel(name);
    }
    return true;
  }

  #takesValue(name: string): boolean {
    const sign = this.#match(signAt)?.[0].trim();
    if (sign === undefined) return false;
    const named = { name, sign, counter: counterOf(name) };
    return this.#takesCounts(named) || this.#match(clockAt) !== null || this.#takesNumber(named);
  }

  #takesNumber(named: Named): boolean {
    // Only of counters: `Epoch [3]`; else it is a list.
    if (named.sign === '' && named.counter === null && this.#text[this.#at] === '[') return false;
    const found = this.#match(valueAt);
    if (found === null) return false;
    const unit = found[2]?.trim() ?? '';
    const value = toNumber(found[1]!, unit);
    if (this.#takesCount(named, value, unit)) return true;
    if (named.sign !== '=' && this.#peeks(nextNumberAt)) return false;
    this.#add(named, value, this.#averageOf(unit));
    return true;
  }

  /** A place, if the name is that of a counter, or of a set before its steps: `Train: 0 [10/600]`. */
  #takesCount(named: Named, at: number, unit: string): boolean {
    // A counter with a unit is the time of one: `Step: 25ms`.
    if (unit !== '' || !Number.isInteger(at)) return unit !== '' && named.counter !== null;
    if (named.counter !== null) this.#addCounter(named, { at, isBracketed: false });
    else if (isSet(named.name) && this.#peeks(/\s*\[/y)) {
      this.#addSet(named.name);
      this.#addPlace('epoch', { at, isBracketed: true });
    } else return false;
    return true;
  }

  /** `10/600` behind a name: where a counter is, or a share. */
  #takesCounts(named: Named): boolean {
    const found = this.#match(countsAt);
    if (found === null) return false;
    const [, bracket, at, of, percent, exact] = found;
    const place = { at: toNumber(at!), of: toNumber(of!), isBracketed: bracket !== '' };
    if (exact !== undefined) this.#add(named, toNumber(exact), null);
    else if (named.counter !== null || named.name === 'T') this.#addCounter(named, place);
    else if (isSet(named.name)) {
      this.#addSet(named.name);
      this.#addPlace('', { ...place, isBracketed: true });
    } else if (percent !== '') this.#add(named, (100 * place.at) / place.of, null);
    // Two numbers for one name: neither is its value.
    else this.#addJunk();
    return true;
  }

  /** A counter that is named again is passed over. */
  #addCounter({ name, counter }: Named, place: Omit<Place, 'name'>): void {
    const key = counter ?? 'step';
    const isNamed = this.#places.some((each) => each.name === key || (key === 'batch' && each.name.endsWith('step')));
    if (isNamed) return;
    this.#addSet(name);
    this.#addPlace(key, place);
  }

  #addPlace(name: string, place: Omit<Place, 'name'>): void {
    this.#places.push({ name, ...place });
  }

  #averageOf(unit: string): number | null {
    const average = this.#match(averageAt);
    this.#match(spreadAt);
    return average?.[1] === undefined || (average[2] ?? '').trim() !== unit ? null : toNumber(average[1], unit);
  }

  #add({ name: written, sign }: Named, value: number, average: number | null): void {
    const words = written.replace(/\s+/g, ' ').replace(/ (?:is|was|are)$/, '').split(' '); // prettier-ignore
    const isTight = sign === '=' && words.length > 1 && !this.#isSpaced && !words.at(-1)!.startsWith('(');
    if (isTight) this.#addSet(words.slice(0, -1).join(' '));
    const name = isTight ? words.at(-1)! : words.join(' ');
    if (isTight ? prose.has(name) : isProse(words, sign)) return this.#addJunk();
    this.#takeHeading();
    this.#items.push({ name, value, sign, average, set: this.#set });
  }

  /** Words without a value: a heading of the rest, or text. */
  #takeLabel(name: string): void {
    if (ofSettings.test(name)) this.#isVoid = true;
    const isHeading = this.#match(headingAt) !== null;
    if (!isHeading) this.#addJunk();
    this.#heading = isHeading ? (name.toLowerCase().split(' ').find(isSet) ?? '') : ''; // prettier-ignore
  }

  #takeHeading(): void {
    if (this.#heading !== '') this.#set = this.#heading;
    this.#heading = '';
  }

  #addJunk(): void {
    this.#heading = '';
    this.#junk += 1;
  }

  /** A set that is evaluated, in the words before a counter. */
  #addSet(name: string): void {
    this.#set = evaluatedIn(name) || this.#set;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }

  #peeks(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#text);
  }
}

/** The key of a counter that a name is: `Episode Num`, `completed step`, `Epoch(train)`. Null: it is none. */
function counterOf(name: string): string | null {
  let known: string | null = null;
  for (const each of name.toLowerCase().split(/[\s()]+/)) {
    if (each === '' || besideCounter.has(each)) continue;
    const key = counters.get(each);
    if (key === undefined || known !== null) return null;
    known = key;
  }
  return known;
}

function isSet(name: string): boolean {
  return sets.has(name.toLowerCase());
}

/** The set in a name that is not that of the training; '': there is none. */
function evaluatedIn(name: string): string {
  return inWords(name).split(' ').find((each) => sets.has(each) && !each.startsWith('train')) ?? ''; // prettier-ignore
}

function keyOf({ name, set }: Item, shared: string): string {
  if (isSet(firstWord(name))) return name;
  return set !== '' ? `${set}/${name}` : shared !== '' ? `${shared} ${name}` : name;
}

/** Whether words before a number are text. `Resuming from step: 1000` counts nothing. */
function isProse(words: readonly string[], sign: string): boolean {
  const isText = words.some((each) => prose.has(each));
  if (sign === '') return isText || words.length > 4;
  const last = words.at(-1)!;
  return prose.has(last) || (isText && counters.has(last)) || (words.length > 6 && !isMetric(words.join(' ')));
}

/** `train Loss: 0.6 Acc: 0.5`: the set of the first is that of all, where no other names one. */
function sharedSet(items: readonly Item[]): string {
  const [first, ...others] = items;
  if (first === undefined || others.length === 0 || first.set !== '') return '';
  const set = firstWord(first.name);
  const isShared = isSet(set) && first.name.length > set.length;
  const areResults = others.every(({ name }) => isResultName(inWords(name)) && !inWords(name).split(' ').some(isSet)); // prettier-ignore
  return isShared && areResults ? set : '';
}

function firstWord(name: string): string {
  return name.split(' ', 1)[0]!;
}

function countOf(text: string, sign: string): number {
  return text.split(sign).length - 1;
}
