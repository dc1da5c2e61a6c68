import { groupIn, numberText, type PrintedName, printedName, toNumber, unitText } from './printed-tokens.js';
import { inOneSentence, isOfFailure, unprefixed } from './log-line.js';

/** A place in the training: `Step [10/600]` is `{ name: 'step', at: 10, of: 600 }`. Without a name: ''. */
export type Place = { name: string; at: number; of?: number; isBracketed: boolean };

/**
 * The content of a printed line. `set`: the data set that it is about, unless it is the training (`test`), or ''. `isSummary`: it
 * repeats earlier values. `averages`: running means of the metrics, by name. `isPure`: it contains only places.
 */
export type PrintedLine = {
  places: readonly Place[];
  metrics: Record<string, number>;
  averages: Readonly<Record<string, number>>;
  set: string;
  isSummary: boolean;
  isPure: boolean;
};

const word = String.raw`(?:[A-Za-z_%]|#(?=[A-Za-z]))[\w./@%'()&^*-]{0,79}`;
const nameAt = new RegExp(
  String.raw`${word}(?: {1,3}(?!(?<!of )(?:[Nn]a[Nn]|[Ii]nf)\b)(?:${word}|\([A-Za-z][\w/ ]{0,20}\))){0,9}`,
  'y',
);
const signAt = /\s*[:=#]\s*|\s+|(?=[[(])/y;
const share = String.raw`(?:\s?\(\s{0,9}[\d.]{1,9}\s?%\s?\))?`;
const countsAt = new RegExp(
  String.raw`([[(]?)\s*(\d[\d,]{0,18})\s{0,9}(?:/|of)\s{0,9}(\d[\d,]{0,18})(${share})\s*[\])]?(?![\w/:-]|\.(?!\s))(?:=(${numberText}))?`,
  'y',
);
const valueAt = new RegExp(
  String.raw`(?:(?:tensor|array|np\.\w+|Array)\(\[?|\[\(\d+, '?|\[|\d{1,3}: (?=\d))?\s*(${numberText})(${unitText})?(?:'?\)\]?|[\])]|, (?:device|dtype)=[^)]*\)|(?=[^\w.:/\])-]|$|/[A-Za-z]|[.:](?:\s|$)|[\])]))`,
  'y',
);
const averageAt = new RegExp(
  String.raw`\s?\(\s*(${numberText})(${unitText})?\s*\)|\s?\(\s*[-+]?[\d.]+[^()]{0,60}\)`,
  'y',
);
const spreadAt = new RegExp(String.raw`\s*(?:\+/-|±|\+)\s*[\d.]+(?:e[-+]?\d+)?`, 'y');
/** `[2,  4000]`, `[20]`, `20:` before a tab, `20` before `loss=…`, `20epoch`, `1epoch:train:1-50batch`. */
const headAt =
  /\[\s*(?<epoch>\d+)\s*,\s+(?<batch>\d+)\s*\]|(?<epoch2>\d+)epoch(?::\w{1,40}:\d+-(?<batch2>\d+)batch)?\b|(?:\[(?=\d+\](?:\s|$)))?(?<step>\d+)(?:\]|:(?=\t)|(?=\s+(?:[A-Za-z_]\w*=|\[[A-Za-z][\w ]{0,30}: )))/y;
const aloneAt = /\s*(?:$|(?=\|)|(?:batches|iters|steps)\b)/y;
const wordsAt = /[\s:,-]+(?=[A-Za-z])/y;
const nextNumberAt = /(?: +|[:=] *)[-+]?\d/y;
const headingAt = /\s*(?:: ?|- |\]|(?=\|))/y;
const separatorAt = /[\s|,;:)\]•·*]+|[([]|- |\/(?=[A-Za-z])/y;
const clockAt =
  /[[(]?(?:(?:\d+ days?, )?\d+(?::\d\d)+s?(?![\w:])|(?:\d+[dhm] ?){1,3}\d+[hms]\b|\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?)[\])]?/y;
/** A counter in parentheses behind a heading: `Train Metrics (step 19)`. */
const counterBehind = / \(([A-Za-z_]{2,20}) (\d{1,12})\)$/;
/** `[0-10]`: between which numbers a value lies. */
const rangeAt = /\s*\[\d{1,6} ?[-–] ?\d{1,6}\]/y;
/** `Accuracy of the network on the 10000 test images: 54 %`. */
const sentence = new RegExp(
  String.raw`^([A-Za-z][A-Za-z ]{0,60}\d{1,12} [A-Za-z ]{1,60}?) *: *(${numberText})(${unitText})?$`,
);
const junkAt = /[^\s,;|()[\]]+/y;
/** Text that is skipped between names and values: clocks, days, percentages, ranges, numbers with units. */
const noise = new RegExp(
  String.raw`^(?:[-+]?\d+(?::\d\d)+s?|(?:\d+(?:ms|[dhms]))+|\d+%|[-–—/+]+|(?:${numberText})(?:${unitText})?)$`,
);

/** A quick test that rejects most lines, which contain neither metrics nor places. */
const mayBeRead =
  /^[\d[(]|\[ *\d|loss|acc|rew|return|ppl|perp|err|score|auc|f1|mae|mse|bleu|dice|epoch|step|iter|ep\b|round|trial|tick|kimg/i;
const hasNumber = /\d|nan|inf/i;

/** Parses a line without terminal codes. Null: it contains neither a place nor a metric. */
export function readLine(line: string): PrintedLine | null {
  const { text: written, logger, isSummary } = unprefixed(line);
  const text = inOneSentence(written);
  // W&B repeats earlier values at the end.
  if ((text.length < line.length && !hasNumber.test(text)) || line.startsWith('wandb:')) return null;
  if (!text.includes(':') && !text.includes('=') && !mayBeRead.test(text)) return null;
  const scan = new LineScan(text, logger === '' ? '' : printedName(logger).set);
  scan.run();
  const result = scan.result(isSummary);
  return result === null || isOfFailure(line) ? null : result;
}

/** A number with its name, and the sign between them: `:`, `=`, or ''. `set`: the data set that the line names. */
type Item = { name: PrintedName; sign: string; value: number; average: number | null; set: string };

/** So many names and values behind a counter are metrics, although no sign is between them: `tick 19  kimg 76.0  sec/tick 30.1`. */
const LEAST_PAIRS = 3;

/**
 * Limit on the names, numbers and words that are read of one line, so that the longest takes a few ms as well. The rows of the largest
 * trainers have some two hundred metrics.
 */
const MOST_PARTS = 600;

/** Scans a line once, from name to name. */
class LineScan {
  readonly #text: string;
  /** Whether signs have spaces around them, so that names may have several words. */
  readonly #isSpaced: boolean;
  readonly #hasEquals: boolean;
  readonly #hasBrackets: boolean;
  #at = 0;
  #set: string;
  readonly #places: Place[] = [];
  readonly #items: Item[] = [];
  #junk = 0;
  /** The set in a heading, until something follows it. */
  #heading = '';
  #isText = false;
  #isVoid = false;
  #isPlaceFirst = false;

  constructor(text: string, set: string) {
    this.#text = text;
    this.#hasEquals = text.includes('=');
    this.#hasBrackets = /[[({]/.test(text);
    this.#isSpaced = this.#hasEquals && text.includes(' = ');
    this.#set = set;
  }

  run(): void {
    this.#takeSentence();
    this.#takeHead();
    const { length } = this.#text;
    for (let parts = 0; this.#at < length && parts < MOST_PARTS && !this.#isVoid; parts++)
      if (!this.#takesPlace() && this.#match(separatorAt) === null && !this.#takesNamed()) this.#passOver();
  }

  #passOver(): void {
    const junk = this.#match(junkAt)?.[0];
    if (junk === undefined) this.#at += 1;
    else if (/\w/.test(junk) && !noise.test(junk)) this.#addJunk();
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
    // `Step 19 done.`
    const isPure = this.#items.length === 0 && this.#junk <= (this.#isPlaceFirst && this.#places.length > 1 ? 1 : 0);
    return { places: this.#places, metrics, averages, set: this.#set, isSummary, isPure };
  }

  /** The reliable items of a line that contains other text. */
  #accepted(): Item[] {
    const isBareMetric = this.#items.some(({ sign, name }) => sign === '' && name.isMetric);
    const isOfPairs = this.#isPlaceFirst && this.#junk === 0 && !this.#items.some(({ sign }) => sign !== '');
    const items =
      isBareMetric || (isOfPairs && this.#items.length >= LEAST_PAIRS)
        ? this.#items
        : this.#items.filter(({ sign }) => sign !== '');
    const isCertain = this.#places.length > 0 ? !this.#isText : this.#junk === 0 && items.length === this.#items.length;
    return isCertain ? items : items.filter(({ sign }) => sign === '=');
  }

  #takeSentence(): void {
    const [whole, written, value] = /[\d%]$/.test(this.#text) ? (sentence.exec(this.#text) ?? []) : [];
    if (written === undefined) return;
    const name = printedName(written);
    if (!name.isMetric || printedName(name.first).counter !== null) return;
    this.#items.push({ name, value: toNumber(value!), sign: ':', average: null, set: '' });
    this.#at = whole!.length;
  }

  /** Parses numbers without a name, which only the beginning of a line may have. */
  #takeHead(): void {
    const found = this.#match(headAt)?.groups;
    if (found === undefined) return;
    for (const name of ['step', 'epoch', 'batch']) {
      const at = found[name] ?? found[`${name}2`];
      if (at !== undefined)
        this.#addPlace(name === 'batch' ? '' : name, { at: Number(at), isBracketed: name !== 'step' });
    }
  }

  /** Parses `[10/600]`, `(10/600)`, and `10/600` at the beginning of a line, or alone. */
  #takesPlace(): boolean {
    const from = this.#at;
    if (!/[\d[(]/.test(this.#text[from]!)) return false;
    const found = this.#match(countsAt);
    if (found === null) return false;
    const [, bracket, at, of] = found;
    const isAlone = bracket !== '' || this.#match(aloneAt) !== null || (from === 0 && this.#match(wordsAt) !== null);
    if (!isAlone || toNumber(of!) === 0) {
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
    const text = this.#whole(written);
    if (isInWord) this.#addJunk();
    else this.#takeNamed(text, printedName(text));
    return true;
  }

  /** Parses what follows a name, of which this is the text. */
  #takeNamed(text: string, name: PrintedName): void {
    const end = this.#at;
    if (this.#hasBrackets && (this.#takesGroup(name) || this.#takesCounterBehind(text))) return;
    if (this.#takesValue(name)) return;
    this.#at = end;
    this.#takeLabel(name);
  }

  /** A name without what follows a parenthesis that was opened before it. */
  #whole(written: string): string {
    const open = written.includes('(') || written.includes(')') ? openIn(written) : 0;
    // The parentheses are those of a call, which contain arguments.
    if (open > 0) this.#isVoid = true;
    if (open >= 0) return written;
    const text = written.slice(0, written.indexOf(')'));
    this.#at -= written.length - text.length;
    return text;
  }

  /** Parses names and values in brackets, whose label is a part of their names: `tot_loss[loss=0.26, …]`. */
  #takesGroup(label: PrintedName): boolean {
    const group = groupIn(this.#text, this.#at);
    if (group === null || label.isOfSettings) return false;
    this.#at = group.end;
    for (const [name, value] of group.pairs) this.#add(printedName(`${label.name}/${name}`), ':', value, null);
    return true;
  }

  #takesCounterBehind(text: string): boolean {
    const [whole, word, at] = text.endsWith(')') ? (counterBehind.exec(text) ?? []) : [];
    const name = word === undefined ? null : printedName(word);
    if (name === null || name.counter === null) return false;
    this.#addCounter(name, { at: Number(at), isBracketed: false });
    this.#heading = printedName(text.slice(0, -whole!.length)).ownSet.toLowerCase();
    this.#match(headingAt);
    return true;
  }

  #takesValue(name: PrintedName): boolean {
    if (this.#hasBrackets) this.#match(rangeAt);
    const sign = this.#match(signAt)?.[0].trim();
    if (sign === undefined) return false;
    return this.#takesCounts(name, sign) || this.#match(clockAt) !== null || this.#takesNumber(name, sign);
  }

  #takesNumber(name: PrintedName, sign: string): boolean {
    // Only a counter may precede a bracket, as in `Epoch [3]`; else it is a list.
    if (sign === '' && name.counter === null && this.#text[this.#at] === '[') return false;
    const found = this.#match(valueAt);
    if (found === null) return false;
    const unit = found[2]?.trim() ?? '';
    const value = toNumber(found[1]!, unit);
    if (this.#takesCount(name, found[1]!, unit)) return true;
    if (sign !== '=' && this.#peeks(nextNumberAt)) return false;
    this.#add(name, sign, value, this.#averageOf(unit));
    return true;
  }

  /** Records a place if the name is that of a counter, or of a set before its steps: `Train: 0 [10/600]`. */
  #takesCount(name: PrintedName, written: string, unit: string): boolean {
    const isScaled = /^[KkM]$/.test(unit);
    const at = toNumber(written, unit);
    // A counter with a unit is a duration: `Step: 25ms`.
    if (unit !== '' && !isScaled) return name.counter !== null;
    if (!Number.isInteger(at) || (!isScaled && /\.\d/.test(written))) return false;
    if (name.counter !== null) this.#addCounter(name, { at, isBracketed: false });
    else if (name.isSet && this.#peeks(/\s*\[/y)) {
      this.#set = name.set || this.#set;
      this.#addPlace('epoch', { at, isBracketed: true });
    } else return false;
    return true;
  }

  /** Parses `10/600` after a name: a counter's place, or a share. */
  #takesCounts(name: PrintedName, sign: string): boolean {
    const found = this.#match(countsAt);
    if (found === null) return false;
    const [, bracket, at, of, percent, exact] = found;
    const place = { at: toNumber(at!), of: toNumber(of!), isBracketed: bracket !== '' };
    if (exact !== undefined) this.#add(name, sign, toNumber(exact), null);
    else if (name.counter !== null || /^(?:T|steps)$/i.test(name.name)) this.#addCounter(name, place);
    else if (name.isSet) {
      this.#set = name.set || this.#set;
      this.#addPlace('', { ...place, isBracketed: true });
    } else if (percent !== '') this.#add(name, sign, (100 * place.at) / place.of, null);
    // With two numbers for a name, neither is its value.
    else this.#addJunk();
    return true;
  }

  /** Adds a counter; a repeated one is ignored. */
  #addCounter({ counter, set }: PrintedName, place: Omit<Place, 'name'>): void {
    const key = counter ?? 'step';
    const isNamed = this.#places.some((each) => each.name === key || (key === 'batch' && each.name.endsWith('step')));
    if (isNamed) return;
    this.#set = set || this.#set;
    this.#addPlace(key, place);
  }

  #addPlace(name: string, place: Omit<Place, 'name'>): void {
    if (this.#items.length === 0 && this.#junk === 0) this.#isPlaceFirst = true;
    this.#places.push({ name, ...place });
  }

  #averageOf(unit: string): number | null {
    const average = this.#match(averageAt);
    this.#match(spreadAt);
    return average?.[1] === undefined || (average[2] ?? '').trim() !== unit ? null : toNumber(average[1], unit);
  }

  #add(written: PrintedName, sign: string, value: number, average: number | null): void {
    const isTight =
      sign === '=' &&
      written.first !== written.last &&
      !this.#isSpaced &&
      !written.last.startsWith('(') &&
      !written.first.includes('/');
    if (isTight) this.#set = written.set || this.#set;
    const name = isTight ? printedName(written.last) : written;
    if (sign === '' ? name.isText : name.isTextBeforeSign) return this.#addJunk();
    this.#takeHeading();
    this.#items.push({ name, value, sign, average, set: this.#set });
  }

  /** Handles words without a value: a heading of the rest, or text. */
  #takeLabel({ isOfSettings, ownSet }: PrintedName): void {
    if (isOfSettings) this.#isVoid = true;
    const isHeading = this.#match(headingAt) !== null;
    if (!isHeading) this.#addJunk();
    this.#heading = isHeading ? ownSet.toLowerCase() : '';
  }

  #takeHeading(): void {
    if (this.#heading !== '') this.#set = this.#heading;
    this.#heading = '';
  }

  /** Handles text: before any place it makes everything but `name=value` text. */
  #addJunk(): void {
    this.#heading = '';
    this.#junk += 1;
    if (this.#places.length > 0) return;
    this.#isText = true;
    this.#isVoid ||= !this.#hasEquals;
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

function keyOf({ name, set }: Item, shared: string): string {
  if (printedName(name.first).isSet) return name.name;
  return set !== '' ? `${set}/${name.name}` : shared !== '' ? `${shared} ${name.name}` : name.name;
}

/** In `train Loss: 0.6 Acc: 0.5` the set of the first item applies to all, unless another names one. */
function sharedSet(items: readonly Item[]): string {
  const [first, ...others] = items;
  if (first === undefined || others.length === 0 || first.set !== '' || first.name.first === first.name.name) return '';
  const isShared = printedName(first.name.first).isSet;
  return isShared && others.every(({ name }) => name.isResult && !name.namesSet) ? first.name.first : '';
}

/** Number of unclosed parentheses; negative: more are closed than opened. */
function openIn(text: string): number {
  let open = 0;
  for (const sign of text) open += sign === '(' ? 1 : sign === ')' ? -1 : 0;
  return open;
}
