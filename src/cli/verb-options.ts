import { collect, wholeNumber } from './options.js';
import type { VerbOption } from './verb.js';

/** Options that several verbs take, each once, so that a flag means the same wherever it stands. A verb's own stand with it. */
export const runs: VerbOption = { flags: '--runs <dir>', about: 'folder that holds the sweeps (default: ./runs)' };
export const json: VerbOption = { flags: '--json', about: 'print JSON, for scripts' };
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

/** What every verb takes that changes runs. */
export const actOptions: readonly VerbOption[] = [
  runs,
  { flags: '--dry-run', about: 'show which runs would be affected; change nothing' },
  { flags: '-y, --yes', about: 'do not ask for confirmation' },
  json,
];

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
  runs,
  { flags: '--detach', about: 'launch and return at once' },
  plain,
  ascii,
];
