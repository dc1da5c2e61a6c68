import { mostRuns } from '../expand/compile-block.js';
import type { Value } from '../expand/expression/cel-environment.js';

/** A part of a value as it is written, with its range of characters. */
export type ValueNode = { readonly start: number; readonly end: number } & (
  | { readonly kind: 'word'; readonly text: string; /** Has a backslash, so it is a text. */ readonly escaped: boolean }
  | { readonly kind: 'quoted'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly ValueNode[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [string, ValueNode])[] }
  /** Hydra's functions: `range(0,5)`, `sort(3,1,2,reverse=true)`. */
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly args: readonly ValueNode[];
      readonly named: readonly (readonly [string, ValueNode])[];
    }
  /** guild's functions: `loguniform[1e-5:1e-1]`; `name` is empty for `[0:5]`. */
  | { readonly kind: 'slice'; readonly name: string; readonly parts: readonly string[] }
);

/** A mistake in a value, its place, and what to write instead. */
export class ValueMistake extends Error {
  override readonly name = 'ValueMistake';
  readonly start: number;
  readonly end: number;
  readonly fix: string;

  constructor(problem: string, fix: string, { start, end }: { start: number; end: number }) {
    super(problem);
    this.fix = fix;
    this.start = start;
    this.end = end;
  }
}

/**
 * Parses the right side of `name=value` into the elements that its commas separate: Hydra's syntax of overrides, and guild's for
 * brackets with colons. Their meaning is decided elsewhere.
 *
 * @throws {ValueMistake} When a bracket or a quote is not closed, or a character is misplaced.
 */
export function parseValue(text: string): ValueNode[] {
  const reader = new Reader(text);
  const elements = reader.elements(null, 0);
  if (!reader.isAtEnd) throw reader.stray();
  return elements;
}

/** Limit on the nesting of brackets. */
const deepest = 16;
const closing = { '(': ')', '[': ']', '{': '}' } as const;
const quotesHelp = 'Put a text with special characters in quotes of its own: name="\'a, b\'".';

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  stray(): ValueMistake {
    return this.#mistake(`\`${this.#text[this.#at]}\` has nothing to close.`, quotesHelp);
  }

  /** Elements up to a closing bracket, which is not consumed, or the end. */
  elements(close: string | null, depth: number): ValueNode[] {
    if (depth > deepest) throw this.#mistake(`brackets are more than ${deepest} deep.`, 'Write it as a sweep file.');
    this.#skipBlanks();
    if (close !== null && this.#text[this.#at] === close) return [];
    const elements = [this.#element(depth)];
    while (this.#text[this.#at] === ',') {
      this.#at += 1;
      elements.push(this.#element(depth));
    }
    return elements;
  }

  #element(depth: number): ValueNode {
    this.#skipBlanks();
    const node = this.#plainElement(depth);
    this.#skipBlanks();
    const next = this.#text[this.#at];
    if (next === undefined || ',)]}:'.includes(next)) return node;
    if (next === '*') {
      const problem = 'equal values are one run here, so a list cannot be repeated.';
      throw this.#mistake(problem, 'Repeat runs with a seed: `seed=0..2`.');
    }
    throw this.#mistake(`\`${next}\` stands where a comma or the end is expected.`, quotesHelp);
  }

  #plainElement(depth: number): ValueNode {
    const start = this.#at;
    const first = this.#text[start];
    if (first === '"' || first === "'") return this.#quoted(first);
    if (first === '[') return this.#slice('', start) ?? this.#list(depth);
    if (first === '{') return this.#map(depth);
    const word = this.#word(',()[]{}\'"');
    const next = this.#text[this.#at];
    const name = this.#text.slice(start, this.#at);
    if (next === '(') return this.#call(name, start, depth);
    if (next === '[') return this.#named(name, start);
    if (word.text !== '') return word;
    const what = next === undefined ? 'the end' : `\`${next}\``;
    throw this.#mistake(`a value is missing before ${what}.`, "Write a value, or '' for an empty text.");
  }

  #named(name: string, start: number): ValueNode {
    const slice = this.#slice(name, start);
    if (slice === null) throw this.#mistake('`[` stands in the middle of a word.', quotesHelp);
    return slice;
  }

  /** A word up to one of these characters or the end. A backslash escapes a special character; `${…}` is kept as a whole. */
  #word(stops: string): Extract<ValueNode, { kind: 'word' }> {
    const start = this.#at;
    let [text, escaped] = ['', false];
    while (!this.isAtEnd) {
      const [character, next] = [this.#text[this.#at]!, this.#text[this.#at + 1]];
      if (character === '\\' && next !== undefined && '\\()[]{}:=, \t'.includes(next)) {
        text += next;
        escaped = true;
        this.#at += 2;
      } else if (character === '$' && next === '{') {
        const end = this.#text.indexOf('}', this.#at);
        if (end < 0) throw this.#mistake('`${` is not closed.', 'Add the `}`.');
        text += this.#text.slice(this.#at, end + 1);
        this.#at = end + 1;
      } else if (stops.includes(character)) break;
      else {
        text += character;
        this.#at += 1;
      }
    }
    const trimmed = escaped ? text : text.trim();
    const end = Math.max(start, this.#text.slice(0, this.#at).trimEnd().length);
    return { kind: 'word', text: trimmed, escaped, start, end };
  }

  #quoted(quote: string): ValueNode {
    const start = this.#at;
    let text = '';
    for (this.#at += 1; !this.isAtEnd; this.#at += 1) {
      const character = this.#text[this.#at]!;
      if (character === quote) {
        this.#at += 1;
        return { kind: 'quoted', text, start, end: this.#at };
      }
      const next = this.#text[this.#at + 1];
      if (character === '\\' && (next === quote || next === '\\')) this.#at += 1;
      text += this.#text[this.#at]!;
    }
    this.#at = start;
    throw this.#mistake('the quote is not closed.', `Add ${quote} at its end.`);
  }

  /** `[a:b]`, `name[a:b:c]`; null: the brackets contain no slice, and nothing was consumed. */
  #slice(name: string, start: number): ValueNode | null {
    const end = this.#text.indexOf(']', this.#at);
    const inside = end < 0 ? '' : this.#text.slice(this.#at + 1, end);
    const isSlice = name === '' ? /^[^,'"[\](){}]*:[^,'"[\](){}]*$/.test(inside) : /^[^,'"[\](){}]+$/.test(inside);
    if (!isSlice) return null;
    this.#at = end + 1;
    const parts = inside.split(':').map((part) => part.trim());
    return { kind: 'slice', name, parts, start, end: this.#at };
  }

  #list(depth: number): ValueNode {
    const start = this.#at;
    this.#at += 1;
    const items = this.elements(']', depth + 1);
    this.#close('[', start);
    return { kind: 'list', items, start, end: this.#at };
  }

  #map(depth: number): ValueNode {
    const start = this.#at;
    this.#at += 1;
    this.#skipBlanks();
    const entries: [string, ValueNode][] = [];
    while (this.#text[this.#at] !== '}' && !this.isAtEnd) {
      const first = this.#text[this.#at]!;
      const key = first === '"' || first === "'" ? this.#quoted(first) : this.#word(':,()[]{}\'"');
      this.#skipBlanks();
      if (this.#text[this.#at] !== ':') throw this.#mistake('a map has `key: value`.', quotesHelp);
      this.#at += 1;
      entries.push(['text' in key ? key.text : '', this.#element(depth + 1)]);
      if (depth > deepest) throw this.#mistake(`brackets are more than ${deepest} deep.`, 'Write it as a sweep file.');
      if (this.#text[this.#at] !== ',') break;
      this.#at += 1;
      this.#skipBlanks();
    }
    this.#close('{', start);
    return { kind: 'map', entries, start, end: this.#at };
  }

  #call(name: string, start: number, depth: number): ValueNode {
    const open = this.#at;
    this.#at += 1;
    const [args, named]: [ValueNode[], [string, ValueNode][]] = [[], []];
    this.#skipBlanks();
    while (this.#text[this.#at] !== ')' && !this.isAtEnd) {
      const [argument] = /^[a-z_]+\s*=\s*/i.exec(this.#text.slice(this.#at)) ?? [];
      this.#at += argument?.length ?? 0;
      if (depth > deepest) throw this.#mistake(`brackets are more than ${deepest} deep.`, 'Write it as a sweep file.');
      const node = this.#element(depth + 1);
      if (argument === undefined) args.push(node);
      else named.push([argument.replace(/\s*=\s*$/, ''), node]);
      if (this.#text[this.#at] !== ',') break;
      this.#at += 1;
      this.#skipBlanks();
    }
    this.#close('(', open);
    return { kind: 'call', name: name.trim(), args, named, start, end: this.#at };
  }

  #close(open: keyof typeof closing, start: number): void {
    if (this.#text[this.#at] === closing[open]) {
      this.#at += 1;
      return;
    }
    this.#at = start;
    throw this.#mistake(`\`${open}\` is not closed.`, `Add the \`${closing[open]}\`, or put the value in quotes.`);
  }

  #skipBlanks(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #mistake(problem: string, fix: string): ValueMistake {
    return new ValueMistake(problem, fix, { start: this.#at, end: this.#at + 1 });
  }
}

/** How a parameter gets its values. */
export type GridValue =
  | { readonly kind: 'constant'; readonly value: Value }
  | { readonly kind: 'list'; readonly values: readonly Value[] }
  /** In the keys of the sweep file: `distribution`, `min`, `max`, `q`. */
  | { readonly kind: 'drawn'; readonly distribution: Readonly<Record<string, string | number>> };

/** A range of characters. */
export type Span = { readonly start: number; readonly end: number };

/** An arithmetic sequence. */
type Steps = { first: number; last: number; step: number; isEndIncluded: boolean };

/**
 * The numbers of a sequence, with no more decimals than `first` and `step` have: `range(0,0.3,0.1)` contains 0.1 and 0.2.
 *
 * @throws {ValueMistake} When there are none, or too many.
 */
export function steps({ first, last, step, isEndIncluded }: Steps, place: Span): number[] {
  const exact = (last - first) / step;
  if (step === 0 || !Number.isFinite(exact)) {
    throw new ValueMistake('the step cannot be 0.', 'Write for example `range(0,10,2)`.', place);
  }
  // Steps of 0.1 do not reach the end exactly.
  const isMet = Math.abs(exact - Math.round(exact)) < 1e-9;
  const size = isMet ? Math.round(exact) + Number(isEndIncluded) : Math.floor(exact) + 1;
  if (size < 1) {
    const problem = `there is nothing from ${first} to ${last} in steps of ${step}.`;
    throw new ValueMistake(problem, 'Exchange the ends, or change the sign of the step.', place);
  }
  refuseMany(size, place);
  const decimals = Math.min(100, Math.max(decimalsOf(first), decimalsOf(step)));
  return Array.from({ length: size }, (_, index) => Number((first + index * step).toFixed(decimals)));
}

/** `count` numbers from one end to the other, both included, rounded to 12 digits. */
export function spaced(first: number, last: number, count: number): number[] {
  if (count === 1) return [first];
  const width = (last - first) / (count - 1);
  return Array.from({ length: count }, (_, index) => rounded(first + index * width));
}

/** Removes the last digits, which are rounding errors. */
export function rounded(value: number): number {
  return Number(value.toPrecision(12));
}

/** @throws {ValueMistake} When there are more values than a sweep may have runs. */
export function refuseMany(count: number, place: Span): void {
  if (count <= mostRuns) return;
  const problem = `these are ${count.toLocaleString('en-US')} values; the limit is ${mostRuns.toLocaleString('en-US')}.`;
  throw new ValueMistake(problem, 'Make the range smaller, or its step larger.', place);
}

function decimalsOf(value: number): number {
  const [digits = '', power = '0'] = value.toExponential().split('e');
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(power));
}
