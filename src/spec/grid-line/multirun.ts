import { parseValue, ValueMistake } from './value-syntax.js';

/** A command for Hydra without its multirun: its overrides with several values are the parameters of the sweep. */
type Multirun = {
  readonly command: readonly string[];
  readonly assignments: readonly string[];
};

/** `-m` and `--multirun` behind the script; `-m` of Python itself stands before it. */
const flag = /^(?:-m|--multirun)$/;
const override = /^[+]{0,2}[A-Za-z_][\w./@:-]*=/;

/** Whether a command asks Hydra for a multirun. */
export function asksForMultirun(command: readonly string[]): boolean {
  return behindScript(command).some((word) => flag.test(word));
}

/** Whether some word of a command is for Hydra itself: `hydra.run.dir=…`, `hydra/launcher=…`. */
export function isForHydra(command: readonly string[]): boolean {
  return behindScript(command).some((word) => /^[+]{0,2}hydra[./][\w./-]+=/.test(word));
}

/** The command without the flag. */
export function withoutMultirun(command: readonly string[]): readonly string[] {
  const script = scriptPlace(command);
  return command.filter((word, index) => index <= script || !flag.test(word));
}

/** Takes the overrides with several values out of a command. Those with one value stay. */
export function multirunOf(command: readonly string[]): Multirun {
  const script = scriptPlace(command);
  const isSwept = (word: string, index: number) => index > script && override.test(word) && hasSeveral(word);
  const kept = withoutMultirun(command.filter((word, index) => !isSwept(word, index)));
  return { command: kept, assignments: command.filter(isSwept) };
}

/**
 * The command and the assignments of `grid -m train.py lr=0.1,0.01`: words up to the first override are the command, and a script of
 * Python is started by Python.
 */
export function multirunWords(words: readonly string[]): Multirun {
  const first = words.findIndex((word) => override.test(word));
  const [command, overrides] = first < 0 ? [words, []] : [words.slice(0, first), words.slice(first)];
  const started = command[0]?.endsWith('.py') ? ['python', ...command] : command;
  return multirunOf([...started, ...overrides]);
}

/** Whether a value is a list or a function. One that cannot be parsed counts, so that it is refused with its place. */
function hasSeveral(word: string): boolean {
  const value = word.slice(word.indexOf('=') + 1);
  if (value.trim() === '') return false;
  try {
    const [first, ...more] = parseValue(value);
    return more.length > 0 || first?.kind === 'call';
  } catch (error) {
    if (error instanceof ValueMistake) return true;
    throw error;
  }
}

function behindScript(command: readonly string[]): readonly string[] {
  return command.slice(scriptPlace(command) + 1);
}

/** The place of the script or module that is started; 0: the program itself. */
function scriptPlace(command: readonly string[]): number {
  const python = command.findIndex((word) => /(?:^|\/)python[\d.]*$/.test(word));
  if (python < 0)
    return Math.max(
      0,
      command.findIndex((word) => word.endsWith('.py')),
    );
  const rest = command.slice(python + 1);
  const at = rest.findIndex((word) => word === '-m' || !word.startsWith('-'));
  if (at < 0) return python;
  return python + 1 + at + (rest[at] === '-m' ? 1 : 0);
}
