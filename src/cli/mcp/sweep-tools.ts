import { isAbsolute } from 'node:path';
import { shellQuote } from '../../text/shell-words.js';
import { launchOptions } from '../verb-options.js';
import type { Answers } from '../answers/schemas.js';
import { type Answer, jsonAnswer, jsonIn, notesOf, textOf } from './answer.js';
import type { Printed } from './command.js';
import { fittedText } from './fitted.js';
import { listed } from './run-rows.js';
import { type Given, inputOf, optionsOf, type Tool, type VerbRow } from './verb-tool.js';

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

export const sweepTools: readonly Tool[] = [plan, launch];

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
