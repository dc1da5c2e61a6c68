import { didYouMean } from '../../text/nearest.js';
import { type GridValue, refuseMany, rounded, spaced, steps, ValueMistake, type ValueNode } from './value-syntax.js';

type Slice = Extract<ValueNode, { kind: 'slice' }>;

/**
 * The values of a function in guild's syntax: `range[0:10:2]` with its end, `linspace[0:1:5]`, `logspace[-5:-1:5]`, `uniform[0:1]`
 * and `[0:1]`, `loguniform[1e-5:1e-1]`. Between integer ends only integers are drawn, as in guild.
 *
 * @throws {ValueMistake} For other functions, and for numbers that do not fit.
 */
export function bracketMeaning(slice: Slice): GridValue {
  const work = Object.hasOwn(functions, slice.name) ? functions[slice.name] : undefined;
  if (work !== undefined) return work(slice, numbersOf(slice));
  const known = Object.keys(functions).filter((name) => name !== '');
  const round = ['choice', 'interval', 'sort', 'tag', 'unset'].includes(slice.name);
  const fix = round
    ? `Write \`${slice.name}(…)\`, with round brackets and commas.`
    : 'Correct its name, or quote the text.';
  throw new ValueMistake(`\`${slice.name}[…]\` is not known. ${didYouMean(slice.name, known)}`, fix, slice);
}

type Meaning = (slice: Slice, numbers: readonly number[]) => GridValue;

const functions: Readonly<Record<string, Meaning>> = {
  '': uniform,
  uniform,
  loguniform: (slice, numbers) => {
    const [min, max] = ends(slice, numbers);
    if (min <= 0) throw new ValueMistake('a logarithmic scale begins above 0.', 'Raise the lower end.', slice);
    if (!isWhole(min, max)) return drawn({ distribution: 'log_uniform_values', min, max });
    return drawn({ distribution: 'q_log_uniform_values', min, max, q: 1 });
  },
  range: (slice, numbers) => {
    const [first = 0, last, step = 1] = numbers;
    if (last === undefined || numbers.length > 3) throw wrongCount(slice, 'range[0:10:2]');
    return { kind: 'list', values: steps({ first, last, step, isEndIncluded: true }, slice) };
  },
  linspace: (slice, numbers) => {
    const [first = 0, last, count = usualCount] = numbers;
    if (last === undefined || numbers.length > 3) throw wrongCount(slice, 'linspace[0:1:5]');
    return { kind: 'list', values: spaced(first, last, counted(count, slice)) };
  },
  logspace: (slice, numbers) => {
    const [first = 0, last, count = usualCount, base = 10] = numbers;
    if (last === undefined || numbers.length > 4) throw wrongCount(slice, 'logspace[-5:-1:5]');
    const values = spaced(first, last, counted(count, slice)).map((power) => rounded(base ** power));
    if (values.every((value) => Number.isFinite(value))) return { kind: 'list', values };
    throw new ValueMistake(
      'it reaches numbers that are too large.',
      'Its ends are exponents: `logspace[-5:-1:5]`.',
      slice,
    );
  },
};

/** guild's default count. */
const usualCount = 5;

function uniform(slice: Slice, numbers: readonly number[]): GridValue {
  const [min, max] = ends(slice, numbers);
  return drawn(isWhole(min, max) ? { min, max } : { distribution: 'uniform', min, max });
}

function drawn(distribution: Extract<GridValue, { kind: 'drawn' }>['distribution']): GridValue {
  return { kind: 'drawn', distribution };
}

function isWhole(...numbers: readonly number[]): boolean {
  return numbers.every((each) => Number.isSafeInteger(each));
}

function numbersOf(slice: Slice): number[] {
  return slice.parts.map((part) => {
    const value = Number(part);
    if (part !== '' && Number.isFinite(value)) return value;
    const problem = `\`${part}\` is not a number.`;
    throw new ValueMistake(problem, `Write for example \`${slice.name || 'uniform'}[0:1]\`, or quote the text.`, slice);
  });
}

function ends(slice: Slice, numbers: readonly number[]): [number, number] {
  const [min, max, initial] = numbers;
  const example = `${slice.name}[0.1:1]`;
  if (initial !== undefined) {
    const problem = `a third number is where an optimizer begins, and here nothing is optimized.`;
    throw new ValueMistake(problem, `Leave it out: \`${example}\`. For steps write \`range[0:1:0.1]\`.`, slice);
  }
  if (min !== undefined && max !== undefined && min < max) return [min, max];
  throw new ValueMistake('there are two ends, the lower one first.', `Write for example \`${example}\`.`, slice);
}

function counted(count: number, slice: Slice): number {
  if (!Number.isInteger(count) || count < 1) {
    throw new ValueMistake(`${count} is no number of values.`, 'Write a whole number, at least 1.', slice);
  }
  refuseMany(count, slice);
  return count;
}

function wrongCount(slice: Slice, example: string): ValueMistake {
  return new ValueMistake(`\`${slice.name}\` has two ends at least.`, `Write for example \`${example}\`.`, slice);
}
