/** An expression that is not understood, or has no value. */
export class ArithmeticMistake extends Error {
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
export function arithmeticValue(text: string, valueOf: (name: string) => number): number {
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
