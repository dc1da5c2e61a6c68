/** What `memrl-tui` does with its words: calls one verb, prints errors, gives the exit code. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { UserError } from '../base/user-error.js';
import type { Host } from '../client/host.js';
import { preferencesPath } from '../files/preferences.js';
import { ORDER_WORD } from '../protocol/order-word.js';
import { nearest } from '../text/nearest.js';
import { shellQuote } from '../text/shell-words.js';
import { exitCodes } from './answers/exit-codes.js';
import type { Call } from './hosts/elsewhere.js';
import type { LaunchOptions } from './options.js';
import { beforeDashes, own, type Ports, retype, typedWords, withPorts } from './ports.js';
import { reportError } from './answers/report-error.js';
import { print, printAnswer, remark } from './terminal.js';
import { addOptions, addVerb, parted, takenBy, type Verb, withOwnErrors } from './verb.js';
import { launchOptions } from './verb-options.js';
import { verbs } from './verb-table.js';

/**
 * Runs the command line in a process that others share.
 *
 * @param words The words of the command line after the name of the program.
 * @returns The exit code.
 */
export function main(words: readonly string[], ports: Ports): Promise<number> {
  return withPorts(ports, words, runCommandLine);
}

/** Runs what was typed, or what memrl-tui on another host has ordered. @returns The exit code. */
export async function runCommandLine(): Promise<number> {
  try {
    const [word, order = ''] = typedWords();
    if (word === ORDER_WORD) {
      const code = await (await import('./hosts/there.js')).takeOrder(order);
      if (code !== null) return code;
    }
    return await runVerb(word === ORDER_WORD ? [] : await namedHosts());
  } catch (error) {
    // Help and the version have been printed.
    return error instanceof CommanderError ? exitCodes.done : told(error);
  }
}

/** The hosts that `--host` names, which it takes out of the words; none: this machine. */
async function namedHosts(): Promise<readonly Host[]> {
  if (!typedWords().some((typed) => typed.startsWith('--host'))) return [];
  const { hosts, words } = (await import('./hosts/elsewhere.js')).withoutHosts(typedWords());
  retype(words);
  return hosts;
}

async function runVerb(hosts: readonly Host[]): Promise<number> {
  let exitCode = 0;
  const ended = (code: number) => void (exitCode = code);
  const program = commandLine(hosts, ended);
  for (const verb of verbs) addVerb(program, { ...verb, run: running(verb, hosts) }, ended);
  // Called by the shell for completion.
  program.command('__complete <shell> <line>', { hidden: true }).action(async (shell: string, line: string) => {
    const { complete } = await import('./complete.js');
    ended(await complete(shell, line));
  });
  await program.parseAsync(typedWords(), { from: 'user' });
  return exitCode;
}

/** The program without its verbs: it launches. */
function commandLine(hosts: readonly Host[], ended: (code: number) => void): Command {
  const program = withOwnErrors(new Command('memrl-tui'))
    .description('Turns a sweep file into training runs, keeps them alive, and shows them.')
    .version(packageJson.version)
    .usage('FILE [options]\n       memrl-tui TABLE [options] -- COMMAND…\n       memrl-tui VERB …')
    .enablePositionalOptions()
    // Its messages may quote what the user typed.
    .configureOutput({ writeOut: (text) => print([withoutEnd(text)]), writeErr: (text) => remark(withoutEnd(text)) })
    .configureHelp({ helpWidth: 100, subcommandTerm: (verb) => `${verb.name()} ${takenBy(verb)}` })
    .optionsGroup('Launch:')
    .argument(
      '[file]',
      'sweep file (YAML or TOML), a table (CSV, JSON lines), or a text file with one command on each line',
    )
    .argument('[command...]', 'behind `--`: what is run with the rows of a table')
    .action(async (file: string | undefined, _command: string[], options: LaunchOptions) => {
      if (file === undefined) return program.help();
      refuseMistypedVerb(file, program.args);
      const { words, behind } = parted(program.args, typedWords());
      if (words.length !== 1) throw tooManyFiles(words);
      ended(await launching(file, { hosts, options, behind }));
    });
  program.addHelpText(
    'after',
    () => `
The supervisor leaves by itself when nothing is left to do; \`memrl-tui restart --end\` ends it, and runs continue.
Your theme, keys and views are kept in ${preferencesPath(own().env)}`,
  );
  addOptions(program, launchOptions);
  return program;
}

type Launching = {
  readonly hosts: readonly Host[];
  readonly options: LaunchOptions;
  readonly behind: readonly string[];
};

/** Launches a sweep, here or on the host that was named. */
async function launching(file: string, { hosts, options, behind }: Launching): Promise<number> {
  if (hosts.length > 0) return elsewhere(hosts, { name: null, words: [file], options });
  return (await import('./launch/launch.js')).launch(file, options, behind);
}

/** Runs a verb here, or on the hosts that were named. */
function running({ name, run }: Verb, hosts: readonly Host[]) {
  return (words: readonly string[], options: never, behind: readonly string[]) =>
    hosts.length === 0 ? run(words, options, behind, { verbs, main }) : elsewhere(hosts, { name, words, options });
}

async function elsewhere(hosts: readonly Host[], call: Call): Promise<number> {
  return (await import('./hosts/elsewhere.js')).runElsewhere(hosts, call);
}

/** @throws {UserError} When the word is nearly a verb, and no file. */
function refuseMistypedVerb(file: string, words: readonly string[]): void {
  if (/[./]/.test(file) || existsSync(join(own().cwd(), file))) return;
  const meant = nearest(
    file,
    verbs.map(({ name }) => name),
  );
  if (meant === null) return;
  const line = shellQuote(['memrl-tui', meant, ...words.slice(1)]);
  throw new UserError(`There is no command and no sweep file \`${file}\`.`, `Did you mean \`${line}\`?`);
}

function tooManyFiles(words: readonly string[]): UserError {
  return new UserError(
    `Only one sweep file can be launched at a time; these are ${words.length} arguments: ${words.join(' ')}.`,
    'Launch them one after the other. A command stands behind `--`.',
  );
}

/** Prints an error; for a program that asked for JSON also as such, on stdout. Returns the exit code. */
export function told(error: unknown): number {
  const { text, exitCode, error: said } = reportError(error);
  if (text !== null) remark(text);
  if (said !== null && isForPrograms()) printAnswer('error', { error: { ...said, exitCode } });
  return exitCode;
}

function isForPrograms(): boolean {
  return beforeDashes(typedWords()).includes('--json');
}

function withoutEnd(text: string): string {
  return text.replace(/\n$/, '');
}
