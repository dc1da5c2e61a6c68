import type { LocatedDiagnostic } from './diagnostic.js';
import { shellWords } from '../../text/shell-words.js';

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
