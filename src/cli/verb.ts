import type { Command, CommanderError } from 'commander';
import { UserError } from '../base/user-error.js';
import { type Ports, typedWords } from './ports.js';

/** Purposes of verbs; `--help` and the README list the verbs under these headings, in this order. */
export const headings = ['Launch', 'Look', 'Act', 'Machine'] as const;
type Heading = (typeof headings)[number];

/** One option in commander's notation. */
export type VerbOption = {
  readonly flags: string;
  readonly about: string;
  /** Parses the text into a value, or throws a UserError. `earlier`: the value so far, if the option is repeated. */
  readonly read?: (text: string, earlier: never) => unknown;
  /** Possible values, for completion. */
  readonly words?: readonly string[];
};

/** One verb of the command line. */
export type Verb = {
  readonly name: string;
  /** Names that it had before, which still work; no help shows them. */
  readonly earlier?: readonly string[];
  /** Its arguments in commander's notation: `<sweep>`, `[query...]`; empty: none. */
  readonly takes: string;
  /** A further argument, as it is shown; the verb takes it from the last of its words. */
  readonly behind?: string;
  /** Whether a command follows behind `--`. */
  readonly takesCommand?: true;
  /** Whether `-word` is an argument like `+word`, not an option. */
  readonly takesSigned?: true;
  readonly heading: Heading;
  readonly about: string;
  readonly options: readonly VerbOption[];
  /** Loads the code of the verb and runs it; returns the exit code. */
  readonly run: (...call: [...VerbCall, program: WholeProgram]) => Promise<number>;
};

/** The arguments of a verb, its options, and the command behind `--`. */
type VerbCall = [words: readonly string[], options: never, command: readonly string[]];

/** The program that a verb is part of, for a verb that runs others. */
export type WholeProgram = {
  readonly verbs: readonly Verb[];
  /** Runs a command line in this process; returns the exit code. */
  readonly main: (words: readonly string[], ports: Ports) => Promise<number>;
};

/** A verb that knows where it runs. */
type PlacedVerb = Omit<Verb, 'run'> & { readonly run: (...call: VerbCall) => Promise<number> };

/** How a command behind the other arguments is shown. */
const commandUsage = '-- <command...>';

/** Adds a verb to the program, with its earlier names. `ended` gets its exit code. */
export function addVerb(program: Command, verb: PlacedVerb, ended: (code: number) => void): void {
  addNamed(program, verb, ended, false);
  for (const name of verb.earlier ?? []) addNamed(program, { ...verb, name }, ended, true);
}

function addNamed(program: Command, verb: PlacedVerb, ended: (code: number) => void, hidden: boolean): void {
  const { name, takes, behind, takesCommand, takesSigned, heading, about, options, run } = verb;
  const command = withOwnErrors(program.command(takes === '' ? name : `${name} ${takes}`, { hidden }));
  if (takesSigned) command.allowUnknownOption();
  if (behind !== undefined) command.usage(`[options] ${takes} ${behind}`);
  if (takesCommand) command.usage(`[options] ${takes} ${commandUsage}`);
  addOptions(command.description(about).helpGroup(`${heading}:`), options);
  if (takes.includes('query')) command.addHelpText('after', queryHelp);
  command.action(async () => {
    const { words, behind } = parted(command.args, takesCommand === true ? typedWords() : []);
    ended(await run(words, command.opts<never>(), behind));
  });
}

/** Has a mistake in the words of a command thrown as a UserError with the option that was meant, or how the command is typed. */
export function withOwnErrors(command: Command): Command {
  return command.configureOutput({ outputError: () => undefined }).exitOverride((error) => {
    // Help and the version end the program, too.
    throw error.exitCode === 0 ? error : mistakeIn(command, error);
  });
}

function mistakeIn(command: Command, { message }: CommanderError): UserError {
  const [problem = '', meant = ''] = message.replace(/^error: /, '').split('\n');
  const line = command.parent === null ? command.name() : `${command.parent.name()} ${command.name()}`;
  const usage = command.parent === null ? '' : `Type \`${line} ${command.usage()}\`; `;
  return new UserError(
    `${problem.charAt(0).toUpperCase()}${problem.slice(1).replace(/\.$/, '')}.`,
    `${meant.replace(/[()]/g, '')} ${usage}\`${line} --help\` lists the options.`.trim(),
  );
}

/**
 * Separates the arguments before and behind `--`, which commander joins.
 *
 * @param typed The whole command line.
 */
export function parted(args: readonly string[], typed: readonly string[]): { words: string[]; behind: string[] } {
  const dashes = typed.indexOf('--');
  const count = dashes < 0 ? 0 : typed.length - dashes - 1;
  const words = args.slice(0, args.length - count);
  return { words, behind: args.slice(words.length) };
}

export function addOptions(command: Command, options: readonly VerbOption[]): void {
  for (const { flags, about, read } of options) {
    if (read === undefined) command.option(flags, about);
    else command.option(flags, about, read as (text: string, earlier: unknown) => unknown);
  }
}

/** Its arguments as the help shows them: `<query...>`. */
export function takenBy(command: Command): string {
  return command.registeredArguments
    .map((argument) => {
      const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
      return argument.required ? `<${name}>` : `[${name}]`;
    })
    .join(' ');
}

/** The query language in a few lines, below the help of each verb that takes one. */
export const queryHelp = `
Runs are chosen by name (of a run, sweep/run, or a sweep), or by a query:
  dense A_*_s0              a part of the name, or of the error of a failed run; * matches anything
  status:failed,lost        also group: subgroup: sweep: name: slot: gpu: class:oom health:silent
  'error:"shape mismatch"'   a part of the error of a failed run
  tag:good is:starred       what was noted with tag and star; 'note:"too high"' is a part of the note
  'N>=256' lr=1e-3 k!=v     a parameter, or else the last value of a metric
  'attempt>1' 'age>2h'      also priority and progress
  not x   x y   x or y      parentheses group: '(A or B) not status:done'
  all                       every run of every sweep; commands that change runs refuse an empty query
  'subgroup:"two words"'    quotes keep spaces and special characters (quote again for the shell)`;
