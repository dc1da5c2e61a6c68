import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { countingAmong, inMetricOrder, shownMetrics } from '../../analysis/metric-order.js';
import { UserError } from '../../base/user-error.js';
import { runFiles, runMarks } from '../../contract/files.js';
import { hasWandbAccount } from '../../files/wandb-setup.js';
import { writeFresh } from '../../files/whole-file.js';
import { describeSources, type MetricsReport } from '../../metrics/describe-sources.js';
import { openMetrics } from '../../metrics/run-metrics.js';
import { type CallEnd, callProgram } from '../../processes/short-call.js';
import { loggerEnvironment } from '../../spec/expand/wandb-run.js';
import { shellQuote } from '../../text/shell-words.js';
import { helpOptions, type ProgramHelp } from '../init/help-options.js';
import { draftText, type DraftTrial } from '../init/sweep-draft.js';
import { refuseExisting, sweepNameOf, sweepPath, writeNewSweep } from '../new-sweep-file.js';
import { at, own } from '../ports.js';
import { planOf, typedSweep } from '../launch/read.js';
import { print, remark } from '../terminal.js';

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
  planOf(typedSweep(text, path), {});
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

/** The result of running a program in a temporary folder. */
type Tried = {
  readonly end: CallEnd;
  /** The beginning of its output. */
  readonly output: string;
  readonly metrics: MetricsReport;
  /** The most telling metrics, best first. */
  readonly shown: readonly string[];
  /** Whether it wrote metrics to its working directory, by its own choice. */
  readonly writesThere: boolean;
};

/** Number of bytes of the output that are kept. */
const HEAD = 1 << 20;
/** Time for the program to write its data after SIGTERM, ms. */
const GRACE_MS = 2000;

/**
 * Runs a command in an empty folder, which is its working directory and the directory of its run, and examines what it wrote. Words
 * that name local files are made absolute; Python finds modules here.
 */
export async function tried(command: readonly string[], limits: { patienceMs: number; most: number }): Promise<Tried> {
  const root = mkdtempSync(join(tmpdir(), 'memrl-init-'));
  const [directory, work] = [join(root, 'run'), join(root, 'work')];
  mkdirSync(directory);
  mkdirSync(work);
  try {
    const environment = {
      ...own().env,
      ...loggerEnvironment(directory, own().env, hasWandbAccount(own().env, work)),
      ...plainOutput,
      ...{ [runMarks.directory]: directory, [runMarks.id]: 'init/trial', [runMarks.attempt]: '1' },
      PYTHONPATH: [own().cwd(), own().env['PYTHONPATH'] ?? ''].filter((each) => each !== '').join(delimiter),
    };
    const [program = '', ...args] = fromHere(command);
    const tree = { directory, leftovers: 'killed', graceMs: GRACE_MS } as const;
    const end = await callProgram({ program, args, cwd: work, environment, tree, ...limits });
    const output = end.kind === 'unstartable' ? Buffer.alloc(0) : end.stdout;
    writeFresh(join(directory, runFiles.log), output, 0o600);
    const metrics = await openMetrics(directory, { places: { folders: [work], patterns: {} } }).readToEnd(turn);
    const keys = metrics.keys();
    const choice = { show: [], x: 'step' };
    const order = inMetricOrder(keys, choice);
    const counting = new Set(countingAmong(order, choice, metrics));
    const report = describeSources(metrics);
    return {
      end,
      output: output.subarray(0, HEAD).toString('utf8'),
      metrics: report,
      shown: keys.length === 0 ? [] : shownMetrics(keys, choice, counting),
      writesThere: report.sources.some(
        ({ state, files }) => state === 'told' && files.some((file) => resolve(directory, file).startsWith(`${work}/`)),
      ),
    };
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Variables for a wide output without colours. */
const plainOutput = {
  COLUMNS: '200',
  TERM: 'dumb',
  NO_COLOR: '1',
  PYTHONUNBUFFERED: '1',
  PYTHONDONTWRITEBYTECODE: '1',
};

/** Yields, so that Ctrl-C is handled. */
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

/** A command with the same meaning in another directory: words that are paths of existing files are made absolute. */
function fromHere(command: readonly string[]): string[] {
  return command.map((word, index) => {
    const isPath = index > 0 ? /[./]/.test(word) : word.includes('/');
    return isPath && !word.startsWith('-') && existsSync(at(word)) ? at(word) : word;
  });
}
