import { headings, type Verb } from './verb.js';
import * as options from './verb-options.js';

type ActWord = 'kill' | 'resume' | 'retry' | 'hold' | 'release' | 'pause' | 'continue';

/** Every verb, once, in the order of `--help`. Each loads what it needs when it is called. */
export const verbs: readonly Verb[] = [
  {
    name: 'attach',
    takes: '[sweep]',
    heading: 'Look',
    about: 'open the control window on sweeps that were launched before',
    options: options.windowOptions,
    run: async (words, given) => (await import('./verbs/attach.js')).attach(words, given),
  },
  {
    name: 'ls',
    takes: '[query...]',
    heading: 'Look',
    about: 'a table of runs, over all sweeps',
    options: options.lookOptions,
    run: async (words, given) => (await import('./verbs/ls.js')).ls(words, given),
  },
  {
    name: 'status',
    takes: '[sweep]',
    heading: 'Look',
    about: 'how far each sweep is, and what is on the slots',
    options: options.lookOptions,
    run: async (words, given) => (await import('./verbs/status.js')).status(words, given),
  },
  {
    name: 'wait',
    takes: '<query...>',
    heading: 'Look',
    about: 'return when a sweep or some runs have ended: 0 all done, 3 some not, 124 time is up',
    options: options.waitOptions,
    run: async (words, given) => (await import('./verbs/wait.js')).wait(words, given),
  },
  {
    name: 'logs',
    takes: '<query...>',
    heading: 'Look',
    about: 'the output of runs',
    options: options.logOptions,
    run: async (words, given) => (await import('./verbs/logs.js')).logs(words, given),
  },
  {
    name: 'report',
    takes: '<sweep>',
    heading: 'Look',
    about: 'the table a sweep comes to',
    options: options.reportOptions,
    run: async (words, given) => (await import('./verbs/report.js')).report(words, given),
  },
  {
    name: 'export',
    takes: '<sweep>',
    heading: 'Look',
    about: 'its runs with parameters and metrics, for other programs',
    options: options.exportOptions,
    run: async (words, given) => (await import('./verbs/export.js')).exportSweep(words, given),
  },
  { ...acting('kill', 'end runs: politely, and after their grace by force'), options: options.stopOptions },
  {
    name: 'stop',
    takes: '<sweep>',
    heading: 'Act',
    about: 'end all runs of a sweep, and drop those that wait',
    options: options.stopOptions,
    run: async (words, given) => (await import('./verbs/stop.js')).stop(words, given),
  },
  acting('resume', 'go on with runs that were stopped or failed, in their own directories'),
  acting('retry', 'try failed runs again at once; their automatic retries are counted anew'),
  acting('hold', 'keep waiting runs from starting'),
  acting('release', 'let held runs start again'),
  acting('pause', 'make running processes stand still; they keep their slots and their memory'),
  acting('continue', 'let paused runs go on'),
  {
    name: 'priority',
    takes: '<n> <query...>',
    heading: 'Act',
    about: 'start these runs before others (the higher first; default 0)',
    options: options.actOptions,
    run: async (words, given) => (await import('./verbs/priority.js')).priority(words, given),
  },
  {
    name: 'slots',
    takes: '[n]',
    heading: 'Machine',
    about: 'where runs may go: shows it, or sets the number of CPU slots and the GPUs',
    options: options.slotOptions,
    run: async (words, given) => (await import('./verbs/slots.js')).slots(words, given),
  },
  {
    name: 'drain',
    takes: '<gpu...>',
    heading: 'Machine',
    about: 'give these GPUs no new runs; what is on them stays',
    options: options.drainOptions,
    run: async (words, given) => (await import('./verbs/drain.js')).drain(words, given),
  },
  {
    name: 'doctor',
    takes: '',
    heading: 'Machine',
    about: 'look at what runs depend on here, and say how to mend it',
    options: options.doctorOptions,
    run: async (_words, given) => (await import('./verbs/doctor.js')).doctor(given),
  },
  {
    name: 'completion',
    takes: '<shell>',
    heading: 'Machine',
    about: 'what makes bash, zsh or fish complete verbs, options, runs and queries',
    options: [],
    run: async (words) => (await import('./verbs/completion.js')).completion(words),
  },
];

/** The verbs as a table for the README. */
export function verbTableMarkdown(): string {
  const rows = headings.flatMap((heading) => verbs.filter((verb) => verb.heading === heading)).map(row);
  return ['| command | does |', '| --- | --- |', ...rows].join('\n');
}

function row({ name, takes, about, options: own }: Verb): string {
  const words = takes
    .toUpperCase()
    .replace(/<([^>]*)>/g, '$1')
    .replaceAll('...', '…');
  const flags = own.filter(({ flags }) => !flags.startsWith('--runs')).map(({ flags }) => `\`${flags}\``);
  const usage = `\`memrl-tui ${name}${words === '' ? '' : ` ${words}`}\``;
  return `| ${usage} | ${about}${flags.length === 0 ? '' : ` (${flags.join(', ')})`} |`;
}

function acting(verb: ActWord, about: string): Verb {
  return {
    ...{ name: verb, takes: '<query...>', heading: 'Act', about, options: options.actOptions },
    run: async (words, given) => (await import('./verbs/act.js')).act(verb, words, given),
  };
}
