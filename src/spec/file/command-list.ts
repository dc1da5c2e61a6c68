import type { LocatedDiagnostic } from './diagnostic.js';
import { UserError } from '../../base/user-error.js';
import { shellQuote, shellWords } from '../../text/shell-words.js';

/** One command of a plain text file. `line` counts from 1. */
export type CommandLine = {
  readonly line: number;
  readonly text: string;
  readonly argv: readonly [string, ...string[]];
  /** Variables from `NAME=value` words before the command. */
  readonly env: Readonly<Record<string, string>>;
};

const assignment = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s;

/** Reads a file with one command on each line; empty lines and comments are skipped. */
export function readCommandList(text: string): { lines: CommandLine[]; diagnostics: LocatedDiagnostic[] } {
  const lines: CommandLine[] = [];
  const diagnostics: LocatedDiagnostic[] = [];
  let start = 0;
  text.split('\n').forEach((raw, index) => {
    const read = readLine(raw.replace(/\r$/, ''), { line: index + 1, start });
    if (read !== null && 'problem' in read) diagnostics.push(read);
    else if (read !== null) lines.push(read);
    start += raw.length + 1;
  });
  return { lines, diagnostics };
}

function readLine(
  text: string,
  { line, start }: { line: number; start: number },
): CommandLine | LocatedDiagnostic | null {
  const read = shellWords(text);
  if (read.kind === 'refused') {
    return {
      place: { start: start + read.at, end: start + read.at + 1 },
      keys: [],
      problem: `${read.why} needs a shell, and lines are run without one.`,
      fix: `Quote it if it is meant as it stands, or write \`sh -c '…'\`.`,
    };
  }
  if (read.words.length === 0) return null;
  const first = read.words.findIndex(({ text: word }) => !assignment.test(word));
  const assignments = read.words.slice(0, first < 0 ? undefined : first);
  const [program, ...rest] = first < 0 ? [] : read.words.slice(first).map(({ text: word }) => word);
  if (program === undefined) {
    const problem = 'this line sets variables for no command.';
    return {
      place: { start, end: start + text.length },
      keys: [],
      problem,
      fix: 'Add the command, or remove the line.',
    };
  }
  const env = Object.fromEntries(
    assignments.map(({ text: word }) => assignment.exec(word)!.slice(1) as [string, string]),
  );
  return { line, text: text.trim(), argv: [program, ...rest], env };
}

/** The script if an interpreter runs one, else the program. */
export function programName([program, ...rest]: readonly [string, ...string[]]): string {
  const script = /(^|\/)(python[\d.]*|node|sh|bash|ruby|perl|Rscript|julia)$/.test(program)
    ? rest.find((word) => !word.startsWith('-') && /\.\w+$/.test(word))
    : undefined;
  const leaf = (script ?? program).replace(/^.*\//, '');
  return leaf.replace(/[^A-Za-z0-9._=+,@-]+/g, '-').slice(0, 60);
}

/** Words that change or control a shell: the lines after them depend on them, and no program has these names. */
const ofShell =
  /^(?:set|unset|export|cd|pushd|popd|source|\.|alias|shopt|trap|eval|exec|ulimit|umask|wait|exit|return|read|local|declare|typeset|readonly|shift|module|if|then|elif|else|fi|for|do|done|while|until|case|esac|select|function|\{|\}|\[\[)$/;
/** Commands that prepare what the next lines run in. */
const preparing = /^(?:conda|mamba|micromamba|pyenv|nvm|spack) (?:activate|deactivate|shell|use|load)\b/;
const functionHead = /^[A-Za-z_][\w-]*\s*\(\)/;
const recipe = /^[^\s#=:][^=:\n]*::?(?!=)[^\n]*\n(?:\s*(?:#[^\n]*)?\n)*\t\S/m;

/**
 * Refuses a program, whose lines follow each other, where a list of commands is expected: its lines would run at the same time.
 * A script is taken for a list if every line stands alone: each starts the same program, and none is for the shell.
 *
 * @throws {UserError} With the line that launches it as one run.
 */
export function refuseScript(text: string, path: string): void {
  const interpreter = interpreterOf(text, path);
  if (interpreter === null) return;
  const [what, words] = interpreter;
  throw new UserError(
    `${path} is ${what}, and no list of commands: its lines follow each other, and as runs they would start together.`,
    `Launch it as one run: \`memrl-tui grid -- ${shellQuote([...words, path])}\`. In a list of commands every line stands alone.`,
  );
}

type Interpreter = readonly [what: string, words: readonly string[]];

/** Files of programs that run the recipes in them. */
const buildFiles: readonly { readonly name: RegExp; readonly is: Interpreter }[] = [
  { name: /^(?:GNU)?[Mm]akefile$|\.(?:mk|mak)$/, is: ['a Makefile', ['make', '-f']] },
  { name: /^[Jj]ustfile$/, is: ['a Justfile', ['just', '-f']] },
  { name: /^Snakefile$|\.smk$/, is: ['a Snakefile', ['snakemake', '-s']] },
];

/** What runs the file as a whole; null: it is a list of commands. */
function interpreterOf(text: string, path: string): Interpreter | null {
  const name = path.replace(/^.*\//, '');
  const build = recipe.test(text) ? buildFiles[0] : buildFiles.find((each) => each.name.test(name));
  if (build !== undefined) return build.is;
  const program = shebangProgram(text);
  if (program !== null && !/^(?:ba|z|k|da|fi)?sh$/.test(program)) return [`a program for ${program}`, [program]];
  const shell = program ?? /\.(sh|bash|zsh|ksh|fish)$/.exec(name)?.[1];
  if (shell !== undefined) return standsAlone(text) ? null : ['a script', [shell]];
  return hasShellLine(text) ? ['a script', ['bash']] : null;
}

/** The program after `#!`, without its folder; null: there is none. */
function shebangProgram(text: string): string | null {
  const line = /^#! *(\S.*)/.exec(text)?.[1];
  const program = line?.split(/\s+/).find((word) => !/\/env$|^-S$/.test(word));
  return program?.replace(/^.*\//, '') ?? null;
}

function standsAlone(text: string): boolean {
  const { lines, diagnostics } = readCommandList(text);
  const programs = new Set(lines.map(({ argv }) => programName(argv)));
  return diagnostics.length === 0 && programs.size <= 1 && !hasShellLine(text);
}

/** Whether a line is for the shell itself, or for Slurm. */
function hasShellLine(text: string): boolean {
  return text.split('\n').some((each) => {
    const line = each.trim();
    const first = /^\S+/.exec(line)?.[0].replace(/;$/, '') ?? '';
    return line.startsWith('#SBATCH ') || ofShell.test(first) || preparing.test(line) || functionHead.test(line);
  });
}
