import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { rowOf, runVerbOf } from '../../protocol/run-verbs.js';
import { shellQuote } from '../../text/shell-words.js';
import type { Answers } from '../answers/schemas.js';
import { launchOptions } from '../verb-options.js';
import type { Verb } from '../verb.js';
import { actingVerbs } from '../verbs/acting-verbs.js';
import { briefRows, listed, type RunRow, runsChosen } from './run-rows.js';
import { type Answer, jsonAnswer, jsonIn, notesOf, type Printed, type RunCommand, textOf } from './command.js';
import { docText, docTitles } from './doc-pages.js';
import { fittedText, jsonOf, MOST_BYTES } from './fitted.js';
import { curvesTool, lookingTools } from './looking-tools.js';
import {
  type Given,
  inputOf,
  optionNames,
  optionsOf,
  sentence,
  type Tool,
  type VerbRow,
  wordsOf,
} from './verb-tool.js';

/** `memrl-tui FILE` as a row of the table of verbs. */
const launching: VerbRow = { name: 'launch', takes: '<file>', options: launchOptions };
const input = inputOf(launching, ['sweep', 'set', 'slots', 'gpus', 'per-gpu', 'executor', 'wandb-project']);

const plan: Tool = {
  name: 'plan',
  about:
    'The plan of a sweep file: which runs it stands for, with their parameters and states, the command of one, what a launch would start, resume or skip, and how long it takes. Starts nothing and writes nothing. A mistake in the file is refused with its line and what to write.',
  input,
  acts: null,
  call: async (given, run, caller) => planAnswer(await run(wordsFor(given, ['--dry-run', '--json']), caller)),
};

const launch: Tool = {
  name: 'launch',
  about:
    'Starts the runs of a sweep file that are not done, and returns at once; `wait` waits for them. The same file again starts what has failed or stopped; a file that was changed extends the sweep: what is done stays done. See the `plan` first.',
  input,
  acts: { isFinal: false },
  call: async (given, run, caller) => launchAnswer(await run(wordsFor(given, ['--detach']), caller)),
};

const sweepTools: readonly Tool[] = [plan, launch];

/** No name of a file is taken for a verb or an option. */
function wordsFor(given: Given, flags: readonly string[]): string[] {
  const { file } = given as { file: string };
  return [isAbsolute(file) ? file : `./${file}`, ...flags, ...optionsOf(launching, given)];
}

/** Facts of a planned run that are told; `example` has the others of one of them. */
const told = [
  ...(['name', 'group', 'subgroup', 'parameters', 'state', 'reason', 'live'] as const),
  ...(['change', 'growth', 'changedSince'] as const),
];

function planAnswer(printed: Printed): Answer {
  const { value, notes } = jsonIn(printed);
  const { runs, slots, ...plan } = value as Answers['plan'];
  const [first] = runs;
  const example = first && { command: shellQuote(first.argv), cwd: first.cwd, directory: first.directory };
  const rows = runs.map((run) => Object.fromEntries(told.map((key) => [key, run[key]])));
  return jsonAnswer(
    { ...plan, slots: slots.length, count: runs.length, example, ...listed(rows) },
    notes,
    () => 'Name groups with `sweep` to see theirs.',
  );
}

function launchAnswer(printed: Printed): Answer {
  const text = [textOf(printed).trimEnd(), ...notesOf(printed)].join('\n');
  return { text: fittedText(text, 'last', '`status` and `ls` tell how the runs are.') };
}

/** Everything that an agent can call, in the order in which it is listed. @param docs Folder of the documentation. */
export function toolsOf(verbs: readonly Verb[], docs: string): readonly Tool[] {
  return [...sweepTools, ...lookingTools(verbs), failuresTool, curvesTool, docsTool(docs), ...actingTools];
}

/** Options that every call gets, or that mean another machine. */
const settled = ['runs', 'json', 'host'];

/** A tool for each verb that acts on runs. */
const actingTools: readonly Tool[] = actingVerbs.map((verb) => ({
  name: verb.name,
  about: sentence(verb.about),
  input: inputOf(
    verb,
    optionNames(verb).filter((name) => !settled.includes(name)),
  ),
  acts: { isFinal: isFinal(verb) },
  call: async (given, run, caller) => {
    const { value, notes } = jsonIn(await run([verb.name, '--json', ...wordsOf(verb, given)], caller));
    return jsonAnswer(value as object, notes, () => '`ls` has all runs.');
  },
}));

/** Whether no other verb undoes it. */
function isFinal({ name }: Verb): boolean {
  const verb = runVerbOf(name);
  return verb !== undefined && rowOf(verb).disturbs && rowOf(verb).undo === null;
}

/** A tool that reads the documentation, as many clients do not let a model read resources. @param folder `docs/` of the package. */
function docsTool(folder: string): Tool {
  return {
    name: 'docs',
    about:
      'Reads the documentation of memrl-tui: `sweep-file` is what a sweep file may say, `commands` the commands and queries. Without a page: their names and titles. Of a long page the names of its sections.',
    input: z.strictObject({
      page: z.string().optional().describe('name of a page: sweep-file'),
      section: z.string().optional().describe('name of a section of it'),
    }),
    acts: null,
    call: (given) => {
      const { page, section } = given as { page?: string; section?: string };
      const text = page === undefined ? jsonOf({ pages: docTitles(folder) }) : docText(folder, page, section);
      return Promise.resolve({ text });
    },
  };
}

/** Runs whose logs are shown, at most. */
const MOST_LOGS = 8;
const USUAL_LINES = 20;

/** Which runs have failed and why, with the ends of their logs: one of each reason first. */
const failuresTool: Tool = {
  name: 'failures',
  about: `Runs that failed or were lost: the kinds of failure with the parameter that goes with each, the reason of each run, and the last lines of the logs of up to ${MOST_LOGS}, one of each reason first.`,
  input: inputOf({ name: 'failures', takes: '[query...]', options: [] }, []).extend({
    lines: z.int().positive().optional().describe(`lines of each log (default: ${USUAL_LINES})`),
  }),
  acts: null,
  call: async (given, run) => {
    const { rows, notes } = await runsChosen(given, run);
    const failed = oneOfEachFirst(rows.filter(({ state }) => state === 'failed' || state === 'lost'));
    const head = { matched: rows.length, failed: failed.length };
    if (failed.length === 0) return jsonAnswer(head, notes, () => '');
    const { lines = USUAL_LINES } = given as { lines?: number };
    const logs = await Promise.all(failed.slice(0, MOST_LOGS).map((row) => endOfLog(row, lines, run)));
    const { runs, ...common } = briefRows(failed, null);
    const withLogs = runs.map((row, index) => (index < logs.length ? { ...row, log: logs[index] } : row));
    return jsonAnswer(
      { ...head, kinds: await kindsIn(failed, run), ...common, runs: withLogs },
      notes,
      () => 'Narrow the query, ask for fewer lines, or read the `logs` of one run.',
    );
  },
};

/** The first run of each reason, then the others. */
function oneOfEachFirst(rows: readonly RunRow[]): RunRow[] {
  const firsts = [...new Map([...rows].reverse().map((row) => [row.reason, row])).values()].reverse();
  return [...firsts, ...rows.filter((row) => !firsts.includes(row))];
}

/** Text of the last lines, shortened at its beginning so that those of all runs fit. */
async function endOfLog({ sweep, name }: RunRow, lines: number, run: RunCommand): Promise<string> {
  const text = textOf(await run(['logs', `--lines=${lines}`, '--', `${sweep}/${name}`])).trimEnd();
  const most = Math.floor(MOST_BYTES / (2 * MOST_LOGS));
  return text.length > most ? `…${text.slice(-most)}` : text;
}

/** The kinds of failure in the sweeps of these runs, as `status` tells them. */
async function kindsIn(rows: readonly RunRow[], run: RunCommand): Promise<object[]> {
  const sweeps = new Set(rows.map(({ sweep }) => sweep));
  const { value } = jsonIn(await run(['status', '--json']));
  return (value as Answers['status'])
    .filter(({ sweep }) => sweeps.has(sweep))
    .flatMap(({ sweep, failures }) => failures.map((kind) => ({ sweep, ...kind })));
}
