import { collect, duration, oneOf, wholeNumber } from './options.js';
import type { VerbOption } from './verb.js';

/** The options of all verbs, each once, so that a flag means the same wherever it stands. */
const runs: VerbOption = { flags: '--runs <dir>', about: 'folder that holds the sweeps (default: ./runs)' };
const json: VerbOption = { flags: '--json', about: 'as JSON, for programs' };
const ascii: VerbOption = { flags: '--ascii', about: 'draw with plain ASCII characters' };
const plain: VerbOption = { flags: '--plain', about: 'one line per event instead of the window' };
const dryRun: VerbOption = { flags: '--dry-run', about: 'say which runs it would be; change nothing' };
const yes: VerbOption = { flags: '-y, --yes', about: 'do not ask' };
const gpus: VerbOption = { flags: '--gpus <list>', about: 'GPUs to use, the preferred ones first: 0,1; or none' };
const perGpu: VerbOption = {
  flags: '--per-gpu <n>',
  about: 'runs that share one GPU',
  read: wholeNumber('--per-gpu', 1),
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
  { flags: '--slots <n>', about: 'runs at a time on the CPU (default: cores)', read: wholeNumber('--slots', 1) },
  runs,
  { flags: '--detach', about: 'launch and return at once' },
  plain,
  ascii,
];

export const windowOptions: readonly VerbOption[] = [runs, plain, ascii];
export const lookOptions: readonly VerbOption[] = [runs, json];
export const actOptions: readonly VerbOption[] = [runs, dryRun, yes, json];
export const stopOptions: readonly VerbOption[] = [
  ...actOptions,
  { flags: '--wait', about: 'return when they have ended' },
];
export const waitOptions: readonly VerbOption[] = [
  runs,
  { flags: '--timeout <time>', about: 'give up after 90s, 30m, 2h: exit code 124', read: duration('--timeout') },
  json,
];
export const logOptions: readonly VerbOption[] = [
  runs,
  { flags: '-f, --follow', about: 'go on with what comes, over all attempts, until the runs have ended' },
  { flags: '-n, --lines <n>', about: 'lines to begin with (default: 50)', read: wholeNumber('--lines', 0) },
  { flags: '--grep <regexp>', about: 'only lines that match, of the whole log' },
  { flags: '--raw', about: 'the bytes as they were written; not to a terminal' },
];
export const drainOptions: readonly VerbOption[] = [runs, { flags: '--undo', about: 'let them take runs again' }, json];
export const slotOptions: readonly VerbOption[] = [runs, gpus, perGpu, json];
export const reportOptions: readonly VerbOption[] = [
  runs,
  {
    flags: '--would-stop <rule>',
    about: "what a rule would have ended: 'asha eta=3 min_iter=5', 'median min_iter=10'",
  },
  { flags: '--metric <objective>', about: "for it: 'minimize test/loss' (default: what the sweep file says)" },
  json,
  ascii,
];
export const doctorOptions: readonly VerbOption[] = [runs, json, ascii];

const formats = ['csv', 'json', 'jsonl'] as const;
const metrics = ['last', 'all'] as const;
export const exportOptions: readonly VerbOption[] = [
  runs,
  {
    flags: '--format <format>',
    about: 'csv (default), json or jsonl',
    read: oneOf('--format', formats),
    words: formats,
  },
  {
    flags: '--metrics <which>',
    about: 'last: one row for each run (default); all: one for each value',
    read: oneOf('--metrics', metrics),
    words: metrics,
  },
  { flags: '-o, --output <file>', about: 'write it there' },
];
