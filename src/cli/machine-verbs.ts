import { namesIn } from './options.js';
import type { Verb } from './verb.js';
import { ascii, gpus, json, perGpu, runs } from './verb-options.js';
import { allowedActs } from './verbs/acting-verbs.js';

/** The verbs for the machine, and for the program on it. */
export const machineVerbs: readonly Verb[] = [
  {
    name: 'slots',
    takes: '[n]',
    heading: 'Machine',
    about: 'where runs may go: shows it, or sets the number of CPU slots and the GPUs',
    options: [runs, gpus, perGpu, json],
    run: async (words, given) => (await import('./verbs/slots.js')).slots(words, given),
  },
  {
    name: 'drain',
    takes: '<gpu...>',
    heading: 'Machine',
    about: 'give these GPUs no new runs; what is on them stays',
    options: [runs, { flags: '--undo', about: 'let them take runs again' }, json],
    run: async (words, given) => (await import('./verbs/slots.js')).drain(words, given),
  },
  {
    name: 'restart',
    takes: '',
    heading: 'Machine',
    about: 'replace the supervisor with one of this version; the runs continue',
    options: [
      runs,
      { flags: '--end', about: 'end the supervisor and start none: the next command that needs one starts it' },
      json,
    ],
    run: async (_words, given) => (await import('./verbs/restart.js')).restart(given),
  },
  {
    name: 'doctor',
    takes: '',
    heading: 'Machine',
    about: 'check what runs depend on here, and say how to fix it',
    options: [
      ...[runs, json, ascii],
      { flags: '--slurm', about: 'start a job of a moment, to see what a node of the cluster sees' },
      {
        flags: '--metrics <run>',
        about: 'where the metrics of this run are found, and why; named as run, sweep/run, or by its directory',
      },
    ],
    run: async (_words, given) => (await import('./verbs/doctor.js')).doctor(given),
  },
  {
    name: 'mcp',
    takes: '',
    heading: 'Machine',
    about:
      'serve these commands to coding agents, over MCP on standard input and output; looks only, unless --allow says more',
    options: [
      runs,
      {
        flags: '--allow <acts>',
        about: `what agents may do besides looking, with commas between: ${allowedActs.join(', ')}`,
        read: namesIn,
        words: allowedActs,
      },
    ],
    run: async (_words, given, _command, program) => (await import('./verbs/mcp.js')).mcp(given, program),
  },
  {
    name: 'schema',
    takes: '[answer]',
    heading: 'Machine',
    about: 'the JSON Schema of what a verb prints with --json; without a verb, a list of what there is',
    options: [],
    run: async (words) => (await import('./answers/print-schema.js')).printSchema(words),
  },
  {
    name: 'completion',
    takes: '<shell>',
    heading: 'Machine',
    about: 'the script that makes bash, zsh or fish complete verbs, options, runs and queries',
    options: [],
    run: async (words) => (await import('./verbs/completion.js')).completion(words),
  },
];
