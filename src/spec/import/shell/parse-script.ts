import type { Place } from '../../file/diagnostic.js';
import {
  type Assignment,
  literalText,
  type Redirect,
  ScriptMistake,
  type ScriptNode,
  type SimpleCommand,
  type Word,
} from './script-node.js';
import { readScriptWord } from './script-word.js';

/** Limit on the nesting of loops. */
const deepest = 16;

/**
 * Parses a script of a POSIX shell or bash. What only a shell can work out is kept as a whole, with its name.
 *
 * @throws {ScriptMistake} If a quote or a block is not closed, or for a here-document.
 */
export function parseScript(text: string): ScriptNode[] {
  const parser = new ScriptParser(text);
  const nodes = parser.nodes([], 0);
  if (!parser.isAtEnd) throw parser.mistake('this closes nothing.', 'Remove it.');
  return nodes;
}

type Simple = Place & { readonly line: number } & SimpleCommand;

/** What opens a block that is kept as a whole, and what closes it. */
const blocks: Readonly<Record<string, string>> = {
  ...{ if: 'fi', case: 'esac', while: 'done', until: 'done', select: 'done', '{': '}', '(': ')' },
};
/** Words behind which a command begins. */
const leading = new Set(['then', 'else', 'elif', 'do', '!', 'time']);
/** Commands whose arguments are assignments. */
const declaring = new Set(['export', 'declare', 'typeset', 'local', 'readonly']);
const redirect = /^(?:\d*(?:>>|>&|<&|<<<|<<|>|<)|&>>|&>)/;

class ScriptParser {
  readonly #text: string;
  readonly #lineStarts: readonly number[];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  mistake(problem: string, fix: string, place: Place = { start: this.#at, end: this.#at + 1 }): ScriptMistake {
    return new ScriptMistake(problem, fix, place);
  }

  /** Commands up to one of these words, which is not consumed, or the end. */
  nodes(ends: readonly string[], depth: number): ScriptNode[] {
    const nodes: ScriptNode[] = [];
    for (;;) {
      this.#skip(/^(?:[\s;]+|\\\n|#[^\n]*)/);
      const next = this.#peek();
      if (this.isAtEnd || ends.includes(next) || next.startsWith(')')) return nodes;
      if (next === 'done' || next === 'fi' || next === 'esac' || next === '}') return nodes;
      nodes.push(this.#node(next, depth));
    }
  }

  #node(next: string, depth: number): ScriptNode {
    const start = this.#at;
    if (depth > deepest) throw this.mistake(`blocks are more than ${deepest} deep.`, 'Write it as a sweep file.');
    if (next === 'for') return this.#for(start, depth);
    const isFunction = /^(?:function\s+[\w-]+|[\w-]+\s*\(\s*\))/.test(this.#text.slice(start, start + 200));
    const opener = isFunction ? 'function' : next.startsWith('(') ? '(' : next;
    if (isFunction || Object.hasOwn(blocks, opener)) return this.#whole(start, opener);
    return this.#list(start);
  }

  /** Pipes and lists: `a | b`, `a && b`, `a &`. */
  #list(start: number): ScriptNode {
    const commands = [this.#simple()];
    let what: string | null = null;
    for (let operator = this.#operator(); operator !== ''; operator = this.#operator()) {
      if (operator !== '|') what = operator;
      this.#skip(/^(?:\s|\\\n)/);
      if (Object.hasOwn(blocks, this.#peek()) || this.#peek().startsWith('(')) {
        this.#whole(this.#at, this.#peek());
        what ??= operator;
      } else commands.push(this.#simple());
    }
    const place = this.#placed(start);
    if (what !== null) return { ...place, kind: 'other', what: `\`${what}\`` };
    return commands.length === 1 ? commands[0]! : { ...place, kind: 'pipe', commands };
  }

  /** The operator that joins the next command; empty: the list ends. */
  #operator(): string {
    this.#blanks();
    const [operator = ''] = /^(?:&&|\|\||\|&?)/.exec(this.#text.slice(this.#at, this.#at + 2)) ?? [];
    this.#at += operator.length;
    if (operator === '' && this.#text[this.#at] === '&') this.#at += 1;
    return operator;
  }

  #simple(): Simple {
    const start = this.#at;
    const [assignments, words, redirects]: [Assignment[], Word[], Redirect[]] = [[], [], []];
    for (;;) {
      this.#blanks();
      const rest = this.#text.slice(this.#at, this.#at + 300);
      const [operator] = redirect.exec(rest) ?? [];
      if (operator !== undefined) redirects.push(this.#redirect(operator));
      else if (rest === '' || /^[\n;&|)]/.test(rest) || (rest.startsWith('#') && this.#at > start)) break;
      else if (this.#isAssignment(rest, words)) assignments.push(this.#assignment());
      else words.push(this.#word());
    }
    if (this.#at === start) throw this.mistake('a command is missing here.', 'Correct the script.');
    return { ...this.#placed(start), kind: 'simple', assignments, words, redirects };
  }

  #isAssignment(rest: string, words: readonly Word[]): boolean {
    const [first] = words;
    const mayAssign = first === undefined || declaring.has(literalText(first) ?? '');
    return mayAssign && /^[A-Za-z_]\w*=/.test(rest);
  }

  #assignment(): Assignment {
    const start = this.#at;
    const [head, name] = /^(\w+)=/.exec(this.#text.slice(start))! as unknown as [string, string];
    this.#at += head.length;
    if (this.#text[this.#at] !== '(') return this.#assigned(name, start);
    this.#at += 1;
    const value: Word[] = [];
    for (;;) {
      this.#skip(/^(?:\s|\\\n|#[^\n]*)/);
      if (this.isAtEnd)
        throw this.mistake('this list is not closed.', 'Add the `)`.', { start, end: start + head.length });
      if (this.#text[this.#at] === ')') break;
      value.push(this.#word());
    }
    this.#at += 1;
    return { name, value, start, end: this.#at };
  }

  /** `X=value`; the value may be empty. */
  #assigned(name: string, start: number): Assignment {
    const value = readScriptWord(this.#text, this.#at);
    this.#at = value.end;
    return { name, value, start, end: this.#at };
  }

  #redirect(operator: string): Redirect {
    const start = this.#at;
    if (/<<(?!<)/.test(operator))
      throw this.mistake('a here-document cannot be taken over.', 'Put its text into a file.');
    this.#at += operator.length;
    this.#blanks();
    const target = this.#word();
    return { operator, target, source: this.#text.slice(start, this.#at) };
  }

  #word(): Word {
    const word = readScriptWord(this.#text, this.#at);
    if (word.end === this.#at) {
      const what = this.isAtEnd ? 'the end' : `\`${this.#text[this.#at]}\``;
      throw this.mistake(`${what} cannot be read here.`, 'Put it in quotes, or write the sweep by hand.');
    }
    this.#at = word.end;
    return word;
  }

  #for(start: number, depth: number): ScriptNode {
    const head = /^for\s*\(\((.*?)\)\)/s.exec(this.#text.slice(start, start + 1000));
    if (head !== null) {
      this.#at += head[0].length;
      return { ...this.#body(start, depth), kind: 'count', head: head[1]! };
    }
    const [named, name] = /^for\s+([A-Za-z_]\w*)(?:\s+in\b)/.exec(this.#text.slice(start, start + 1000)) ?? [];
    if (named === undefined || name === undefined) {
      throw this.mistake('this loop has no list behind `in`.', 'List its values.', { start, end: start + 3 });
    }
    this.#at += named.length;
    const words: Word[] = [];
    for (this.#blanks(); !/^(?:[\n;#]|$)/.test(this.#text.slice(this.#at, this.#at + 1)); this.#blanks())
      words.push(this.#word());
    return { ...this.#body(start, depth), kind: 'for', name, words };
  }

  #body(start: number, depth: number): Place & { line: number; body: ScriptNode[]; inside: Place } {
    this.#skip(/^(?:[\s;]+|\\\n|#[^\n]*)/);
    if (this.#peek() !== 'do') throw this.mistake('`do` is missing.', 'Add it.', { start, end: start + 3 });
    this.#at += 2;
    const from = this.#at;
    const body = this.nodes(['done'], depth + 1);
    if (this.#peek() !== 'done')
      throw this.mistake('this loop is not closed.', 'Add `done`.', { start, end: start + 3 });
    const inside = { start: from, end: this.#at };
    this.#at += 4;
    this.#blanks();
    if (/^[|<>]/.test(this.#text.slice(this.#at))) {
      throw this.mistake(
        'what a whole loop prints or reads cannot be taken over.',
        'Put it behind the command inside.',
      );
    }
    if (this.#text[this.#at] === '&' && this.#text[this.#at + 1] !== '&') this.#at += 1;
    return { ...this.#placed(start), body, inside };
  }

  /** A block that is kept as a whole. Finds its end by the words that open and close blocks. */
  #whole(start: number, opener: string): ScriptNode {
    if (opener === 'case' || opener === 'function') {
      throw this.mistake(`\`${opener}\` cannot be taken over.`, 'Write what it does for each run.', {
        start,
        end: start + 4,
      });
    }
    const closers: string[] = [];
    let isCommand = true;
    do {
      this.#skip(/^(?:[^\S\n]|\\\n|#[^\n]*)/);
      if (this.isAtEnd) throw this.mistake(`this \`${opener}\` is not closed.`, 'Close it.', { start, end: start + 1 });
      isCommand = this.#step(closers, isCommand);
    } while (closers.length > 0);
    this.#skip(/^(?:[^\S\n]|\d*[<>]+&?\s*[\w./-]+|&(?!&))/);
    return { ...this.#placed(start), kind: 'other', what: `\`${opener}\`` };
  }

  /** Consumes one word or sign inside a block; returns whether a command begins behind it. */
  #step(closers: string[], isCommand: boolean): boolean {
    const sign = /^(?:\n|;|&&?|\|\|?|\d*[<>]+&?)/.exec(this.#text.slice(this.#at, this.#at + 4))?.[0];
    if (sign !== undefined) {
      this.#at += sign.length;
      return !/[<>]/.test(sign);
    }
    const next = /[()]/.test(this.#text[this.#at]!) ? this.#text[this.#at]! : this.#peek();
    const isBracket = next === ')';
    if (next === closers.at(-1) && (isCommand || isBracket)) {
      closers.pop();
      this.#at += next.length;
      return false;
    }
    return isCommand && this.#opens(closers, next) ? next !== 'for' : this.#passed(next);
  }

  /** Enters a block inside a block. */
  #opens(closers: string[], next: string): boolean {
    const closer = next === 'for' ? 'done' : Object.hasOwn(blocks, next) ? blocks[next] : undefined;
    if (closer === undefined || next === 'case') return false;
    closers.push(closer);
    this.#at += next.length;
    return true;
  }

  #passed(next: string): boolean {
    this.#word();
    return leading.has(next);
  }

  /** The bare word here, which is not consumed. */
  #peek(): string {
    return /^[^\s;&|<>]+/.exec(this.#text.slice(this.#at, this.#at + 100))?.[0] ?? '';
  }

  #blanks(): void {
    this.#skip(/^(?:[^\S\n]+|\\\n)/);
  }

  #skip(pattern: RegExp): void {
    for (let match = this.#match(pattern); match !== null; match = this.#match(pattern)) this.#at += match[0].length;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    // A comment may be long; a window would cut it.
    const isLong = this.#text[this.#at] === '#';
    return pattern.exec(
      isLong
        ? this.#text.slice(this.#at, this.#text.indexOf('\n', this.#at) >>> 0)
        : this.#text.slice(this.#at, this.#at + 80),
    );
  }

  #placed(start: number): Place & { line: number } {
    return { start, end: this.#at, line: this.#lineAt(start) };
  }

  #lineAt(at: number): number {
    let [low, high] = [0, this.#lineStarts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#lineStarts[middle]! <= at) low = middle;
      else high = middle;
    }
    return low + 1;
  }
}
