import { mostRuns } from '../../expand/compile-block.js';
import { numberText } from '../../expand/value-text.js';
import type { Place } from '../../file/diagnostic.js';
import { expandBraces } from './brace-expansion.js';
import { parseScript } from './parse-script.js';
import { type Part, placedAt, ScriptMistake, type Word } from './script-node.js';
import {
  environmentText,
  isList,
  joined,
  lineOf,
  plainText,
  type Text,
  type Variable,
  varies,
} from './script-values.js';

/** What an expansion may look up, and the parameters that it may make. */
export type Scope = {
  readonly variables: Map<string, Variable>;
  /** The value of each parameter at this point of the loops, the outermost first. */
  readonly bindings: Map<string, string>;
  /** Variables that the script does not set. */
  readonly foreign: Set<string>;
  /** Names of parameters that were made of parts of words. */
  readonly names: Map<Part, string>;
  /** The text of a file; null: it is not readable. */
  readonly readFile: (path: string) => string | null;
};

/** A new parameter with this value at this point. */
export function boundText(scope: Scope, name: string, text: string): Text {
  scope.bindings.set(name, text);
  return { text, pieces: [{ parameter: name, text }] };
}

/** The words of a command after all expansions. What depends on a loop in a way of its own becomes a parameter. */
export function expandWords(words: readonly Word[], scope: Scope): Text[] {
  const all: Text[] = [];
  for (const word of words) {
    const before = all.at(-1)?.text ?? '';
    for (const each of expandBraces(word)) all.push(...fieldsOf(each, scope, before));
  }
  return all;
}

/** A word where nothing is split, as on the right side of `X=…`. */
export function expandWhole(word: Word, scope: Scope): Text {
  refuseHome(word);
  return joined(word.parts.map((part) => lineOf(valuesOf(part, scope, word))));
}

/** The fields of a word: unquoted values are split at blanks. */
function fieldsOf(word: Word, scope: Scope, before: string): Text[] {
  refuseHome(word);
  const fields: Text[][] = [];
  let isOpen = false;
  for (const part of word.parts) {
    const values = valuesOf(part, scope, word).map((text) => {
      if (text.pieces !== null) return text;
      return boundText(
        scope,
        nameOf(part, scope, () => nameFor(part, fields.at(-1) ?? [], before)),
        text.text,
      );
    });
    const split =
      part.quoted || part.kind === 'text' ? values.map((text) => [text]) : values.map((text) => splitText(text));
    if (part.kind === 'text' && !part.quoted) refusePattern(part.text, word);
    split.forEach((pieces, index) => {
      pieces.forEach((piece, at) => {
        if (!isOpen || index > 0 || at > 0) fields.push([]);
        fields.at(-1)!.push(piece);
        isOpen = true;
      });
    });
    if (!part.quoted && part.kind !== 'text') values.forEach(({ text }) => refusePattern(text, word));
  }
  return fields.map(joined);
}

function splitText(text: Text): Text[] {
  if (!/\s/.test(text.text) && text.text !== '') return [text];
  const words = text.text.split(/\s+/).filter((word) => word !== '');
  return words.map(plainText);
}

function refuseHome({ parts, start, end }: Word): void {
  const [first] = parts;
  if (first?.kind !== 'text' || first.quoted || !first.text.startsWith('~')) return;
  throw new ScriptMistake('`~` is the home folder of whoever runs the script.', 'Write the folder, or `$HOME`.', {
    start,
    end,
  });
}

function refusePattern(text: string, { start, end }: Place): void {
  if (!/[*?[]/.test(text)) return;
  throw new ScriptMistake(
    'a pattern stands for the files that are there.',
    'List the files, or put it in quotes if it is meant as it stands.',
    { start, end },
  );
}

/** The values of a part: one, or those of a list. */
function valuesOf(part: Part, scope: Scope, place: Place): readonly Text[] {
  switch (part.kind) {
    case 'text':
      return [plainText(part.text)];
    case 'variable':
      return variableValues(part, scope, place);
    case 'count':
      return [plainText(String(lengthOf(part.name, scope, place)))];
    case 'indices':
      return Array.from({ length: lengthOf(part.name, scope, place) }, (_, index) => plainText(String(index)));
    case 'arithmetic':
      return [arithmeticText(part.expression, scope, place)];
    case 'command':
      return [commandText(part.source, scope, place)];
    case 'odd':
      throw new ScriptMistake(`\`${part.source}\` can only be worked out by a shell.`, 'Write its value.', place);
  }
}

function variableValues(
  { name, index }: Extract<Part, { kind: 'variable' }>,
  scope: Scope,
  place: Place,
): readonly Text[] {
  const variable = scope.variables.get(name);
  if (variable === undefined) {
    refuseUnknowable(name, place);
    scope.foreign.add(name);
    if (index === null) return [environmentText(name)];
    throw new ScriptMistake(`\`${name}\` is not set in the script.`, 'Write its values.', place);
  }
  if (!isList(variable)) return [variable];
  if (index === '@') return variable;
  const at = index === null ? plainText('0') : arithmeticText(index, scope, place);
  const element = variable[Number(at.text) < 0 ? variable.length + Number(at.text) : Number(at.text)];
  if (element === undefined) {
    throw new ScriptMistake(`\`${name}\` has no element ${at.text}.`, 'Correct the index, or the list.', place);
  }
  return [varies(at) ? { text: element.text, pieces: null } : element];
}

/** Variables that are only set where and when a run is. */
function refuseUnknowable(name: string, place: Place): void {
  if (!/^(?:SLURM_\w+|RANDOM|SRANDOM|SECONDS|LINENO|BASH\w*|HOSTNAME|EPOCH\w+|TMPDIR|OLDPWD|PWD|PPID|UID)$/.test(name))
    return;
  throw new ScriptMistake(
    `\`$${name}\` is only known where a run is.`,
    'Write its value, or put the command into a script.',
    place,
  );
}

function lengthOf(name: string, { variables }: Scope, place: Place): number {
  const variable = variables.get(name);
  if (variable === undefined)
    throw new ScriptMistake(`\`${name}\` is not set in the script.`, 'Write its value.', place);
  return isList(variable) ? variable.length : variable.text.length;
}

/** The value of an expression. One that depends on a parameter depends on it in a way of its own. */
export function arithmeticText(expression: string, scope: Scope, place: Place): Text {
  let isVarying = false;
  try {
    const value = arithmeticValue(expression, (name) => {
      if (name.startsWith('#')) return lengthOf(name.slice(1), scope, place);
      const variable = scope.variables.get(name);
      if (variable === undefined || isList(variable))
        throw new ArithmeticMistake(`\`${name}\` is not set in the script`);
      isVarying ||= varies(variable);
      if (!/^\s*-?(?:0|[1-9]\d*)\s*$/.test(variable.text))
        throw new ArithmeticMistake(`\`${name}\` is no whole number`);
      return Number(variable.text);
    });
    return isVarying ? { text: String(value), pieces: null } : plainText(String(value));
  } catch (error) {
    if (!(error instanceof ArithmeticMistake)) throw error;
    throw new ScriptMistake(`this cannot be worked out: ${error.message}.`, 'Write the value.', place);
  }
}

/** What the command in `$(…)` prints: `seq`, `cat FILE`, `sed -n 3p FILE`, `echo`. */
function commandText(source: string, scope: Scope, place: Place): Text {
  const [node, ...more] = placedAt(place, () => parseScript(source));
  const isAlone =
    node?.kind === 'simple' && more.length === 0 && node.redirects.length === 0 && node.assignments.length === 0;
  const words = isAlone ? placedAt(place, () => expandWords(node.words, { ...scope, bindings: new Map() })) : [];
  const output = outputOf(words, scope, place);
  if (output === null) {
    throw new ScriptMistake(
      `what \`${source.trim().slice(0, 40)}\` prints is not known without running it.`,
      'Write its output.',
      place,
    );
  }
  return words.some(varies) ? { text: output, pieces: null } : plainText(output);
}

/** The output of a command that only computes; null: it is another one. */
export function outputOf(words: readonly Text[], scope: Pick<Scope, 'readFile'>, place: Place): string | null {
  const [program = '', ...args] = words.map(({ text }) => text);
  const output = Object.hasOwn(computing, program) ? computing[program] : undefined;
  return output?.(args, { scope, place }) ?? null;
}

type Reading = { readonly scope: Pick<Scope, 'readFile'>; readonly place: Place };

const computing: Readonly<Record<string, (args: readonly string[], reading: Reading) => string | null>> = {
  seq: (args, { place }) => sequence(args, place),
  echo: (args) => (args[0]?.startsWith('-') ? null : args.join(' ')),
  cat: (args, { scope, place }) => (args.length === 1 ? fileText(args[0]!, scope, place).trimEnd() : null),
  sed: ([option, program = '', path = '', ...more], reading) => {
    const [, line] = /^(\d+)p$/.exec(program) ?? [];
    return option === '-n' && line !== undefined && more.length === 0 ? fileLine(path, Number(line), reading) : null;
  },
  awk: ([program = '', path = '', ...more], reading) => {
    const [, line] = /^NR *== *(\d+)$/.exec(program) ?? [];
    return line !== undefined && more.length === 0 ? fileLine(path, Number(line), reading) : null;
  },
};

function fileLine(path: string, line: number, { scope, place }: Reading): string {
  const found = fileText(path, scope, place).split('\n')[line - 1];
  if (found !== undefined) return found.trimEnd();
  throw new ScriptMistake(`${path} has no line ${line}.`, 'Correct the range of the tasks, or the file.', place);
}

export function fileText(path: string, { readFile }: Pick<Scope, 'readFile'>, place: Place): string {
  const text = readFile(path);
  if (text !== null) return text;
  throw new ScriptMistake(
    `the values are in ${path}, which cannot be read from here.`,
    'Import it from the folder where the script is started.',
    place,
  );
}

/** The numbers of `seq LAST`, `seq FIRST LAST` and `seq FIRST STEP LAST`, as it prints them. */
function sequence(args: readonly string[], place: Place): string {
  const isPlain = args.length >= 1 && args.length <= 3 && args.every((arg) => /^-?\d+(?:\.\d+)?$/.test(arg));
  const numbers = args.map(Number);
  const [first, step, last] =
    args.length === 1 ? [1, 1, numbers[0]!] : args.length === 2 ? [numbers[0]!, 1, numbers[1]!] : numbers;
  const count = Math.floor((last! - first!) / step! + 1e-9) + 1;
  if (!isPlain || step === 0 || count > mostRuns) {
    throw new ScriptMistake(`\`seq ${args.join(' ')}\` cannot be worked out.`, 'List the numbers.', place);
  }
  const decimals = Math.max(
    ...args.slice(0, Math.max(1, args.length - 1)).map((arg) => arg.split('.')[1]?.length ?? 0),
  );
  const isWhole = decimals === 0;
  return Array.from({ length: Math.max(0, count) }, (_, index) => {
    const value = first! + index * step!;
    return isWhole ? numberText(value) : value.toFixed(decimals);
  }).join('\n');
}

/** A name for a value that depends on a loop: that of the option before it, or of its list. */
function nameFor(part: Part, sofar: readonly Text[], before: string): string {
  const text = sofar.map((each) => each.text).join('');
  const [, option] =
    /^-*([A-Za-z_][\w-]*)=$/.exec(text) ?? /^--?([A-Za-z_][\w-]*)$/.exec(text === '' ? before : '') ?? [];
  if (option !== undefined) return option.replaceAll('-', '_');
  return part.kind === 'variable' ? part.name.toLowerCase() : 'value';
}

/** The name of the parameter of a part, which is the same in each pass through a loop. */
function nameOf(part: Part, { bindings, variables, names }: Scope, wanted: () => string): string {
  const known = names.get(part);
  if (known !== undefined) return known;
  let free = wanted();
  while (bindings.has(free) || variables.has(free)) free = `${free}_`;
  names.set(part, free);
  return free;
}

/** An expression that is not understood, or has no value. */
class ArithmeticMistake extends Error {
  override readonly name = 'ArithmeticMistake';
}

/** Binary operators of a shell by binding, the loosest first. */
const levels: readonly Readonly<Record<string, (left: number, right: number) => number>>[] = [
  { '||': (left, right) => Number(left !== 0 || right !== 0) },
  { '&&': (left, right) => Number(left !== 0 && right !== 0) },
  { '==': (left, right) => Number(left === right), '!=': (left, right) => Number(left !== right) },
  {
    '<=': (left, right) => Number(left <= right),
    '>=': (left, right) => Number(left >= right),
    '<': (left, right) => Number(left < right),
    '>': (left, right) => Number(left > right),
  },
  { '+': (left, right) => left + right, '-': (left, right) => left - right },
  {
    '*': (left, right) => left * right,
    '/': (left, right) => Math.trunc(left / nonZero(right)),
    '%': (left, right) => left % nonZero(right),
  },
];

function nonZero(value: number): number {
  if (value === 0) throw new ArithmeticMistake('it divides by 0');
  return value;
}

/**
 * The value of an arithmetic expression of a shell: whole numbers, variables, `+ - * / %`, comparisons, brackets.
 *
 * @param valueOf The number of a variable.
 * @throws {ArithmeticMistake} For anything else.
 */
function arithmeticValue(text: string, valueOf: (name: string) => number): number {
  const tokens =
    text.replaceAll('$((', '((').match(/\d+|\$?\{?#?[A-Za-z_]\w*(?:\[@\])?\}?|\|\||&&|[=!<>]=|\*\*|\+\+|--|[^\s]/g) ??
    [];
  const reader = new Reader(tokens, valueOf);
  const value = reader.level(0);
  if (!reader.isAtEnd || !Number.isSafeInteger(value))
    throw new ArithmeticMistake(`\`${text.trim()}\` is not understood`);
  // There is no negative zero.
  return value + 0;
}

class Reader {
  readonly #tokens: readonly string[];
  readonly #valueOf: (name: string) => number;
  #at = 0;

  constructor(tokens: readonly string[], valueOf: (name: string) => number) {
    this.#tokens = tokens;
    this.#valueOf = valueOf;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#tokens.length;
  }

  level(depth: number): number {
    if (depth >= levels.length) return this.#operand();
    let left = this.level(depth + 1);
    for (;;) {
      const token = this.#tokens[this.#at] ?? '';
      const operate = Object.hasOwn(levels[depth]!, token) ? levels[depth]![token] : undefined;
      if (operate === undefined) return left;
      this.#at += 1;
      left = operate(left, this.level(depth + 1));
    }
  }

  #operand(): number {
    const token = this.#tokens[this.#at] ?? '';
    this.#at += 1;
    if (token === '-') return -this.#operand();
    if (token === '(') {
      const value = this.level(0);
      if (this.#tokens[this.#at] !== ')') throw new ArithmeticMistake('a bracket is not closed');
      this.#at += 1;
      return value;
    }
    // A leading 0 makes a number octal.
    if (/^(?:0|[1-9]\d*)$/.test(token)) return Number(token);
    const [, name] = /^(?:\$?\{)?\$?(#?[A-Za-z_]\w*)(?:\[@\])?\}?$/.exec(token) ?? [];
    if (name === undefined)
      throw new ArithmeticMistake(token === '' ? 'it ends too early' : `\`${token}\` is not understood`);
    return this.#valueOf(name);
  }
}
