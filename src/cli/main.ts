/** The program `memrl-tui`: reads the command line, calls one verb, prints errors, sets the exit code. */
import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { UserError } from '../base/user-error.js';
import type { Host } from '../client/host.js';
import { preferencesPath } from '../files/preferences.js';
import { ORDER_WORD } from '../protocol/host-order.js';
import type { LaunchOptions } from './options.js';
import { reportError } from './report-error.js';
import { onOutputLost, print, remark } from './terminal.js';
import { addOptions, addVerb, parted, takenBy, type Verb } from './verb.js';
import { launchOptions } from './verb-options.js';
import { verbs } from './verb-table.js';

/** The hosts that `--host` names; empty: this machine. */
let hosts: readonly Host[] = [];

const program = new Command('memrl-tui')
  .description('Turns a sweep file into training runs, keeps them alive, and shows them.')
  .version(packageJson.version)
  .usage('FILE [options]\n       memrl-tui TABLE [options] -- COMMAND…\n       memrl-tui VERB …')
  .enablePositionalOptions()
  .exitOverride()
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
    const { words, behind } = parted(program.args, process.argv);
    if (words.length !== 1) throw tooManyFiles(words);
    process.exitCode = await launching(file, options, behind);
  });
program.addHelpText('after', () => `\nYour theme, keys and views are kept in ${preferencesPath(process.env)}`);
addOptions(program, launchOptions);
for (const verb of verbs) addVerb(program, { ...verb, run: running(verb) });
// Called by the shell for completion.
program.command('__complete <shell> <line>', { hidden: true }).action(async (shell: string, line: string) => {
  const { complete } = await import('./completion/complete.js');
  process.exitCode = await complete(shell, line);
});

onOutputLost((lost) => process.exit(told(lost)));
// The window restores the terminal itself and passes its error on to here.
process.on('uncaughtException', (error) => {
  if (process.listenerCount('uncaughtException') === 1) process.exit(told(error));
});

try {
  await begin();
} catch (error) {
  // Commander has already printed the error, with the nearest option.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else process.exitCode = told(error);
}

/** Runs what was typed, or what memrl-tui on another host has ordered. */
async function begin(): Promise<void> {
  const [word, order = ''] = process.argv.slice(2);
  if (word === ORDER_WORD) {
    const code = await (await import('./hosts/there.js')).takeOrder(order);
    if (code !== null) return void (process.exitCode = code);
  } else if (process.argv.some((typed) => typed.startsWith('--host'))) {
    const { withoutHosts } = await import('./hosts/elsewhere.js');
    const read = withoutHosts(process.argv.slice(2));
    hosts = read.hosts;
    process.argv.splice(2, Infinity, ...read.words);
  }
  await program.parseAsync();
}

/** Launches a sweep, here or on the host that was named. */
async function launching(file: string, options: LaunchOptions, behind: readonly string[]): Promise<number> {
  if (hosts.length > 0) return elsewhere(null, [file], options);
  return (await import('./verbs/launch.js')).launch(file, options, behind);
}

/** Runs a verb here, or on the hosts that were named. */
function running({ name, run }: Verb): Verb['run'] {
  return (words, options, behind) =>
    hosts.length === 0 ? run(words, options, behind) : elsewhere(name, words, options);
}

async function elsewhere(name: string | null, words: readonly string[], options: LaunchOptions): Promise<number> {
  return (await import('./hosts/elsewhere.js')).runElsewhere(hosts, { name, words, options });
}

function tooManyFiles(words: readonly string[]): UserError {
  return new UserError(
    `Only one sweep file can be launched at a time; these are ${words.length} arguments: ${words.join(' ')}.`,
    'Launch them one after the other. A command stands behind `--`.',
  );
}

/** Prints an error. Returns the exit code. */
function told(error: unknown): number {
  const { text, exitCode } = reportError(error);
  if (text !== null) remark(text);
  return exitCode;
}

function withoutEnd(text: string): string {
  return text.replace(/\n$/, '');
}
