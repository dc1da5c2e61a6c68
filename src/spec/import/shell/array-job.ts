import type { ImportFormat, ImportSource } from '../import-format.js';
import { slurmKeys, type SlurmOption, slurmOptions } from '../slurm-keys.js';
import type { Conversion, ImportNote, WrittenMap } from '../sweep-text.js';
import { scriptRun, type ScriptRun } from './interpreter.js';
import type { Launch } from './launch-site.js';
import { parseScript } from './parse-script.js';
import { literalText, ScriptMistake } from './script-node.js';
import { boundWords } from './array-tasks.js';
import { plainText } from './script-values.js';
import { converted } from './script-format.js';

/** A script for `sbatch`. */
export const arrayJobFormat: ImportFormat = {
  name: 'a script for sbatch',
  recognises: (text, value) => value === undefined && /^#SBATCH\s/m.test(text),
  convert: convertJob,
  takesCommand: false,
};

const taskVariable = 'SLURM_ARRAY_TASK_ID';

function convertJob(source: ImportSource): Conversion {
  const options = directives(source.text);
  const array = options.filter(({ name }) => name === 'array').at(-1);
  const { keys, notes } = slurmKeys(options.filter(({ name }) => name !== 'array'));
  const made = converted(source, (text) => jobRun(text, source, array === undefined ? null : tasksOf(array)));
  const [, simultaneous] = /%([1-9]\d*)$/.exec(array?.value ?? '') ?? [];
  return {
    sweep: withJobKeys(made.sweep, keys),
    notes: [...notes, ...made.notes],
    options: simultaneous === undefined ? [] : ['--slots', simultaneous],
  };
}

/** The keys of the job, below what the script itself says. */
function withJobKeys(sweep: WrittenMap, keys: WrittenMap): WrittenMap {
  const { command, ...rest } = sweep;
  return { ...(command === undefined ? {} : { command }), ...keys, ...rest };
}

/** The `#SBATCH` lines, which end with the first command. */
function directives(text: string): SlurmOption[] {
  const all: SlurmOption[] = [];
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line !== '' && !line.startsWith('#')) break;
    const [, said] = /^#SBATCH\s+(.*)$/.exec(line) ?? [];
    const [node] = said === undefined ? [] : parseScript(said.replace(/\s#.*$/, ''));
    const words = node?.kind === 'simple' ? node.words.map((word) => literalText(word) ?? '') : [];
    all.push(...slurmOptions(words, index + 1).options);
  }
  return all;
}

/** The numbers of `0-9`, `0-15:4`, `1,3,7` and `0-9%2`. */
function tasksOf({ value }: SlurmOption): string[] {
  const [list = ''] = (value ?? '').split('%');
  const numbers = list.split(',').flatMap((part) => {
    const [, first, last, step = '1'] = /^(\d+)(?:-(\d+)(?::(\d+))?)?$/.exec(part) ?? [];
    const size = Math.floor((Number(last ?? first) - Number(first)) / Number(step)) + 1;
    if (first === undefined || !(size >= 1 && size <= mostTasks)) {
      throw new ScriptMistake(`\`--array=${value ?? ''}\` is no list of tasks.`, 'Write `0-9`, or `1,3,7`.', {
        start: 0,
        end: 1,
      });
    }
    return Array.from({ length: size }, (_, index) => String(Number(first) + index * Number(step)));
  });
  return [...new Set(numbers)];
}

/** Slurm itself has a smaller limit, as a rule. */
const mostTasks = 100_000;

/** What each task of the array starts; where only a shell can tell, the whole script with the number of the task. */
function jobRun(text: string, source: ImportSource, tasks: readonly string[] | null): ScriptRun {
  const nodes = parseScript(text);
  const commands = nodes.filter((node) => node.kind !== 'simple' || node.words.length > 0);
  if (tasks === null) return scriptRun(nodes, text, source);
  const isWhole = nodes.some(({ kind }) => kind === 'other') && source.path !== '-';
  if (isWhole) return wholeScript(source.path, tasks);
  try {
    const runs = tasks.map((task) => scriptRun(nodes, text, { ...source, preset: new Map([[taskVariable, task]]) }));
    if (runs.every(({ launches }) => launches.length === 1) && commands.length > 0) return oneRun(runs);
  } catch (error) {
    if (!(error instanceof ScriptMistake) || source.path === '-') throw error;
  }
  return wholeScript(source.path, tasks);
}

function oneRun(runs: readonly ScriptRun[]): ScriptRun {
  const told = new Map(runs.flatMap(({ notes }) => notes).map((note) => [JSON.stringify(note), note]));
  const launches = runs.flatMap((run) => run.launches).map(boundWords(taskVariable));
  const usesNumber = launches.every(
    (launch) => launch.loops.includes('task') && launch.words.every(({ pieces }) => pieces !== null),
  );
  const unset: ImportNote = {
    line: null,
    text: `\`${taskVariable}\` is not set for the program: add it to \`env\` if it reads it itself.`,
  };
  return { ...runs[0]!, launches, notes: [...told.values(), ...(usesNumber ? [unset] : [])] };
}

function wholeScript(path: string, tasks: readonly string[]): ScriptRun {
  const launches = tasks.map((task): Launch => {
    const number = { text: task, pieces: [{ parameter: 'task', text: task }] };
    return {
      ...{
        site: 0,
        line: 1,
        words: [plainText('bash'), plainText(path)],
        env: new Map([[taskVariable, number]]),
        cwd: null,
      },
      ...{ bindings: new Map([['task', task]]), loops: ['task'], keys: {}, after: [] },
    };
  });
  const text = 'each task is a run of the whole script, as only a shell can tell what it starts for its number.';
  return { launches, notes: [{ line: null, text }], options: [], isQueued: true };
}
