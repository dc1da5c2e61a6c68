/**
 * Regular expressions in the time of text × pattern, whatever they are: the syntax of RE2, as CEL wants it, without
 * look-around and without references to groups.
 *
 * A pattern becomes a small machine that is in several states at once (Thompson); nothing is ever tried twice, so
 * `^(a+)+$` costs no more than `^a+$`. It only tells whether a text holds a match, so lazy and greedy are the same.
 */

/** @param text Of any length. */
export type LinearPattern = {
  readonly test: (text: string) => boolean;
  /** States of the machine: what one character of a text costs at most. */
  readonly states: number;
};

/** What is wrong with a pattern, in words. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/** More makes slow machines; RE2 has the same limit for one repetition. */
export const mostStates = 1000;

type Flags = { readonly i: boolean; readonly m: boolean; readonly s: boolean };
type Edge = 'start' | 'end' | 'lineStart' | 'lineEnd' | 'word' | 'noWord';
type Node =
  | { readonly kind: 'one'; readonly fits: (character: string) => boolean }
  | { readonly kind: 'edge'; readonly edge: Edge }
  | { readonly kind: 'all'; readonly parts: readonly Node[] }
  | { readonly kind: 'any'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly min: number; readonly max: number };
type State =
  | { readonly kind: 'one'; readonly fits: (character: string) => boolean }
  | { readonly kind: 'edge'; readonly edge: Edge }
  | { readonly kind: 'fork'; readonly to: number[] }
  | { readonly kind: 'match' };

/** @throws {PatternError} When it is no pattern, or one too large. */
export function linearPattern(source: string): LinearPattern {
  if (source.length > mostStates) throw new PatternError(`a pattern of more than ${mostStates} characters`);
  const states = machineOf(new PatternParser(source).parse());
  return { test: (text) => holdsMatch(states, text), states: states.length };
}

const MAX_DEPTH = 100;

class PatternParser {
  readonly #source: string;
  #at = 0;
  #depth = 0;
  #flags: Flags = { i: false, m: false, s: false };

  constructor(source: string) {
    this.#source = source;
  }

  parse(): Node {
    const node = this.#alternatives();
    if (this.#at < this.#source.length) throw new PatternError('a `)` without its `(`');
    return node;
  }

  #alternatives(): Node {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new PatternError(`groups more than ${MAX_DEPTH} levels deep`);
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    this.#depth -= 1;
    return parts.length === 1 ? parts[0]! : { kind: 'any', parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at]!)) {
      const atom = this.#atom();
      if (atom !== null) parts.push(this.#repeated(atom));
    }
    return { kind: 'all', parts };
  }

  /** null: it only sets flags. */
  #atom(): Node | null {
    if (this.#take('(')) return this.#group();
    if (this.#take('[')) return this.#class();
    if (this.#take('\\')) return this.#escape();
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at)!);
    if ('*+?'.includes(character)) throw new PatternError(`a \`${character}\` with nothing to repeat`);
    this.#at += character.length;
    return this.#sign(character) ?? this.#literal(character);
  }

  #sign(character: string): Node | null {
    const { s, m } = this.#flags;
    if (character === '.') return { kind: 'one', fits: s ? () => true : (other) => other !== '\n' };
    if (character === '^') return { kind: 'edge', edge: m ? 'lineStart' : 'start' };
    if (character === '$') return { kind: 'edge', edge: m ? 'lineEnd' : 'end' };
    return null;
  }

  #literal(character: string): Node {
    if (!this.#flags.i) return { kind: 'one', fits: (other) => other === character };
    const lower = character.toLowerCase();
    return { kind: 'one', fits: (other) => other.toLowerCase() === lower };
  }

  #group(): Node | null {
    const outer = this.#flags;
    if (this.#take('?')) {
      const [head, flags, off, end] = /^(?:P?<\w+>|([ims]*)(?:-([ims]+))?([:)]))/.exec(this.#rest()) ?? [];
      if (head === undefined) throw new PatternError('look-around, which cannot be decided in one pass');
      this.#at += head.length;
      for (const flag of flags ?? '') this.#flags = { ...this.#flags, [flag]: true };
      for (const flag of off ?? '') this.#flags = { ...this.#flags, [flag]: false };
      if (end === ')') return null;
    }
    const node = this.#alternatives();
    if (!this.#take(')')) throw new PatternError('a `(` without its `)`');
    this.#flags = outer;
    return node;
  }

  /** One character at a time, JavaScript's own classes are safe. */
  #class(): Node {
    const [body] = /^\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*/.exec(this.#rest())!;
    this.#at += body.length;
    if (!this.#take(']')) throw new PatternError('a `[` without its `]`');
    const text = body.replace(/^(\^?)\]/, '$1\\]').replace(/\[:(\^?)(\w+):\]/g, (whole, not: string, name: string) => {
      if (not === '' && Object.hasOwn(posixClasses, name)) return posixClasses[name]!;
      throw new PatternError(`the class ${whole}`);
    });
    const escaped = text
      .replace(/\\[^]|\[/g, (part) => (part === '[' ? '\\[' : part))
      .replace(/\\([^A-Za-z0-9\\^$.*+?()[\]{}|/-])/g, '$1');
    return this.#oneOf(`[${escaped}]`);
  }

  #escape(): Node {
    const [word] =
      /^(?:p\{\^?\w+\}|P\{\w+\}|[pP][A-Z]|x\{[0-9A-Fa-f]{1,6}\}|x[0-9A-Fa-f]{2}|[^])/u.exec(this.#rest()) ?? [];
    if (word === undefined) throw new PatternError('a `\\` at its end');
    this.#at += word.length;
    const edge = edges[word];
    if (edge !== undefined) return { kind: 'edge', edge };
    if (/^[1-9k]/.test(word)) throw new PatternError('a reference to a group, which cannot be decided in one pass');
    if (/^x/.test(word)) return this.#literal(String.fromCodePoint(parseInt(word.replace(/[x{}]/g, ''), 16)));
    if (/^[pP][A-Z]$/.test(word)) return this.#oneOf(`\\${word[0]!}{${word[1]!}}`);
    if (/^([dDwWsSnrtfv0]|[pP]\{)/.test(word)) return this.#oneOf(`\\${word}`);
    if (/^[A-Za-z]/.test(word)) throw new PatternError(`the escape \`\\${word}\``);
    return this.#literal(word);
  }

  #oneOf(text: string): Node {
    try {
      const pattern = new RegExp(`^${text}$`, this.#flags.i ? 'isu' : 'su');
      return { kind: 'one', fits: (character) => pattern.test(character) };
    } catch {
      throw new PatternError(`${text}, which is not a character class`);
    }
  }

  #repeated(atom: Node): Node {
    const [head, sign, from, comma, to] = /^(?:([*+?])|\{(\d{1,4})(?:(,)(\d{0,4}))?\})\??/.exec(this.#rest()) ?? [];
    if (head === undefined) return atom;
    this.#at += head.length;
    const { min, max } = sign === undefined ? counted(Number(from), comma, to) : signed[sign]!;
    if (max < min) throw new PatternError(`\`${head}\`, which repeats less than it must`);
    return this.#repeated({ kind: 'repeat', part: atom, min, max });
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #rest(): string {
    return this.#source.slice(this.#at);
  }
}

type Times = { readonly min: number; readonly max: number };
const signed: Readonly<Record<string, Times>> = {
  '*': { min: 0, max: Infinity },
  '+': { min: 1, max: Infinity },
  '?': { min: 0, max: 1 },
};

/** `{2}`, `{2,}`, `{2,3}`. */
function counted(min: number, comma: string | undefined, to: string | undefined): Times {
  if (comma === undefined) return { min, max: min };
  return { min, max: to === '' ? Infinity : Number(to) };
}

const edges: Readonly<Record<string, Edge | undefined>> = { b: 'word', B: 'noWord', A: 'start', z: 'end' };
const posixClasses: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
  word: '\\w',
  xdigit: '0-9A-Fa-f',
  punct: '!-\\/:-@\\[-`{-~',
};

function machineOf(node: Node): State[] {
  const machine = new Machine();
  machine.add(node);
  machine.states.push({ kind: 'match' });
  return machine.states;
}

/** Puts the states of a pattern one after the other; a state that is passed leads to the next. */
class Machine {
  readonly states: State[] = [];
  #visits = 0;

  add(node: Node): void {
    // Visits and not states: `((){1000}){1000}` makes no state a million times.
    this.#visits += 1;
    if (this.#visits > 4 * mostStates || this.states.length > mostStates) {
      throw new PatternError(`repetitions that amount to more than ${mostStates} states`);
    }
    if (node.kind === 'all') node.parts.forEach((part) => this.add(part));
    else if (node.kind === 'any') this.#addAny(node.parts);
    else if (node.kind === 'repeat') this.#addRepeat(node);
    else this.states.push(node);
  }

  #addAny(parts: readonly Node[]): void {
    const { to } = this.#fork();
    const ends = parts.map((part) => {
      to.push(this.states.length);
      this.add(part);
      return this.#fork();
    });
    ends.forEach((end) => end.to.push(this.states.length));
  }

  #addRepeat({ part, min, max }: Extract<Node, { kind: 'repeat' }>): void {
    for (let times = 0; times < min; times += 1) this.add(part);
    if (max === Infinity) return this.#addLoop(part);
    const skips = [];
    for (let times = min; times < max; times += 1) {
      const skip = this.#fork();
      skip.to.push(this.states.length);
      skips.push(skip);
      this.add(part);
    }
    skips.forEach((skip) => skip.to.push(this.states.length));
  }

  #addLoop(part: Node): void {
    const start = this.states.length;
    const { to } = this.#fork();
    to.push(this.states.length);
    this.add(part);
    this.#fork().to.push(start);
    to.push(this.states.length);
  }

  #fork(): { to: number[] } {
    const fork = { kind: 'fork' as const, to: [] };
    this.states.push(fork);
    return fork;
  }
}

/** All states at once, one character after the other; each is entered at most once at a place. */
function holdsMatch(states: readonly State[], text: string): boolean {
  const characters = [...text];
  const seen = new Int32Array(states.length).fill(-1);
  let current: number[] = [];
  let found = false;
  const enter = (first: number, at: number, into: number[]): void => {
    const open = [first];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (seen[index] === at) continue;
      seen[index] = at;
      const state = states[index]!;
      if (state.kind === 'match') found = true;
      else if (state.kind === 'one') into.push(index);
      else if (state.kind === 'fork') open.push(...state.to);
      else if (isAt(state.edge, characters, at)) open.push(index + 1);
    }
  };
  for (let at = 0; at <= characters.length && !found; at += 1) {
    const entered: number[] = [];
    for (const index of current) {
      const state = states[index]!;
      if (state.kind === 'one' && state.fits(characters[at - 1]!)) enter(index + 1, at, entered);
    }
    enter(0, at, entered);
    current = entered;
  }
  return found;
}

function isAt(edge: Edge, characters: readonly string[], at: number): boolean {
  switch (edge) {
    case 'start':
      return at === 0;
    case 'end':
      return at === characters.length;
    case 'lineStart':
      return at === 0 || characters[at - 1] === '\n';
    case 'lineEnd':
      return at === characters.length || characters[at] === '\n';
    default: {
      const isEdge = isWord(characters[at - 1]) !== isWord(characters[at]);
      return (edge === 'word') === isEdge;
    }
  }
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /^\w$/.test(character);
}
