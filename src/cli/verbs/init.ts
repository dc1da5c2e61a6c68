import { existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { helpOptions, type ProgramHelp } from '../init/help-options.js';
import { draftText, type DraftTrial } from '../init/sweep-draft.js';
import { fromHere, type Tried, tried } from '../init/trial.js';
import { shellQuote } from '../../text/shell-words.js';
import { at, own } from '../ports.js';
import { planOfText } from '../read-plan.js';
import { print, remark } from '../terminal.js';
import { refuseExisting, sweepNameOf, sweepPath, writeNewSweep } from '../new-sweep-file.js';

type InitOptions = { name?: string; print?: boolean; trial?: boolean; trialTime?: number };

/** Limit on the commands that a message names. */
const MOST_COMMANDS = 20;
/** Limit on the bytes of a program's output. */
const MOST_HELP = 1 << 20;
const MOST_OUTPUT = 16 << 20;
/** Time limit of a program's help, ms, as importing PyTorch takes long. */
const HELP_MS = 30_000;
/** Duration of a trial run in seconds. */
const TRIAL = 60;

/**
 * `memrl-tui init train.py`: writes a sweep file from the help text of a program and, with `--trial`, from the output of a short
 * run. Overwrites nothing. Returns the exit code.
 */
export async function init(words: readonly string[], options: InitOptions, behind: readonly string[]): Promise<number> {
  const command = commandOf(words, behind);
  const path = sweepPath(options.name, sweepNameOf(command));
  if (options.print !== true) refuseExisting(path);
  const { help, problem } = await helpOf(command);
  const trial = options.trial === true ? await trialOf(command, options.trialTime ?? TRIAL) : null;
  const text = draftText({ command, path, help, helpProblem: problem, trial });
  // Checks that the text is a valid sweep file.
  planOfText(text, path, {});
  if (options.print === true) {
    print(text.trimEnd().split('\n'));
    return 0;
  }
  writeNewSweep(path, text);
  for (const said of [problem, trial?.problem ?? null]) if (said !== null) remark(said);
  const found = help === null ? '' : ` with ${help.options.length} options of ${command.join(' ')} (${help.format})`;
  print([`Wrote ${path}${found}.`, `Fill it in, then: memrl-tui ${path} --dry-run`]);
  return 0;
}

/** Refuses a program with subcommands, each of which has options of its own. */
function refuseCommands({ commands }: ProgramHelp, command: readonly string[]): void {
  if (commands.length === 0) return;
  const words = shellQuote(command);
  throw new UserError(
    `\`${words}\` has the commands ${commands.slice(0, MOST_COMMANDS).join(', ')}; a sweep is of one of them.`,
    `Name it: \`memrl-tui init -- ${words} ${commands[0]!}\`.`,
  );
}

/** The command that starts the program by hand: a script with its interpreter. */
function commandOf(words: readonly string[], behind: readonly string[]): readonly string[] {
  if (behind.length > 0 && words.length === 0) return behind;
  const [script, ...args] = words;
  if (script === undefined || behind.length > 0) {
    throw new UserError(
      'It has to be one command.',
      'Write `memrl-tui init train.py`, or `memrl-tui init -- python train.py --fast`.',
    );
  }
  if (!existsSync(at(script))) {
    throw new UserError(
      `There is no file ${script}.`,
      'Write `memrl-tui init -- COMMAND` for a command that is no file.',
    );
  }
  if (script.endsWith('.py')) return [python(), script, ...args];
  if (script.endsWith('.sh')) return ['sh', script, ...args];
  if ((statSync(at(script)).mode & 0o111) !== 0) return [script.includes('/') ? script : `./${script}`, ...args];
  throw new UserError(
    `Nothing says how ${script} is started.`,
    `Write the command: \`memrl-tui init -- PROGRAM ${script}\`.`,
  );
}

/** The name of Python's executable; many machines have no `python`. */
function python(): string {
  const folders = (own().env['PATH'] ?? '').split(delimiter);
  return folders.some((folder) => folder !== '' && existsSync(join(folder, 'python'))) ? 'python' : 'python3';
}

type Help = { help: ReturnType<typeof helpOptions>; problem: string | null };

async function helpOf(command: readonly string[]): Promise<Help> {
  const asked = [...command, '--help'];
  const answer = await tried(asked, { patienceMs: HELP_MS, most: MOST_HELP });
  const help = helpOptions(answer.output);
  if (help !== null) refuseCommands(help, command);
  if (help !== null && help.options.length > 0) return { help, problem: null };
  const why = endWords(answer, HELP_MS / 1000) ?? 'it printed no list of options that is known';
  return { help: null, problem: `\`${asked.join(' ')}\` told no options: ${why}. Write the parameters yourself.` };
}

async function trialOf(command: readonly string[], seconds: number): Promise<DraftTrial> {
  remark(`Trial run of ${command.join(' ')}, in an empty folder, for ${seconds} s at most …`);
  const answer = await tried(command, { patienceMs: seconds * 1000, most: MOST_OUTPUT });
  const { metrics, shown, writesThere, end } = answer;
  const why = end.kind === 'late' ? null : endWords(answer, seconds);
  const problem = why === null ? null : `The trial run failed: ${why}.`;
  const isSettled = writesThere && problem === null;
  const inRunDirectory = isSettled ? { command: fromHere(command), modules: own().cwd() } : null;
  return { metrics, shown, problem, inRunDirectory };
}

/** What went wrong, in words; null: nothing. */
function endWords({ end, output }: Tried, seconds: number): string | null {
  switch (end.kind) {
    case 'late':
      return `it did not end within ${seconds} s and was stopped, with all that it had started`;
    case 'loud':
      return 'it printed more than is read, and was stopped';
    case 'unstartable':
      return `it could not be started (${end.why})`;
    case 'exit':
      return end.code === 0 ? null : `it ended with ${exitWords(end)}${outputWords(output)}`;
  }
}

function exitWords({ code, signal }: Extract<Tried['end'], { kind: 'exit' }>): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}

/** The error in the output, in words. */
function outputWords(output: string): string {
  const asks = /EOFError|EOF when reading/.test(output) ? ', because it asks for input, and there is none' : '';
  const last = output.trim().split('\n').at(-1)?.trim().slice(0, 120) ?? '';
  return `${asks}${last === '' ? '' : ` (${last})`}`;
}
