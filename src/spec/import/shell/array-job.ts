import type { ImportFormat, ImportSource } from '../import-format.js';
import { slurmKeys, type SlurmOption } from '../slurm-keys.js';
import type { Conversion, ImportNote, WrittenMap } from '../sweep-text.js';
import { scriptRun, type ScriptRun } from './interpreter.js';
import type { Launch } from './launch-site.js';
import { directives } from './shell-command.js';
import { parseScript } from './parse-script.js';
import { ScriptMistake } from './script-node.js';
import { plainText, type Text } from './script-values.js';
import { located, sweepOf } from './script-format.js';

/** A script for `sbatch`. */
export const arrayJobFormat: ImportFormat = {
  name: 'a script for sbatch',
  recognises: (text, value) => value === undefined && /^#SBATCH\s/m.test(text),
  convert: (source) => located(source, () => convertJob(source)),
  takesCommand: false,
};

const taskVariable = 'SLURM_ARRAY_TASK_ID';

function convertJob(source: ImportSource): Conversion {
  const options = directives(source.text);
  const array = options.filter(({ name }) => name === 'array').at(-1);
  const { keys, notes } = slurmKeys(options.filter(({ name }) => name !== 'array'));
  const tasks = array === undefined ? null : tasksOf(array);
  const made = sweepOf(jobRun(source.text, source, tasks), source.path);
  const [, simultaneous] = /%([1-9]\d*)$/.exec(array?.value ?? '') ?? [];
  return {
    ...made,
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

/** Limit on the tasks of a job, above that of Slurm as a rule. */
const mostTasks = 20_000;

/** What each task of the array starts; where only a shell can tell, the whole script with the number of the task. */
function jobRun(text: string, source: ImportSource, tasks: readonly string[] | null): ScriptRun {
  const nodes = parseScript(text);
  if (nodes.some(({ kind }) => kind === 'other') && source.path !== '-') return wholeScript(source.path, tasks);
  try {
    const numbers: readonly (string | null)[] = tasks ?? [null];
    const runs = numbers.map((task) =>
      scriptRun(nodes, text, { ...source, preset: new Map(task === null ? [] : [[taskVariable, task]]) }),
    );
    const isOne = runs.every(({ launches }) => launches.length === 1);
    if (isOne) return tasks === null ? runs[0]! : oneRun(runs);
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

function wholeScript(path: string, tasks: readonly string[] | null): ScriptRun {
  const launches = (tasks ?? ['']).map((task): Launch => {
    const number = { text: task, pieces: [{ parameter: 'task', text: task }] };
    return {
      ...{ site: 0, line: 1, words: [plainText('bash'), plainText(path)], cwd: null, keys: {}, after: [] },
      env: new Map(tasks === null ? [] : [[taskVariable, number]]),
      bindings: new Map(tasks === null ? [] : [['task', task]]),
      loops: tasks === null ? [] : ['task'],
    };
  });
  const text = 'a run is the whole script, as it has several commands, or only a shell can tell what it starts.';
  return { launches, notes: [{ line: null, text }], options: [], isQueued: true };
}

/**
 * A launch of a task whose number is called `task`. A program that gets nothing from the number by its arguments reads it from its
 * environment, where it is then set.
 */
function boundWords(variable: string): (launch: Launch) => Launch {
  return (launch) => {
    const renamed = (text: Text): Text => ({
      ...text,
      pieces:
        text.pieces?.map((piece) =>
          typeof piece === 'object' && 'parameter' in piece && piece.parameter === variable
            ? { ...piece, parameter: 'task' }
            : piece,
        ) ?? null,
    });
    const bindings = new Map([...launch.bindings].map(([name, value]) => [name === variable ? 'task' : name, value]));
    const number = launch.bindings.get(variable)!;
    const isUsed = [...launch.words, ...launch.env.values()].some(
      ({ pieces }) => pieces === null || pieces.some((piece) => typeof piece === 'object' && 'parameter' in piece),
    );
    const env = new Map([...launch.env].map(([name, text]) => [name, renamed(text)] as const));
    if (!isUsed) env.set(variable, { text: number, pieces: [{ parameter: 'task', text: number }] });
    return {
      ...launch,
      words: launch.words.map(renamed),
      env,
      bindings,
      loops: launch.loops.map((name) => (name === variable ? 'task' : name)),
    };
  };
}
