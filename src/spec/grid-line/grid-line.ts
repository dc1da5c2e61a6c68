import { stringify } from 'yaml';
import { UserError } from '../../base/user-error.js';
import { macroNames } from '../expand/macros.js';
import { parameterName } from '../file/parameter-schema.js';
import { shellQuote } from '../../text/shell-words.js';
import { type ArgumentStyle, argumentStyles } from './argument-style.js';
import { gridValue } from './grid-value.js';
import type { GridValue } from './value-range.js';
import { ValueMistake } from './value-syntax.js';

/** A sweep in one line: `grid seed=0..4 lr=1e-4,3e-4 -- python train.py`. */
type GridLine = {
  /** `name=value`, as the shell gave them. */
  readonly assignments: readonly string[];
  readonly command: readonly string[];
  readonly style: ArgumentStyle;
  /** Runs at most; where values are drawn, there has to be such a number. */
  readonly runCap: number | null;
};

/** Group of the runs whose points are drawn. */
const drawnGroup = 'random';

/**
 * The sweep file that a line stands for. The same line always gives the same text.
 *
 * @throws {UserError} With everything that is wrong with the values, each with a mark below it.
 */
export function gridSweepText(line: GridLine): string {
  if (line.command.length === 0) {
    throw new UserError(
      'There is no command to run.',
      'Put it after `--`: `memrl-tui grid seed=0..4 -- python train.py`.',
    );
  }
  const parameters = readAssignments(line.assignments);
  const isDrawn = [...parameters.values()].some(({ kind }) => kind === 'drawn');
  if (isDrawn && line.runCap === null) throw uncapped(parameters);
  const values = [...parameters].map(([name, value]) => `  ${flow(name)}: ${flow(written(value, isDrawn))}`);
  return [
    heading(line),
    `command: ${flow(commandOf(line, [...parameters.keys()]))}`,
    ...(values.length === 0 ? [] : ['parameters:', ...values]),
    ...(line.runCap === null ? [] : [`run_cap: ${line.runCap}`]),
    // A file with a `method` and no groups would be one of W&B's.
    ...(isDrawn ? ['groups:', `  ${drawnGroup}: { method: random }`] : []),
    '',
  ].join('\n');
}

function uncapped(parameters: ReadonlyMap<string, GridValue>): UserError {
  const [name] = [...parameters].find(([, { kind }]) => kind === 'drawn')!;
  return new UserError(
    `\`${name}\` is drawn at random, and nothing says how many runs there are.`,
    'Say it with `--run-cap 20`. Lists, such as seeds, are run at every point that is drawn, and count.',
  );
}

/** How the line could be typed again. */
function heading({ assignments, command, style, runCap }: GridLine): string {
  const options = [
    ...(style === 'equals' ? [] : ['--args', style]),
    ...(runCap === null ? [] : ['--run-cap', String(runCap)]),
  ];
  const words = ['memrl-tui', 'grid', ...assignments, ...options, '--', ...command];
  return `# ${shellQuote(words).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')}`;
}

/** With the parameters at its end, unless it says itself where they go. */
function commandOf({ command, style }: GridLine, names: readonly string[]): string[] {
  const macros = [...names, ...macroNames.filter((name) => name.startsWith('args'))];
  const placed = command.some((word) => macros.some((name) => word.includes(`\${${name}}`)));
  return placed || names.length === 0 ? [...command] : [...command, argumentStyles[style]];
}

function written(value: GridValue, isDrawn: boolean): unknown {
  switch (value.kind) {
    case 'drawn':
      return value.distribution;
    case 'list':
      return isDrawn ? { grid: value.values } : value.values;
    case 'constant':
      return Array.isArray(value.value) ? { value: value.value } : constant(value.value);
  }
}

/** A map is the value itself, but for the one that stands for none. */
function constant(value: unknown): unknown {
  const isMap = typeof value === 'object' && value !== null;
  return isMap && !('unset' in value) ? { value } : value;
}

function flow(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 }).trimEnd();
}

/**
 * The parameters of a line, by name, in its order.
 *
 * @throws {UserError} With all mistakes.
 */
export function readAssignments(words: readonly string[]): Map<string, GridValue> {
  const parameters = new Map<string, GridValue>();
  const mistakes: { word: string; mistake: ValueMistake }[] = [];
  for (const word of words) {
    try {
      const [name, value] = readAssignment(word);
      if (parameters.has(name)) {
        throw new ValueMistake(`\`${name}\` is set twice.`, 'Put all values into one list: `lr=1e-4,3e-4`.', {
          start: 0,
          end: name.length,
        });
      }
      parameters.set(name, value);
    } catch (error) {
      if (!(error instanceof ValueMistake)) throw error;
      mistakes.push({ word, mistake: error });
    }
  }
  if (mistakes.length > 0) throw mistakesError(mistakes);
  return parameters;
}

/** Texts of assignments that mean something else elsewhere, with what to write here. */
const otherForms: readonly { pattern: RegExp; problem: string; fix: string }[] = [
  {
    pattern: /^@/,
    problem: 'a file of trials is no parameter.',
    fix: 'Launch the table itself: `memrl-tui trials.csv -- python train.py`.',
  },
  {
    pattern: /^~/,
    problem: 'a parameter cannot be deleted here.',
    fix: 'Put it with the command, after `--`, or leave it out at some points: `name=1,unset()`.',
  },
  {
    pattern: /^\+\+?[^=]/,
    problem: '`+` and `++` are not part of a name.',
    fix: 'Leave it out and choose how all parameters are passed: `--args hydra-append` or `--args hydra-override`.',
  },
  {
    pattern: /^[^=]*[/@][^=]*=/,
    problem: 'a config group of Hydra with `/` or `@` cannot be a parameter.',
    fix: "Write `--print` without it, save that as a file, and put 'group/sub=${sub}' into its `command`.",
  },
  {
    pattern: /^[^=]*$/,
    problem: 'this is no `name=value`.',
    fix: 'Put the command after `--`: `memrl-tui grid seed=0..4 -- python train.py`.',
  },
];

function readAssignment(word: string): [string, GridValue] {
  const whole = { start: 0, end: word.length };
  const other = otherForms.find(({ pattern }) => pattern.test(word));
  if (other !== undefined) throw new ValueMistake(other.problem, other.fix, whole);
  const equals = word.indexOf('=');
  const name = word.slice(0, equals).trim();
  const read = parameterName.safeParse(name);
  if (!read.success) {
    const expected = read.error.issues[0]?.message ?? 'another name';
    throw new ValueMistake(`\`${name}\` cannot be a name.`, `Rename it: ${expected}.`, { start: 0, end: equals });
  }
  const text = word.slice(equals + 1);
  if (text.trim() === '') {
    const fix = `Write \`${name}=''\` (in quotes for the shell) for an empty text, or \`${name}=unset()\`.`;
    throw new ValueMistake('there is no value. Perhaps a shell variable is not set.', fix, whole);
  }
  return [name, located(() => gridValue(text), equals + 1)];
}

/** Moves what is wrong in a part of a word to its place in the word. */
function located<Result>(work: () => Result, offset: number): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ValueMistake)) throw error;
    const { message, fix, start, end } = error;
    throw new ValueMistake(message, fix, { start: start + offset, end: end + offset });
  }
}

/** Characters of a word that are shown; what is wrong is among them. */
const widest = 90;

function mistakesError(mistakes: readonly { word: string; mistake: ValueMistake }[]): UserError {
  const told = mistakes.map(({ word, mistake: { message, start, end } }) => {
    const from = Math.max(0, start - widest / 2);
    const shown = word.slice(from, from + widest).replace(/\p{Cc}/gu, ' ');
    const length = Math.max(1, Math.min(end, from + widest) - start);
    return `${message[0]!.toUpperCase()}${message.slice(1)}\n  ${shown}\n  ${' '.repeat(start - from)}${'^'.repeat(length)}`;
  });
  const fixes = [...new Set(mistakes.map(({ mistake }) => mistake.fix))];
  return new UserError(told.join('\n\n'), fixes.length === 1 ? fixes[0]! : fixes.map((fix) => `- ${fix}`).join('\n  '));
}
