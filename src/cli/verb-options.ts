import { parseRunValue } from '../analysis/run-value.js';
import { UserError } from '../base/user-error.js';
import { executorNames } from '../spec/executor-names.js';
import { startAtText } from './launch/start-time.js';
import { localZone } from './ports.js';
import { collect, nameFor, oneOf, wholeNumber } from './options.js';
import type { VerbOption } from './verb.js';

/** Options that several verbs have, defined once, so that a flag always means the same. A verb's own options are with the verb. */
export const runs: VerbOption = { flags: '--runs <dir>', about: 'folder that holds the sweeps (default: ./runs)' };
export const json: VerbOption = { flags: '--json', about: 'print JSON, for scripts' };
export const waitRead: VerbOption = {
  flags: '--wait-read',
  about: 'wait until the metrics of all runs have been read, however long that takes',
};
export const ascii: VerbOption = { flags: '--ascii', about: 'draw with plain ASCII characters' };
export const plain: VerbOption = { flags: '--plain', about: 'one line per event instead of the window' };
export const gpus: VerbOption = {
  flags: '--gpus <list>',
  about: 'GPUs to use, in order of preference: 0,1; or none',
};
export const perGpu: VerbOption = {
  flags: '--per-gpu <n>',
  about: 'runs that share one GPU',
  read: wholeNumber('--per-gpu', 1),
};

const values = ['last', 'min', 'max', 'best', 'at=1000', 'mean=10', 'auc'];
export const runValue: VerbOption = {
  flags: '--value <which>',
  about:
    'of each metric: last (default), min, max, best (where the metric of the sweep is best), at=X, mean=K (of the last K), auc',
  read: (text) => {
    if (parseRunValue(text) !== null) return text;
    throw new UserError(`--value cannot be "${text}".`, `Write one of: ${values.join(', ')}.`);
  },
  words: values,
};
export const sweepName: VerbOption = {
  flags: '--name <name>',
  about: 'of the sweep, written to sweeps/NAME.yaml (default: that of the script)',
};
export const printOnly: VerbOption = { flags: '--print', about: 'print the sweep file; launch nothing, write nothing' };
export const removeOption: VerbOption = { flags: '--remove', about: 'remove it instead; a note has no text then' };
export const metric: VerbOption = {
  flags: '--metric <objective>',
  about: "the metric that says how good a run is: 'minimize test/loss' (default: that of the sweep file)",
};
export const dryRun: VerbOption = {
  flags: '--dry-run',
  about: 'show which runs would be affected; change nothing',
};
export const follow: VerbOption = {
  flags: '-f, --follow',
  about: 'go on with what comes: logs until the runs have ended, over all attempts, events until it is interrupted',
};
const yes: VerbOption = { flags: '-y, --yes', about: 'do not ask for confirmation' };

/** Options of every verb that changes runs. */
export const actOptions: readonly VerbOption[] = [runs, dryRun, yes, json];

/** Every verb takes it. It is taken out of the words before they are read (`withoutHosts`), and stands here to be listed. */
export const host: VerbOption = {
  flags: '--host <host>',
  about: 'do it on another machine, over ssh: HOST or HOST:DIRECTORY; goes with every verb, and may be repeated',
};

export const launchOptions: readonly VerbOption[] = [
  { flags: '--dry-run', about: 'show the plan; start nothing, write nothing' },
  { flags: '--json', about: 'with --dry-run: the plan as one JSON object' },
  { flags: '--verbose', about: 'with --dry-run: the command of every run' },
  { flags: '--sweep <groups...>', about: 'only these groups, and what they need' },
  {
    flags: '--set <name=value>',
    about: 'override a parameter or key (`n_batches=500`, `A.N=64`); may be repeated',
    read: collect,
  },
  gpus,
  perGpu,
  {
    flags: '--slots <n>',
    about: 'CPU slots, that is runs at the same time (default: one per core)',
    read: wholeNumber('--slots', 1),
  },
  {
    flags: '--wandb-project <name>',
    about: 'WANDB_PROJECT of the runs, whatever the file says',
    read: nameFor('--wandb-project'),
  },
  {
    flags: '--executor <name>',
    about: 'where runs are started: local (default) or slurm',
    read: oneOf('--executor', executorNames),
    words: executorNames,
  },
  runs,
  host,
  {
    flags: '--at <time>',
    about: "start no run before: 22:00, '2026-12-01 22:00', or +2h",
    read: (text) => startAtText(text, Date.now(), localZone()),
  },
  { flags: '--detach', about: 'launch and return at once' },
  yes,
  plain,
  ascii,
];
