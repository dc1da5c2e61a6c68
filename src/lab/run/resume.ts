/**
 * `memrl resume`: resumes a run from one of its checkpoints for a number of further steps, with its original settings.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import { writeValue } from '../config/arguments.js';
import { key, type Config, type Keys } from '../config/key.js';
import { int, orNone, text, type ValueType } from '../config/value-type.js';
import { checkpointRows, placeOf, type CheckpointRow } from './checkpoint-rows.js';
import { readJson } from './read-json.js';
import { knownConfig, writeWhole } from './run-directory.js';

const fromStep: ValueType<'latest' | 'final' | number> = {
  name: 'latest, final or int',
  read: (value) => (value === 'latest' || value === 'final' ? value : int(0).read(value)),
};

export const resumeKeys = {
  path: { ...key(orNone(text), null, 'directory of the run'), alias: 'training_run' },
  from_step: key(fromStep, 'latest', 'checkpoint to continue: the last one, the one at the end, or that of a step'),
  additional_steps: key(int(1), 50, 'training steps to add to those of the checkpoint'),
};

/** The key that sets the number of training steps, for each algorithm whose number can be raised. */
const stepsKeys: Readonly<Record<string, string>> = {
  ...{ train: 'n_batches', rl: 'n_batches', pretrain: 'n_batches', warmup: 'n_batches' },
  ...{ 'dr-grpo': 'total_steps', grpo: 'max_steps', sft: 'max_steps' },
};

const State = z.looseObject({ state: z.looseObject({ algorithm: z.string() }) });

/**
 * The command that continues the run, and its arguments. Checkpoints of later steps are removed from the run's list,
 * and rows of its metrics with them: they will be written again.
 *
 * @param keysOf Returns the keys of a command.
 * @throws UserError when there is no such run or checkpoint, or its length is not in steps.
 */
export function resumedCommand(
  { path, from_step: from, additional_steps: more }: Config<typeof resumeKeys>,
  keysOf: (command: string) => Keys | undefined,
): { readonly command: string; readonly argv: readonly string[] } {
  if (path === null) throw new UserError('There is no run to continue.', 'Give its directory: memrl resume runs/mine.');
  const rows = checkpointRows(path).filter((row) => existsSync(placeOf(path, row) ?? ''));
  const chosen = chosenRow(rows, from, path);
  const saved = State.safeParse(readJson(join(placeOf(path, chosen)!, 'state.json')));
  const command = saved.success ? saved.data.state.algorithm : '';
  const steps = stepsKeys[command];
  const [keys, config] = [keysOf(command), knownConfig(join(path, runFiles.config))];
  if (steps === undefined || keys === undefined || config === null) {
    throw new UserError(
      `The run in ${path} cannot be given more steps${command === '' ? '' : `: memrl ${command} trains differently in a longer run`}.`,
      'Type its own command again, with a larger length.',
    );
  }
  const kept = checkpointRows(path).filter(({ batch }) => batch <= chosen.batch);
  writeWhole(join(path, runFiles.checkpoints), kept.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const epochs = typeof config['ppo_epochs'] === 'number' ? config['ppo_epochs'] : 1;
  const longer = { ...config, [steps]: (chosen.batch + more) * epochs };
  // A command refuses settings other than those its run began with, and for some commands the length is one of them.
  writeWhole(join(path, runFiles.config), `${JSON.stringify(longer, null, 2)}\n`);
  const settings = { ...longer, log_path: path };
  const argv = Object.entries(settings).flatMap(([name, value]) => {
    const known = keys[name];
    const isGiven = known !== undefined && (known.follows === true || writeValue(value) !== writeValue(known.default));
    return isGiven ? [`${name}=${writeValue(value)}`] : [];
  });
  return { command, argv };
}

function chosenRow(rows: readonly CheckpointRow[], from: 'latest' | 'final' | number, path: string): CheckpointRow {
  const isWanted = ({ name, batch }: CheckpointRow) => from === 'latest' || name === from || batch === from;
  const chosen = rows.findLast(isWanted);
  if (chosen !== undefined) return chosen;
  const steps = [...new Set(rows.map(({ batch }) => batch))];
  throw new UserError(
    `The run in ${path} has no checkpoint${from === 'latest' ? '' : ` of step ${from}`}.`,
    steps.length === 0 ? 'Start it by its own command.' : `Give one that is there: ${steps.join(', ')}.`,
  );
}
