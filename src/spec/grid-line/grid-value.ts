import type { Scalar } from '../../base/scalar.js';
import { didYouMean } from '../../text/nearest.js';
import type { Value } from '../expand/expression/cel-environment.js';
import { valueText } from '../expand/value-text.js';
import { unset } from '../file/sweep-file.js';
import { bracketMeaning } from './bracket-functions.js';
import {
  type GridValue,
  parseValue,
  refuseMany,
  type Span,
  steps,
  ValueMistake,
  type ValueNode,
} from './value-syntax.js';

/**
 * Parses the right side of `name=value`: Hydra's syntax, guild's where there are brackets and colons, and `0..4`. A text with
 * different meanings in the two is refused, with both readings.
 *
 * @throws {ValueMistake} With its place in the text.
 */
export function gridValue(text: string): GridValue {
  return elementsValue(parseValue(text));
}

/** The same for elements that were parsed. */
export function elementsValue(elements: readonly ValueNode[]): GridValue {
  const [only] = elements;
  if (only !== undefined && elements.length === 1) return meaningOf(only);
  const whole = { start: only?.start ?? 0, end: elements.at(-1)?.end ?? 0 };
  return { kind: 'list', values: bounded(elements.flatMap(listed), whole) };
}

function meaningOf(node: ValueNode): GridValue {
  switch (node.kind) {
    case 'list':
      throw ambiguousList(node);
    case 'call':
      return callMeaning(node);
    case 'slice':
      return bracketMeaning(node);
    case 'word': {
      const values = spanOf(node);
      return values === null ? { kind: 'constant', value: plainValue(node) } : { kind: 'list', values };
    }
    default:
      return { kind: 'constant', value: plainValue(node) };
  }
}

type List = Extract<ValueNode, { kind: 'list' }>;

function ambiguousList(node: List): ValueMistake {
  const values = node.items.map((item) => shown(item));
  const [list, runs] = [`[${values.join(',')}]`, values.length === 1 ? '1 run' : `${values.length} runs`];
  const problem = `\`${list}\` is one value, a list, in Hydra's syntax, and ${runs} in guild's.`;
  const each = values.length === 0 ? '' : `Write \`${values.join(',')}\` for ${runs}, or `;
  return new ValueMistake(problem, `${each}\`choice(${list})\` for the list as one value.`, node);
}

function shown(node: ValueNode): string {
  if (node.kind === 'word') return node.text;
  if (node.kind === 'quoted') return `'${node.text}'`;
  if (node.kind === 'list') return `[${node.items.map(shown).join(',')}]`;
  return '…';
}

/** The values of one element of a list. */
function listed(node: ValueNode): readonly Value[] {
  if (node.kind === 'word') return spanOf(node) ?? [plainValue(node)];
  if (node.kind !== 'call' && node.kind !== 'slice') return [plainValue(node)];
  if (node.kind === 'call' && node.name === 'unset') return [unsetValue(node)];
  const problem = `\`${node.name}\` stands among other values, and gives several itself.`;
  throw new ValueMistake(problem, 'Give it alone, or list all values.', node);
}

/** A single value, of any kind. */
function plainValue(node: ValueNode): Value {
  switch (node.kind) {
    case 'word':
      return node.escaped ? node.text : scalarOf(node);
    case 'quoted':
      return node.text;
    case 'list':
      return node.items.map(plainValue);
    case 'map':
      return Object.fromEntries(node.entries.map(([key, inner]) => [key, plainValue(inner)]));
    default:
      throw new ValueMistake('a function cannot stand inside a list or a map.', 'Write the values out.', node);
  }
}

/** The integers of `0..4` or `0..10..2`, both ends included; null: the word is something else. */
function spanOf(node: Extract<ValueNode, { kind: 'word' }>): number[] | null {
  const match = /^([-+]?\d+)\.\.([-+]?\d+)(?:\.\.([-+]?\d+))?$/.exec(node.text);
  if (match === null || node.escaped) return null;
  const [first, last] = [Number(match[1]), Number(match[2])];
  const step = Number(match[3] ?? (last < first ? -1 : 1));
  return steps({ first, last, step, isEndIncluded: true }, node);
}

function bounded<Item>(values: readonly Item[], place: Span): readonly Item[] {
  refuseMany(values.length, place);
  return values;
}

type Call = Extract<ValueNode, { kind: 'call' }>;
type Distribution = Extract<GridValue, { kind: 'drawn' }>['distribution'];

const functions: Readonly<Record<string, (call: Call) => GridValue>> = {
  choice: (call) => ({ kind: 'list', values: bounded(unnamed(call).flatMap(listed), call) }),
  range: (call) => ({ kind: 'list', values: rangeOf(call) }),
  interval: (call) => drawn({ distribution: 'uniform', ...intervalOf(call) }),
  tag: tagged,
  sort: sorted,
  int: (call) => cast(call, (value) => wholeOf(value, call)),
  float: (call) => cast(call, (value) => numberOf(value, call)),
  str: (call) => cast(call, valueText),
  bool: (call) => cast(call, (value) => truthOf(value, call)),
  unset: (call) => ({ kind: 'constant', value: unsetValue(call) }),
};

/** Functions of Hydra that are refused, and their replacements. */
const refused: Readonly<Record<string, string>> = {
  glob: 'List the config groups: `db=mysql,postgres`.',
  shuffle: 'List the values: runs start in the order of the line.',
  json_str: 'Put the text in quotes.',
  extend_list: 'Write the whole list: `choice([1,2,3])`.',
  uniform: 'Write `interval(0,1)` for any number between, or `uniform[1:5]` for whole ones.',
  loguniform: 'Write `loguniform[1e-5:1e-1]`, or `tag(log,interval(1e-5,1e-1))`.',
  linspace: 'Write `linspace[0:1:5]`.',
  logspace: 'Write `logspace[-5:-1:5]`, whose ends are exponents of 10.',
};

function callMeaning(call: Call): GridValue {
  const work = Object.hasOwn(functions, call.name) ? functions[call.name] : undefined;
  if (work !== undefined) return work(call);
  if (Object.hasOwn(refused, call.name)) {
    throw new ValueMistake(`\`${call.name}(…)\` is not understood here.`, refused[call.name]!, call);
  }
  const problem = `\`${call.name}\` is no function. ${didYouMean(call.name, Object.keys(functions))}`;
  throw new ValueMistake(problem, 'Correct its name, or put the text in quotes of its own: name="\'f(x)\'".', call);
}

function unnamed(call: Call): readonly ValueNode[] {
  const [first] = call.named;
  if (first === undefined && call.args.length > 0) return call.args;
  const problem = first === undefined ? `\`${call.name}()\` has no values.` : `\`${first[0]}=\` has no meaning here.`;
  throw new ValueMistake(problem, `List the values: \`${call.name}(a,b)\`.`, call);
}

function unsetValue(call: Call): Value {
  if (call.args.length + call.named.length === 0) return unset;
  throw new ValueMistake('`unset()` takes nothing.', 'Write `unset()`, with nothing between the brackets.', call);
}

/** Hydra's `range(stop)` and `range(start,stop[,step])`, which exclude the end. */
function rangeOf(call: Call): number[] {
  const numbers = numbersOf(call, ['start', 'stop', 'step'], 'range(0,5)');
  if (call.args.length === 1 && numbers['stop'] === undefined) {
    [numbers['start'], numbers['stop']] = [0, numbers['start']];
  }
  const { start = 0, stop, step = 1 } = numbers;
  if (stop === undefined) throw new ValueMistake('`range` has no end.', 'Write for example `range(0,5)`.', call);
  return steps({ first: start, last: stop, step, isEndIncluded: false }, call);
}

/** The ends of `interval(a,b)`. */
function intervalOf(call: Call): { min: number; max: number } {
  const { start, end } = numbersOf(call, ['start', 'end'], 'interval(0,1)');
  if (start !== undefined && end !== undefined && start < end) return { min: start, max: end };
  throw new ValueMistake('an interval has two ends, the lower one first.', 'Write for example `interval(0,1)`.', call);
}

/** Arguments by position or name, which must all be numbers. */
function numbersOf(call: Call, names: readonly string[], example: string): Partial<Record<string, number>> {
  const given: (readonly [string | undefined, ValueNode])[] = [
    ...call.args.map((node, index) => [names[index], node] as const),
    ...call.named,
  ];
  const numbers: Partial<Record<string, number>> = {};
  for (const [name, node] of given) {
    const value = node.kind === 'word' ? scalarOf(node) : null;
    if (name === undefined || !names.includes(name) || numbers[name] !== undefined || typeof value !== 'number') {
      const problem = `\`${call.name}\` takes ${names.join(', ')}, which are numbers.`;
      throw new ValueMistake(problem, `Write for example \`${example}\`.`, node);
    }
    numbers[name] = value;
  }
  return numbers;
}

/** `tag(log,interval(…))`, Hydra's logarithmic scale; other tags only have a meaning to Hydra's sweepers. */
function tagged(call: Call): GridValue {
  const [tag, value, ...more] = call.args;
  const isLog = tag?.kind === 'word' && tag.text === 'log';
  const isAlone = more.length === 0 && call.named.length === 0;
  const inner = isLog && isAlone && value !== undefined ? meaningOf(value) : null;
  if (inner?.kind === 'drawn') return logarithmic(inner.distribution, call);
  const fix = 'Write `tag(log,interval(1e-5,1e-1))` for a logarithmic scale, or leave the tag out.';
  throw new ValueMistake('only `log` is understood as a tag.', fix, call);
}

function logarithmic({ distribution, min = 0, max = 0 }: Distribution, call: Call): GridValue {
  if (Number(min) <= 0) throw new ValueMistake('a logarithmic scale begins above 0.', 'Raise its lower end.', call);
  const isWhole = distribution !== 'uniform';
  return drawn(isWhole ? wholeLogarithmic(min, max) : { distribution: 'log_uniform_values', min, max });
}

function wholeLogarithmic(min: string | number, max: string | number): Distribution {
  return { distribution: 'q_log_uniform_values', min, max, q: 1 };
}

function drawn(distribution: Distribution): GridValue {
  return { kind: 'drawn', distribution };
}

function sorted(call: Call): GridValue {
  const [only] = call.args;
  const inner = call.args.length === 1 && only?.kind === 'call' ? callMeaning(only) : null;
  const values = inner?.kind === 'list' ? inner.values : call.args.flatMap(listed);
  const order = inOrder(values);
  if (order === null || call.named.some(([name]) => name !== 'reverse')) {
    throw new ValueMistake('`sort` takes numbers, or texts.', 'List the values in the order you want.', call);
  }
  const isReversed = call.named.some(([, value]) => shown(value).toLowerCase() === 'true');
  return { kind: 'list', values: isReversed ? order.reverse() : order };
}

/** The values sorted; null: they have no order. */
function inOrder(values: readonly Value[]): Value[] | null {
  if (values.length === 0) return null;
  if (values.every((value) => typeof value === 'number')) return [...values].sort((left, right) => left - right);
  return values.every((value) => typeof value === 'string') ? [...values].sort() : null;
}

function cast(call: Call, convert: (value: Value) => Value): GridValue {
  const [only] = call.args;
  if (only === undefined || call.args.length > 1 || call.named.length > 0) {
    const problem = `\`${call.name}\` takes one value or one function.`;
    throw new ValueMistake(problem, `Write for example \`${call.name}(choice(1,2))\`.`, call);
  }
  const inner = meaningOf(only);
  if (inner.kind === 'list') return { kind: 'list', values: inner.values.map(convert) };
  if (inner.kind === 'constant') return { kind: 'constant', value: convert(inner.value) };
  return castDraw(call, inner);
}

/** Casts drawn values, which is only possible to integers. */
function castDraw(call: Call, draw: Extract<GridValue, { kind: 'drawn' }>): GridValue {
  const { distribution, min = 0, max = 0 } = draw.distribution;
  if (call.name === 'float') return draw;
  if (call.name === 'int' && Number.isInteger(min) && Number.isInteger(max)) {
    const isLogarithmic = distribution !== undefined && distribution !== 'uniform';
    return drawn(isLogarithmic ? wholeLogarithmic(min, max) : { min, max });
  }
  const problem = `\`${call.name}\` cannot be made of what is drawn here.`;
  throw new ValueMistake(problem, 'Write `int(interval(1,10))` with whole ends for whole numbers.', call);
}

function numberOf(value: Value, call: Call): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'boolean') return Number(number);
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw new ValueMistake(`${JSON.stringify(value)} is no number.`, `Leave \`${call.name}\` out.`, call);
}

function wholeOf(value: Value, call: Call): number {
  return Math.trunc(numberOf(value, call));
}

function truthOf(value: Value, call: Call): boolean {
  if (typeof value === 'string' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  if (typeof value === 'boolean' || typeof value === 'number') return Boolean(value);
  throw new ValueMistake(`${JSON.stringify(value)} is neither true nor false.`, 'Write true or false.', call);
}

/**
 * The value of a word without quotes, where Hydra and guild (which reads YAML as Python does) agree on it.
 *
 * @throws {ValueMistake} Where they do not: `yes` is a text for one and true for the other.
 */
function scalarOf({ text, start, end }: { text: string; start: number; end: number }): Scalar {
  const unclear = disputed.find(({ pattern }) => pattern.test(text));
  if (unclear !== undefined)
    throw new ValueMistake(`\`${text}\` ${unclear.readings}.`, unclear.fix(text), { start, end });
  if (/^null$/i.test(text)) return null;
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (!number.test(text)) return text;
  const value = Number(text);
  const isExact = Number.isFinite(value) && (Number.isSafeInteger(value) || !/^[-+]?\d+$/.test(text));
  if (isExact) return value;
  throw new ValueMistake(`\`${text}\` is too large to be kept exactly.`, inQuotes(text), { start, end });
}

const number = /^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/;

function inQuotes(text: string): string {
  return `Put it in quotes, twice because of the shell: name="'${text}'". The program gets the same text.`;
}

/** Words that Hydra and guild read differently. */
const disputed: readonly { pattern: RegExp; readings: string; fix: (text: string) => string }[] = [
  {
    pattern: /^(yes|no|on|off)$/i,
    readings: "is a text in Hydra's syntax, and true or false in guild's",
    fix: (text) => `Write ${/^(yes|on)$/i.test(text) ? 'true' : 'false'}, or "'${text}'" for the text.`,
  },
  {
    pattern: /^[-+]?\d[\d_]*_[\d_]*$/,
    readings: "is a number in Hydra's syntax, and a text in guild's",
    fix: (text) => `Write ${text.replaceAll('_', '')}, or "'${text}'" for the text.`,
  },
  {
    pattern: /^[-+]?0\d+$|^0[xob][\da-f_]+$/i,
    readings: "is a text in Hydra's syntax, and a number in guild's",
    fix: (text) => `Write the number in decimals without a 0 before it, or "'${text}'" for the text.`,
  },
  {
    pattern: /^~$/,
    readings: "is a text in Hydra's syntax, and null in guild's",
    fix: () => 'Write null, unset() to leave the parameter out, or "\'~\'" for the text.',
  },
];
