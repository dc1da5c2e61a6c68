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
const counters: Readonly<Record<string, string>> = {
  ...{ step: 'step', iter: 'step', iteration: 'step', it: 'step', itr: 'step', update: 'step', 'up.': 'step' },
  ...{ round: 'step', tick: 'step', generation: 'step', gen: 'step', global_step: 'global_step', num_updates: 'step' },
  ...{ updates: 'step', num_timesteps: 'step', total_timesteps: 'step', timestep: 'step', timesteps: 'step' },
  ...{ epoch: 'epoch', ep: 'epoch', 'ep.': 'epoch', episode: 'episode', i_episode: 'episode', trial: 'trial' },
  ...{ batch: 'batch', batches: 'batch', minibatch: 'batch', steps: 'batch' },
};
/** Words that may stand before or behind the word of a counter. */
const besideCounter = new Set([
  ...['train', 'training', 'test', 'testing', 'val', 'valid', 'validate', 'validation', 'eval', 'evaluation', 'loss'],
  ...['completed', 'finished', 'starting', 'beginning', 'learning', 'running', 'learner', 'global', 'current', 'end'],
  ...['of', 'at', 'in', 'on', 'after', 'data', 'results', 'num', 'number', 'inner'],
]);
const sets = /^(train|training|test|testing|val|valid|validate|validation|eval|evaluation|dev)$/;
const ofTraining = /^train/;
/** Names without a sign between them and their numbers are taken for metrics only where one of them is one. */
const isMetric = (name: string): boolean => isResultName(inWords(name)) || /\b(?:lr|norm|cost|entropy|kl)\b/i.test(name);
/** What a text has between a word and a number that is no value of it. */
const prose = new Set([
  ...['from', 'to', 'for', 'than', 'with', 'by', 'after', 'took', 'takes', 'using', 'rank', 'gpu', 'version', 'file', 'line'],
  ...['port', 'saving', 'loading', 'be', 'at', 'on', 'in', 'over', 'and', 'has', 'have', 'had', 'than', 'improved'],
]);
const ofSettings = /(?:^|[\s_])(?:config\w*|args|arguments|\w*params|\w*parameters|settings|options|command|python\d?)$/i;

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
const averageAt = new RegExp(String.raw`\s?\(\s*(${numberText})(${unitText})?\s*\)|\s?\(\s*[-+]?[\d.]+[^()]{0,60}\)`, 'y');
const spreadAt = new RegExp(String.raw`\s*(?:\+/-|±|\+)\s*[\d.]+(?:e[-+]?\d+)?`, 'y');
const pairAt = /\[\s*(\d+)\s*,\s+(\d+)\s*\]/y;
const headAt = /\[(\d+)\](?=\s|$)|(\d+):(?=\t)|(\d+)(?=\s+[A-Za-z_]\w*=)/y;
const separatorAt = /[\s|,;:)\]•·*]+|[([]|- |\/(?=[A-Za-z])/y;
const clockAt = /(?:\d+ days?, )?\d+(?::\d\d)+s?(?!\w)/y;
/** `Accuracy of the network on the 10000 test images: 54 %`. */
const sentence = new RegExp(String.raw`^([A-Za-z][A-Za-z ]*\d+ [A-Za-z ]+?) *: *(${numberText})(${unitText})?$`);
const junkAt = /[^\s,;|()[\]]+/y;
/** Passed over where names and values are expected: clocks, days, percent, spreads, numbers with units. */
const noise = new RegExp(String.raw`^(?:[-+]?\d+(?::\d\d)+s?|(?:\d+[dhms])+|\d+%|[-–—/+]+|(?:${numberText})(?:${unitText})?)$`);

/** Reads a line without the codes of a terminal. Null: it has neither a place nor a metric. */
export function readLine(line: string): PrintedLine | null {
  const { text, logger, isSummary } = unprefixed(line);
  // W&B says again at the end what was written before.
  if (text === '' || line.startsWith('wandb:')) return null;
  const scan = new LineScan(text, sets.test(logger) && !ofTraining.test(logger) ? logger : '');
  scan.run();
  return scan.result(isSummary);
}

type Item = { name: string; value: number; sign: string; average: number | null; set: string };

/** Goes through a line once, from name to name. */
class LineScan {
  readonly #text: string;
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
    this.#set = set;
  }

  run(): void {
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
    if (this.#isVoid) return null;
    const items = this.#accepted();
    if (items.length === 0 && this.#places.length === 0) return null;
    const metrics: Record<string, number> = {};
    const averages: Record<string, number> = {};
    const shared = sharedSet(items);
    for (const { name, value, average, set } of items) {
      const hasOwnSet = sets.test(firstWord(name).toLowerCase());
      const key = hasOwnSet ? name : set !== '' ? `${set}/${name}` : shared !== '' ? `${shared} ${name}` : name;
      metrics[key] = value;
      if (average !== null) averages[key] = average;
    }
    const isPure = this.#items.length === 0 && this.#junk === 0;
    return { places: this.#places, metrics, averages, set: this.#set, isSummary, isPure };
  }

  /** Of a line with other text in it, only what is certain. */
  #accepted(): Item[] {
    const bare = this.#items.filter(({ sign }) => sign === '');
    const isBareMetric = bare.some(({ name }) => isMetric(name));
    const items = this.#items.filter(({ sign }) => sign !== '' || isBareMetric);
    const isCertain = this.#places.length > 0 || (this.#junk === 0 && items.length === this.#items.length);
    return isCertain ? items : items.filter(({ sign }) => sign === '=');
  }

  /** Numbers that say at the beginning of a line where the training is. */
  #takeHead(): void {
    const [whole, name, value] = sentence.exec(this.#text) ?? [];
    if (name !== undefined && isMetric(name) && counterOf(firstWord(name)) === null) {
      this.#items.push({ name, value: toNumber(value!), sign: ':', average: null, set: '' });
      this.#at = whole!.length;
    }
    const pair = this.#match(pairAt);
    if (pair !== null) {
      this.#places.push({ name: 'epoch', at: Number(pair[1]), isBracketed: true });
      this.#places.push({ name: '', at: Number(pair[2]), isBracketed: true });
    }
    const head = this.#match(headAt);
    if (head !== null) this.#places.push({ name: 'step', at: Number(head[1] ?? head[2] ?? head[3]), isBracketed: false });
    const epoch = /^(\d+)epoch\b/.exec(this.#text);
    if (epoch === null) return;
    this.#places.push({ name: 'epoch', at: Number(epoch[1]), isBracketed: false });
    this.#at = epoch[0].length;
  }

  /** `[10/600]`, `(10/600)`, and `10/600` where nothing else is beside it. */
  #takesPlace(): boolean {
    const from = this.#at;
    const sign = this.#text[from]!;
    if (sign !== '[' && sign !== '(' && !(sign >= '0' && sign <= '9')) return false;
    const found = this.#match(countsAt);
    if (found === null) return false;
    const [, bracket, at, of] = found;
    const rest = this.#text.slice(this.#at, this.#at + 12);
    const isAlone = /^\s*(?:$|\||batches|iters|steps)/.test(rest);
    if ((bracket === '' && !isAlone) || toNumber(of!) === 0) {
      this.#at = from;
      return false;
    }
    this.#takeHeading();
    this.#places.push({ name: '', at: toNumber(at!), of: toNumber(of!), isBracketed: true });
    if (bracket === '') this.#match(/\s*(?:batches|iters|steps)/y);
    return true;
  }

  #takesNamed(): boolean {
    const before = this.#text[this.#at - 1];
    const written = this.#match(nameAt)?.[0];
    if (written === undefined || (before !== undefined && /[\w.=?&-]/.test(before))) {
      if (written !== undefined) this.#addJunk();
      return written !== undefined;
    }
    // The text of a call: what is in it are arguments.
    const open = countOf(written, '(') - countOf(written, ')');
    if (open > 0) {
      this.#isVoid = true;
      return true;
    }
    const name = open < 0 ? written.slice(0, written.indexOf(')')) : written;
    this.#at -= written.length - name.length;
    const end = this.#at;
    const sign = this.#match(signAt)?.[0] ?? null;
    if (sign === null || !this.#takesValue(name, sign.trim())) {
      this.#at = end;
      this.#takeLabel(name);
    }
    return true;
  }

  #takesValue(name: string, sign: string): boolean {
    const from = this.#at;
    const counter = counterOf(name);
    const counts = this.#match(countsAt);
    if (counts !== null) {
      if (this.#takesCounts(name, counter, sign, counts)) return true;
      this.#at = from;
    }
    if (this.#match(clockAt) !== null) return true;
    if (counter === null && sign === '' && this.#text[this.#at] === '[') return false;
    const value = this.#match(valueAt);
    if (value === null) return false;
    const [, text, unit = ''] = value;
    const number = toNumber(text!, unit.trim());
    const isNext = sign !== '=' && /^(?: +|[:=] *)[-+]?\d/.test(this.#text.slice(this.#at, this.#at + 8));
    if (counter !== null && unit === '' && Number.isInteger(number) && this.#isFree(counter)) {
      this.#addSet(name);
      this.#places.push({ name: counter, at: number, isBracketed: false });
      return true;
    }
    // Counted already, or it is the time of one (`Step: 25ms`), or something else that counts (`fps step: 900`).
    if (counter !== null && (Number.isInteger(number) || unit !== '')) return true;
    if (name.includes(' ') && !isMetric(name) && counterOf(name.split(' ').at(-1)!) !== null) return false;
    // `Train: 0 [0/1251]`: an epoch of the set.
    if (sets.test(name.toLowerCase()) && /^\s*\[/.test(this.#text.slice(this.#at)) && Number.isInteger(number)) {
      if (!ofTraining.test(name.toLowerCase())) this.#set = name.toLowerCase();
      this.#places.push({ name: 'epoch', at: number, isBracketed: true });
      return true;
    }
    if (isNext) return false;
    this.#add(name, sign, number, this.#averageOf(unit.trim()));
    return true;
  }

  #takesCounts(name: string, counter: string | null, sign: string, found: RegExpExecArray): boolean {
    const [, bracket, at, of, percent, exact] = found;
    const place = { at: toNumber(at!), of: toNumber(of!), isBracketed: bracket !== '' };
    if (exact !== undefined) this.#add(name, sign, toNumber(exact), null);
    else if (counter !== null && this.#isFree(counter)) {
      this.#addSet(name);
      this.#places.push({ name: counter, ...place });
    } else if (counter !== null) return true;
    else if (sets.test(name.toLowerCase())) {
      if (!ofTraining.test(name.toLowerCase())) this.#set = name.toLowerCase();
      this.#places.push({ name: '', ...place, isBracketed: true });
    } else if (percent !== '' && place.of > 0) this.#add(name, sign, (100 * place.at) / place.of, null);
    else if (name === 'T') this.#places.push({ name: 'step', ...place });
    // Two numbers for one name: neither is its value.
    else this.#addJunk();
    return true;
  }

  /** Whether no counter of the kind was named before. */
  #isFree(counter: string): boolean {
    return !this.#places.some(({ name }) => name === counter || (counter === 'batch' && /step$/.test(name)));
  }

  #averageOf(unit: string): number | null {
    const average = this.#match(averageAt);
    this.#match(spreadAt);
    return average?.[1] === undefined || (average[2] ?? '').trim() !== unit ? null : toNumber(average[1], unit);
  }

  #add(written: string, sign: string, value: number, average: number | null): void {
    const words = written.replace(/\s+/g, ' ').replace(/ (?:is|was|are)$/, '').split(' ');
    const isTight = sign === '=' && words.length > 1 && !this.#text.slice(0, this.#at).includes(' = ');
    if (isTight) this.#addSet(words.slice(0, -1).join(' '));
    const name = isTight && !words.at(-1)!.startsWith('(') ? words.at(-1)! : words.join(' ');
    const isProse = sign === '' ? words.some((each) => prose.has(each)) || words.length > 4 : prose.has(words.at(-1)!);
    if (isProse || (sign !== '' && words.length > 6 && !isMetric(name))) return this.#addJunk();
    this.#takeHeading();
    this.#items.push({ name, value, sign, average, set: this.#set });
  }

  /** Words without a value: a heading of the rest, or text. */
  #takeLabel(name: string): void {
    if (ofSettings.test(name)) this.#isVoid = true;
    const isHeading = this.#match(/\s*(?:: ?|- |\]|(?=\s*\|))/y) !== null;
    const set = name.split(' ').find((each) => sets.test(each.toLowerCase()));
    if (!isHeading) this.#addJunk();
    this.#heading = isHeading && set !== undefined ? set.toLowerCase() : '';
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
    const set = inWords(name).split(' ').find((each) => sets.test(each) && !ofTraining.test(each));
    if (set !== undefined) this.#set = set;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }
}

/** The key of a counter that a name is: `Episode Num`, `completed step`, `Epoch(train)`. Null: it is none. */
function counterOf(name: string): string | null {
  const words = name.toLowerCase().replace(/\((\w+)\)/, ' $1').split(/\s+/);
  const known = words.filter((each) => !besideCounter.has(each));
  return known.length === 1 && known[0]! in counters ? counters[known[0]!]! : null;
}

/** `train Loss: 0.6 Acc: 0.5`: the set of the first is that of all, where no other names one. */
function sharedSet(items: readonly Item[]): string {
  const [first, ...others] = items;
  const isShared =
    first !== undefined &&
    first.set === '' &&
    first.name.includes(' ') &&
    sets.test(firstWord(first.name).toLowerCase()) &&
    others.every(({ name }) => isResultName(inWords(name)) && !/\b(?:train|val|valid|test|eval)/i.test(name));
  return isShared && others.length > 0 ? firstWord(first.name) : '';
}

function firstWord(name: string): string {
  return name.split(' ', 1)[0]!;
}

function countOf(text: string, sign: string): number {
  return text.split(sign).length - 1;
}
