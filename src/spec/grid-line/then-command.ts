import { UserError } from '../../base/user-error.js';
import { shellWords } from '../../text/shell-words.js';

/** Macros of a run in the line, and those of the group whose runs come after it. */
const macros: Readonly<Record<string, string>> = {
  run_dir: 'after_dir',
  run_name: 'after_name',
  then_dir: 'run_dir',
  then_name: 'run_name',
};

/** Placeholders for the braces of a macro, which a shell would read as a variable. Private-use characters, which nobody types. */
const [OPEN, CLOSE] = ['\ue000', '\ue001'];

/**
 * The words of the command that follows each run, for its group: `${run_dir}` and `${run_name}` are those of the run that is done,
 * `${then_dir}` and `${then_name}` its own.
 *
 * @throws {UserError} Where there is no command, or it needs a shell.
 */
export function thenCommand(text: string): string[] {
  const kept = text.replace(/\$\{([^}\s]+)\}/g, (_, name: string) => `${OPEN}${macros[name] ?? name}${CLOSE}`);
  const read = shellWords(kept);
  if (read.kind === 'refused') {
    throw new UserError(
      `${read.why} in \`--then ${text}\` needs a shell, and commands are run without one.`,
      `Quote it if it is meant as it stands, or write a script and follow each run with that: --then 'sh after.sh \${run_dir}'.`,
    );
  }
  const words = read.words.map((word) => word.text.replaceAll(OPEN, '${').replaceAll(CLOSE, '}'));
  if (words.length > 0 && !/^[A-Za-z_]\w*=/.test(words[0]!)) return words;
  throw new UserError(
    words.length === 0
      ? '`--then` has no command.'
      : `\`--then ${text}\` begins with a variable and not with a program.`,
    "Write for example --then 'python eval.py --model=${run_dir}', or begin it with `env NAME=value`.",
  );
}
