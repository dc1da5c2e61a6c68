/**
 * Comparison of an answer with the right one by the numbers they state: integers, decimals, fractions, percentages,
 * with commas, dollars and units, in plain text or in LaTeX. Verdicts are those of math-verify, as stored in a table
 * of the tests, which lists the exceptions.
 */

/** An exact number and the notation it was written in. */
type WrittenNumber = {
  readonly numerator: bigint;
  /** Above 0. */
  readonly denominator: bigint;
  readonly isDecimal: boolean;
  readonly isPercent: boolean;
};

/** Decimal places of a comparison in which one side is a decimal: 1/3 is 0.333333. */
const places = 6n;
/** Characters of the longest text that is parsed as a number: the cost of exact arithmetic grows with the length. */
const longestText = 200;

/** Content of the last `\boxed{…}` of a text; null when there is none that is closed. */
export function lastBoxed(text: string): string | null {
  const start = text.lastIndexOf('\\boxed{');
  if (start < 0) return null;
  const from = start + '\\boxed{'.length;
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '{') depth++;
    if (text[at] === '}' && --depth === 0) return text.slice(from, at);
  }
  return null;
}

/**
 * Whether two texts give the same answer: the same text up to spaces and marks of formatting, or the same number.
 * Integers and fractions are compared exactly; a decimal to six places, and with an integer exactly. A percentage is
 * its hundredth; a whole one is also its number alone, since "how many percent" asks for that.
 */
export function sameAnswer(right: string, answer: string): boolean {
  const [one, other] = [plain(right), plain(answer)];
  if (one === '' || other === '') return false;
  const [a, b] = [readNumber(right), readNumber(answer)];
  if (a === null || b === null) return one === other;
  if (a.isPercent === b.isPercent) return sameNumber(a, b);
  const [percent, number] = a.isPercent ? [a, b] : [b, a];
  if (sameNumber({ ...percent, denominator: percent.denominator * 100n }, number)) return true;
  return isCount(percent) && isCount(number) && sameNumber(percent, number);
}

function sameNumber(a: WrittenNumber, b: WrittenNumber): boolean {
  const isExact = a.numerator * b.denominator === b.numerator * a.denominator;
  if (isExact || (!a.isDecimal && !b.isDecimal) || isInteger(a) || isInteger(b)) return isExact;
  return roundDecimal(a) === roundDecimal(b);
}

function isInteger({ numerator, denominator, isDecimal }: WrittenNumber): boolean {
  return !isDecimal && numerator % denominator === 0n;
}

function isCount(number: WrittenNumber): boolean {
  return isInteger(number) && number.numerator >= 0n;
}

/** Rounds to units of the last decimal place compared; halves away from zero. */
function roundDecimal({ numerator, denominator }: WrittenNumber): bigint {
  const size = numerator < 0n ? -numerator : numerator;
  const units = (2n * size * 10n ** places + denominator) / (2n * denominator);
  return numerator < 0n ? -units : units;
}

const digits = String.raw`(?:\d{1,3}(?:,\d{3})+|\d+)`;
const decimal = String.raw`(?:${digits}(?:\.\d+)?|\.\d+)`;
const shapes = {
  decimal: new RegExp(`^([+-]?)(${decimal})$`),
  slash: new RegExp(`^([+-]?)(${decimal})/([+-]?${decimal})$`),
  fraction: new RegExp(String.raw`^([+-]?)(\d*)\s*\\frac\{([+-]?${decimal})\}\{([+-]?${decimal})\}$`),
};

/** The number in a text, if the text is a number with at most a unit. */
export function readNumber(text: string): WrittenNumber | null {
  const bare = plain(text);
  if (bare.length > longestText) return null;
  const isPercent = bare.endsWith('%');
  const number = isPercent ? bare.slice(0, -1) : bare;
  const found = readDecimal(number) ?? readSlash(number) ?? readFraction(number);
  return found === null ? null : { ...found, isPercent };
}

type Exact = Omit<WrittenNumber, 'isPercent'>;

function readDecimal(text: string): Exact | null {
  const [, sign, number] = shapes.decimal.exec(text) ?? [];
  if (number === undefined) return null;
  const [whole = '', part = ''] = number.replaceAll(',', '').split('.');
  const numerator = BigInt(`${whole}${part}`);
  return {
    numerator: sign === '-' ? -numerator : numerator,
    denominator: 10n ** BigInt(part.length),
    isDecimal: part !== '',
  };
}

function readSlash(text: string): Exact | null {
  const [, sign, over, under] = shapes.slash.exec(text) ?? [];
  return over === undefined ? null : quotient(sign!, over, under!);
}

/** Reads a whole number with a fraction after it, and adds the two. */
function readFraction(text: string): Exact | null {
  const [, sign, whole, over, under] = shapes.fraction.exec(text) ?? [];
  if (over === undefined) return null;
  const part = quotient('', over, under!);
  if (part === null) return null;
  const numerator = BigInt(whole === '' ? 0 : whole!) * part.denominator + part.numerator;
  return { ...part, numerator: sign === '-' ? -numerator : numerator };
}

function quotient(sign: string, over: string, under: string): Exact | null {
  const [a, b] = [readDecimal(over), readDecimal(under)];
  if (a === null || b === null || b.numerator === 0n) return null;
  const numerator = a.numerator * b.denominator * (sign === '-' ? -1n : 1n);
  const denominator = a.denominator * b.numerator;
  const flip = denominator < 0n ? -1n : 1n;
  return { numerator: flip * numerator, denominator: flip * denominator, isDecimal: a.isDecimal || b.isDecimal };
}

/** Removes formatting: spaces, dollars, units, `\text{…}`; and writes every fraction in one way. */
function plain(text: string): string {
  let bare = text.trim();
  for (let inner = lastBoxed(bare); inner !== null; inner = lastBoxed(bare)) bare = inner.trim();
  return bare
    .replace(/\\(?:left|right|!|approx)/g, '')
    .replace(/\\[,;:]\s*(?=\\|[a-zA-Z]|$)/g, ' ')
    .trim()
    .replace(/^[a-zA-Z]\s*=\s*/, '')
    .replace(/\\[dtc]frac/g, '\\frac')
    .replace(/\\frac\s*(\d)\s*(\d)/g, '\\frac{$1}{$2}')
    .replace(/\\frac\s*(\d)\s*\{/g, '\\frac{$1}{')
    .replace(/(\\frac\{[^{}]*\})\s*(\d)/g, '$1{$2}')
    .replaceAll('{,}', ',')
    .replaceAll('−', '-')
    .replace(/\\?\$/g, '')
    .replaceAll('\\%', '%')
    .replace(/\^\s*(?:\\circ|\{\s*\\circ\s*\})|°/g, '')
    .replace(/(?<=\S)\s*\\(?:text|mathrm|mbox|textbf)\s*\{[^{}]*\}\s*$/, '')
    .replace(/(?<=[\d}])\s+[a-zA-Z][a-zA-Z\s]*\.?$/, '')
    .replace(/\s*([+\-/{}%])\s*/g, '$1')
    .replace(/^\(([^(),]*)\)$/, '$1')
    .trim();
}
