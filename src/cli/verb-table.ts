import { spreads } from '../report/spread.js';
import { machineVerbs } from './machine-verbs.js';
import { actingVerbs } from './verbs/acting-verbs.js';
import { collect, duration, namesIn, oneOf, wholeNumber } from './options.js';
import { isUntouched, lsOfNothing, noSweep } from './show/runs-here.js';
import type { Verb } from './verb.js';
import { argumentStyles } from '../spec/grid-line/argument-style.js';
import {
  actOptions,
  ascii,
  follow,
  host,
  json,
  launchOptions,
  metric,
  plain,
  printOnly,
  runs,
  runValue,
  sweepName,
  waitRead,
} from './verb-options.js';

const formats = ['csv', 'json', 'jsonl', 'parquet'] as const;
const metrics = ['last', 'all'] as const;
const samplings = ['random', 'lhs', 'sobol'] as const;
const styles = Object.keys(argumentStyles) as (keyof typeof argumentStyles)[];

/** Every verb with its own options, in the order of `--help`. Each loads its code when it is called. */
const rows: readonly Verb[] = [
  {
    name: 'grid',
    takes: '[name=value...]',
    takesCommand: true,
    heading: 'Launch',
    about: 'write the sweep file of a line such as `seed=0..4 lr=1e-4,3e-4 -- python train.py`, and launch it',
    options: [
      sweepName,
      printOnly,
      {
        flags: '--args <style>',
        about:
          'how parameters are passed: equals (--k=v, default), space (--k v), flags (--k=v, true as --k), words (lists as --k v1 v2), plain (k=v), hydra (k=v, quoted for Hydra), hydra-append (+k=v), hydra-override (++k=v), json',
        read: oneOf('--args', styles),
        words: styles,
      },
      {
        flags: '--run-cap <n>',
        about: 'runs at most; needed where values are drawn at random',
        read: wholeNumber('--run-cap', 1),
      },
      {
        flags: '--sample <method>',
        about:
          'run only --run-cap points of the grid, drawn by this method: random, lhs (each value equally often) or sobol; every point is run with all seeds',
        read: oneOf('--sample', samplings),
        words: samplings,
      },
      {
        flags: '--baseline <name: values>',
        about:
          'run every point with these values, too, equal ones once: "filter: routing=false,routing_frac=unset"; may be repeated',
        read: collect,
      },
      {
        flags: '--then <command>',
        about: "a second run after each run that is done: 'python eval.py --model=${run_dir}'",
      },
      {
        flags: '-m, --multirun',
        about:
          'the line is one for Hydra: `-m train.py lr=0.1,0.01`; a command with `-m` behind its script says so itself',
      },
      ...launchOptions,
    ],
    run: async (words, given, command) => (await import('./verbs/grid.js')).grid(words, given, command),
  },
  {
    name: 'init',
    takes: '[script] [arguments...]',
    takesCommand: true,
    heading: 'Launch',
    about: 'write a sweep file for a program, from its --help text, with comments that say what to fill in',
    options: [
      sweepName,
      printOnly,
      { flags: '--trial', about: 'also run it once, in an empty folder, to see which metrics it writes, and where' },
      {
        flags: '--trial-time <time>',
        about: 'limit of the trial run: 90s, 10m (default: 60s)',
        read: duration('--trial-time'),
      },
    ],
    run: async (words, given, command) => (await import('./verbs/init.js')).init(words, given, command),
  },
  {
    name: 'import',
    takes: '<file...>',
    takesCommand: true,
    heading: 'Launch',
    about:
      'write a sweep file from one of another program: Hydra, Optuna, SEML, guild, Ray, shell loops, pueue, task-spooler, sbatch, GNU parallel; says what is not taken over (`-`: standard input)',
    options: [sweepName, printOnly],
    run: async (words, given, command) => (await import('./import-file.js')).importFile(words, given, command),
  },
  {
    name: 'extend',
    takes: '[sweep]',
    heading: 'Launch',
    about: 'edit the text of a sweep in $EDITOR, see what it changes, and submit it',
    options: [runs],
    run: async (words, given) => (await import('./verbs/extend.js')).extend(words, given),
  },
  {
    name: 'attach',
    takes: '[sweep]',
    heading: 'Look',
    about: 'open the control window on sweeps that were launched before',
    options: [
      ...[runs, plain, ascii],
      { flags: '--read-only', about: 'only look: whatever would change something is refused; starts no supervisor' },
    ],
    run: async (words, given) => (await import('./verbs/attach.js')).attach(words, given),
  },
  {
    name: 'view',
    takes: '<path...>',
    heading: 'Look',
    about:
      'open the control window on runs of any program: TensorBoard, W&B, Lightning, MLflow, Hydra, trackio …; reads only, needs no supervisor',
    options: [plain, ascii],
    run: async (words, given) => (await import('./verbs/view.js')).view(words, given),
  },
  {
    name: 'ls',
    takes: '[query...]',
    heading: 'Look',
    about: 'a table of runs, over all sweeps; of the runs in folders, where paths stand before the query',
    options: [
      runs,
      {
        flags: '--columns <names>',
        about: 'parameters and metrics to show, instead of the metric that stands for the runs: reward,kl,step',
        read: namesIn,
      },
      { flags: '--sort <name>', about: 'by a metric, the best first, or by a parameter; -NAME turns it round' },
      waitRead,
      json,
    ],
    run: async (words, given) =>
      words.length === 0 && isUntouched(given) ? lsOfNothing(given) : (await import('./verbs/ls.js')).ls(words, given),
  },
  {
    name: 'status',
    takes: '[sweep]',
    heading: 'Look',
    about: 'how far each sweep is, and what is on the slots',
    options: [runs, waitRead, json],
    run: async (words, given) => {
      if (words.length === 0 && isUntouched(given)) throw noSweep();
      return (await import('./verbs/status.js')).status(words, given);
    },
  },
  {
    name: 'best',
    takes: '[query...]',
    heading: 'Look',
    about: 'which setting is best, over its seeds, and which others cannot be told apart from it; of folders, too',
    options: [
      ...[runs, metric],
      { flags: '--across', about: 'compare the settings of all groups, which are answered one by one otherwise' },
      { flags: '--importance', about: 'also which parameters matter: their shares of the variance of the metric' },
      waitRead,
      json,
    ],
    run: async (words, given) => {
      if (words.length === 0 && isUntouched(given)) throw noSweep();
      return (await import('./verbs/best.js')).best(words, given);
    },
  },
  {
    name: 'du',
    takes: '[query...]',
    heading: 'Look',
    about: 'what runs take on the disk: checkpoints, logs, metrics; the largest first, and each sweep in sum',
    options: [runs, json],
    run: async (words, given) => (await import('./verbs/du.js')).du(words, given),
  },
  {
    name: 'wait',
    takes: '<query...>',
    heading: 'Look',
    about: 'return when a sweep or some runs have ended: 0 all done, 3 some not, 124 time is up',
    options: [
      runs,
      { flags: '--timeout <time>', about: 'give up after 90s, 30m, 2h: exit code 124', read: duration('--timeout') },
      waitRead,
      json,
    ],
    run: async (words, given) => (await import('./verbs/wait.js')).wait(words, given),
  },
  {
    name: 'events',
    takes: '[sweep]',
    heading: 'Look',
    about: 'what has happened to runs, in its order: starts, ends, failures, warnings, new best values',
    options: [
      ...[runs, follow],
      { flags: '--since <cursor>', about: 'only what came after that `cursor` of an earlier call with --json' },
      json,
    ],
    run: async (words, given) => (await import('./logs/events.js')).events(words, given),
  },
  {
    name: 'logs',
    takes: '<query...>',
    heading: 'Look',
    about: 'the output of runs',
    options: [
      runs,
      follow,
      { flags: '-n, --lines <n>', about: 'lines to begin with (default: 50)', read: wholeNumber('--lines', 0) },
      { flags: '--grep <regexp>', about: 'only lines that match, of the whole log' },
      { flags: '--raw', about: 'the bytes as they were written; not to a terminal' },
    ],
    run: async (words, given) => (await import('./verbs/logs.js')).logs(words, given),
  },
  {
    name: 'terminal',
    takes: '<query...>',
    heading: 'Look',
    about: 'show the terminal of a run (`terminal: true`) in this one; Ctrl-\\ leaves it',
    options: [runs],
    run: async (words, given) => (await import('./verbs/terminal.js')).terminal(words, given),
  },
  {
    name: 'report',
    takes: '<sweep>',
    heading: 'Look',
    about: 'the summary table of a sweep, or of the runs in a folder',
    options: [
      runs,
      {
        flags: '--would-stop <rule>',
        about: "what a rule would have ended: 'asha eta=3 min_iter=5', 'median min_iter=10'",
      },
      runValue,
      {
        flags: '--spread <which>',
        about: 'of the seeds of one setting: std (default), ci, bootstrap, range, median, iqm',
        read: oneOf('--spread', spreads),
        words: spreads,
      },
      metric,
      {
        flags: '--tests',
        about: 'with 95 % intervals of each row, tests between rows, and the settings of its runs',
      },
      {
        flags: '--against <name>',
        about: 'for --tests: compare rows of metrics with those that have this in their name',
      },
      { flags: '--html <file>', about: 'write it as one HTML file: tables, figures, every run; needs no network' },
      { flags: '--figures <folder>', about: 'write its figures as SVG files, its numbers as CSV' },
      { flags: '--png', about: 'and its figures as PNG files beside them, where @resvg/resvg-js is installed' },
      waitRead,
      json,
      ascii,
    ],
    run: async (words, given) => (await import('./verbs/report.js')).report(words, given),
  },
  {
    name: 'export',
    takes: '<sweep>',
    heading: 'Look',
    about: 'the runs of a sweep, or in a folder, with parameters and metrics, for other programs',
    options: [
      runs,
      {
        flags: '--format <format>',
        about: 'csv (default), json, jsonl or parquet; without it, as the name of the file ends',
        read: oneOf('--format', formats),
        words: formats,
      },
      {
        flags: '--metrics <which>',
        about: 'last: one row for each run (default); all: one for each value',
        read: oneOf('--metrics', metrics),
        words: metrics,
      },
      runValue,
      waitRead,
      { flags: '-o, --output <file>', about: 'write it there' },
    ],
    run: async (words, given) => (await import('./verbs/export.js')).exportSweep(words, given),
  },
  ...actingVerbs,
  {
    name: 'clean',
    takes: '<query...>',
    heading: 'Act',
    about:
      'delete checkpoints, logs or whole runs: shows what would go, and asks; runs that have not ended or are starred stay',
    options: [
      { flags: '--checkpoints', about: 'checkpoints that checkpoints.jsonl names, but for the last ones' },
      { flags: '--keep <n>', about: 'checkpoints to keep of each run (default: 1)', read: wholeNumber('--keep', 1) },
      {
        flags: '--pattern <glob>',
        about: "checkpoints of programs that write no checkpoints.jsonl: 'checkpoint-*', 'ckpt/*.pt'; the newest stay",
      },
      { flags: '--attempts', about: 'folders and logs of attempts before the last' },
      { flags: '--logs', about: 'the output of the runs' },
      {
        flags: '--failed',
        about: 'whole directories of runs that failed, were killed or lost; resume starts them anew',
      },
      { flags: '--done', about: 'whole directories of runs that are done; another launch starts them anew' },
      {
        flags: '--snapshots',
        about: 'copies of the code (`code: snapshot`) of their sweeps that no run needs any more',
      },
      {
        flags: '--older-than <time>',
        about: 'only of runs that ended so long ago: 12h, 7d',
        read: duration('--older-than'),
      },
      ...actOptions,
    ],
    run: async (words, given) => (await import('./verbs/clean.js')).clean(words, given),
  },
  ...machineVerbs,
];

/** Every verb can be carried out on another host. */
export const verbs: readonly Verb[] = rows.map((verb) => ({
  ...verb,
  options: verb.options.includes(host) ? verb.options : [...verb.options, host],
}));
