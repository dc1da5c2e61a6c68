import { UserError } from '../../base/user-error.js';
import { parameterName } from '../file/parameter-schema.js';
import { gridValue } from './grid-value.js';
import { type GridValue, ValueMistake } from './value-syntax.js';

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

/** Syntax of other programs, and what to write here. */
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

/** Moves the place of a mistake from a part of a word to the whole word. */
function located<Result>(work: () => Result, offset: number): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ValueMistake)) throw error;
    const { message, fix, start, end } = error;
    throw new ValueMistake(message, fix, { start: start + offset, end: end + offset });
  }
}

/** Number of characters of a word that a message shows, around the mistake. */
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
