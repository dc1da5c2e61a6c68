import { groupBy } from '../../../base/group-by.js';
import { UserError } from '../../../base/user-error.js';
import { programName } from '../../file/command-list.js';
import { diagnosticsError } from '../../file/diagnostic.js';
import type { ImportFormat, ImportSource } from '../import-format.js';
import type { Conversion, ImportNote, Written, WrittenMap } from '../sweep-text.js';
import { scriptRun, type ScriptRun } from './interpreter.js';
import { type LaunchGroup, groupsOf, OddValue } from './launch-site.js';
import { parseScript } from './parse-script.js';
import { ScriptMistake } from './script-node.js';

/** A script with loops, or with lines for pueue, task-spooler, Slurm or GNU parallel. */
export const scriptFormat: ImportFormat = {
  name: 'a shell script that starts runs',
  recognises: (text, value, path) => value === undefined && !isProgram(text, path) && startsRuns(text),
  convert: (source) =>
    located(source, () => sweepOf(scriptRun(parseScript(source.text), source.text, source), source.path)),
  takesCommand: false,
};

const startsRun = /^(?:(?:for|while|until)\b|(?:\w{1,99}=\$\()?(?:pueue|tsp?|sbatch|parallel)\b)/;

/** Whether a line is a loop, or for a queue. Judged line by line, as lines may be very long. */
function startsRuns(text: string): boolean {
  return text.split('\n').some((raw) => {
    const line = raw.trim();
    return startsRun.test(line) || (line.includes('parallel') && /\|[ \t]?parallel\b/.test(line));
  });
}

/** Whether a file is a program for something else than a shell. */
function isProgram(text: string, path: string): boolean {
  return /\.(?:py|ipynb|jl|R|rb|pl|js|ts|c|cpp|go|rs)$/.test(path) || /^#!(?!.*\b(?:ba|z|k|da)?sh\b)/.test(text);
}

/** Shows mistakes in a script with their places. */
export function located({ text, path }: ImportSource, work: () => Conversion): Conversion {
  try {
    return work();
  } catch (error) {
    if (error instanceof OddValue) {
      const fix = 'Write another value, or the command of that run by hand.';
      throw new UserError(`${path} has the value ${error.message}, which a sweep file cannot hold.`, fix);
    }
    if (!(error instanceof ScriptMistake)) throw error;
    const { message: problem, fix, place } = error;
    throw diagnosticsError(path, text, [{ place, keys: [], problem, fix }]);
  }
}

/** Limit on groups, each of which is written out. */
const mostGroups = 500;

/** @throws {UserError} If the script starts nothing. */
export function sweepOf(run: ScriptRun, path: string): Conversion {
  if (run.launches.length === 0) {
    throw new UserError(`${path} starts nothing that can be taken over.`, 'Give a script that starts programs.');
  }
  const sites = [...groupBy(run.launches, ({ site }) => site).values()];
  const groups = named(sites.flatMap((launches) => groupsOf(launches)));
  if (groups.length > mostGroups) {
    throw new UserError(
      `${path} starts ${groups.length} commands that have no common form.`,
      'Write them into a text file, one on each line: that is a sweep.',
    );
  }
  const needs = groups.map((group, index) => needsOf(group, groups.slice(0, index), run.isQueued));
  const notes = [
    ...run.notes,
    ...groups.flatMap(({ group }) => group.notes),
    ...needs.flatMap(({ notes: each }) => each),
  ];
  const shared = sharedKeys(groups.map(({ group }) => group.keys));
  const own = groups.map(({ name, group }, index): [string, WrittenMap] => [
    name,
    { ...without(group.keys, shared), ...needs[index]!.keys },
  ]);
  const [only] = own;
  const sweep = own.length === 1 ? { ...shared, ...only![1] } : { ...shared, groups: Object.fromEntries(own) };
  const commands = groups.flatMap(({ group }) => group.launches.map(({ words }) => words.map(({ text }) => text)));
  return { sweep, notes, options: run.options.slice(-2), commands };
}

type Named = { readonly name: string; readonly group: LaunchGroup };

/** Groups with names after their programs. */
function named(groups: readonly LaunchGroup[]): Named[] {
  const used = new Map<string, number>();
  return groups.map((group) => {
    const name = groupName(group);
    const count = (used.get(name) ?? 0) + 1;
    used.set(name, count);
    return { name: count === 1 ? name : `${name}-${count}`, group };
  });
}

function groupName({ launches }: LaunchGroup): string {
  const words = launches[0]!.words.map(({ text }) => text);
  const bare =
    words[0] === 'env' ? words.slice(words.findIndex((word, index) => index > 0 && !/^\w+=/.test(word))) : words;
  const isShell = /^(?:ba)?sh$/.test(bare[0] ?? '') && bare[1] === '-c';
  const script = isShell ? (/[\w./-]+\.(?:py|sh|R|jl|js|pl|rb)\b/.exec(bare[2]!)?.[0] ?? 'shell') : null;
  const program = script === null ? (bare as [string, ...string[]]) : ([script] as const);
  const name = programName(program)
    .replace(/(?<=.)\.\w+$/, '')
    .replace(/[^\w.-]+/g, '-')
    .replace(/^[^A-Za-z0-9_]+/, '');
  return name === '' ? 'runs' : name;
}

/** Keys that all groups have alike, but for those that say what is run. */
function sharedKeys(all: readonly WrittenMap[]): WrittenMap {
  const [first, ...rest] = all;
  const isShared = (key: string) => rest.every((each) => JSON.stringify(each[key]) === JSON.stringify(first![key]));
  return Object.fromEntries(
    Object.entries(first!).filter(
      ([key]) =>
        (rest.length === 0 || ['executor', 'slurm', 'resources', 'cwd', 'env'].includes(key)) &&
        key !== 'cases' &&
        isShared(key),
    ),
  );
}

function without(keys: WrittenMap, shared: WrittenMap): WrittenMap {
  return Object.fromEntries(Object.entries(keys).filter(([key]) => !Object.hasOwn(shared, key)));
}

type Needs = { readonly keys: WrittenMap; readonly notes: readonly ImportNote[] };

/** What a group waits for: by `--after` of its tasks, or as the commands of a script follow each other. */
function needsOf({ group, name }: Named, earlier: readonly Named[], isQueued: boolean): Needs {
  if (!isQueued) return scriptOrder(group, earlier);
  const awaited = new Set(group.launches.flatMap(({ after }) => after));
  if (awaited.size === 0) return { keys: {}, notes: [] };
  const needs: Written[] = [];
  for (const other of earlier) {
    const theirs = new Set(other.group.launches);
    if (![...awaited].some((launch) => theirs.has(launch))) continue;
    const need = needFor(group, other);
    if (need !== null) needs.push(need);
  }
  const isComplete =
    needs.length > 0 &&
    [...awaited].every((launch) => earlier.some(({ group: { launches } }) => launches.includes(launch)));
  if (isComplete) return { keys: { needs }, notes: [] };
  const text = `what the tasks of ${name} wait for is left out: write \`needs\`, or launch with \`--slots 1\` to run one after the other.`;
  return { keys: {}, notes: [{ line: group.launches[0]!.line, text }] };
}

/** The need that makes each launch of a group wait for its own of another; null: there is none. */
function needFor(group: LaunchGroup, { name, group: other }: Named): Written | null {
  const isWhole = group.launches.every(({ after }) => other.launches.every((launch) => after.includes(launch)));
  if (isWhole) return name;
  const names = other.names.filter((each) => group.names.includes(each));
  const keyOf = (launch: LaunchGroup['launches'][number]) =>
    JSON.stringify(names.map((each) => launch.bindings.get(each)));
  const isOwn = group.launches.every(({ after, ...launch }) => {
    const mine = other.launches.filter((each) => keyOf(each) === keyOf({ ...launch, after }));
    return (
      mine.length > 0 &&
      mine.every((each) => after.includes(each)) &&
      after.filter((each) => other.launches.includes(each)).length === mine.length
    );
  });
  return isOwn && names.length > 0 ? { [name]: names } : null;
}

/** In a script the next program begins when the one before has ended. */
function scriptOrder(group: LaunchGroup, earlier: readonly Named[]): Needs {
  const programOf = (each: LaunchGroup) => groupName(each);
  const before = earlier.filter((each) => programOf(each.group) !== programOf(group));
  if (before.length === 0) return { keys: {}, notes: [] };
  const names = before.map(({ name }) => name);
  const text = `as in the script, this waits until ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} done: remove \`needs\` where it does not depend on it.`;
  return { keys: { needs: names }, notes: [{ line: group.launches[0]!.line, text }] };
}
