import { durationText } from '../../text/duration.js';
import type { ImportNote, WrittenMap } from './sweep-text.js';

/** One option of `sbatch`: `time`, `08:00:00`. A switch has the value null. */
export type SlurmOption = { readonly name: string; readonly value: string | null; readonly line: number | null };

/** Long names of the short options. */
const longNames: Readonly<Record<string, string>> = {
  ...{ a: 'array', A: 'account', c: 'cpus-per-task', C: 'constraint', d: 'dependency', D: 'chdir', e: 'error' },
  ...{ G: 'gpus', i: 'input', J: 'job-name', n: 'ntasks', N: 'nodes', o: 'output', p: 'partition', q: 'qos' },
  ...{ t: 'time', w: 'nodelist', x: 'exclude', H: 'hold', W: 'wait', Q: 'quiet', s: 'oversubscribe' },
};
/** Options without a value. */
const switches = new Set([
  ...['exclusive', 'hold', 'wait', 'quiet', 'oversubscribe', 'requeue', 'no-requeue', 'parsable', 'overcommit'],
  ...['test-only', 'verbose', 'contiguous', 'spread-job', 'use-min-nodes'],
]);

/**
 * Reads words as options of `sbatch`, up to the first word that is none.
 *
 * @returns The options and the number of words that they take.
 */
export function slurmOptions(words: readonly string[], line: number | null): { options: SlurmOption[]; taken: number } {
  const options: SlurmOption[] = [];
  let at = 0;
  while (at < words.length && /^-./.test(words[at]!)) {
    const { name, attached } = namedOption(words[at]!);
    const takesNext = attached === null && !switches.has(name) && at + 1 < words.length;
    options.push({ name, value: takesNext ? words[at + 1]! : attached, line });
    at += takesNext ? 2 : 1;
  }
  return { options, taken: at };
}

function namedOption(word: string): { name: string; attached: string | null } {
  const [, long, value = null] = /^--([\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
  if (long !== undefined) return { name: long, attached: value };
  const attached = word.slice(2).replace(/^=/, '');
  return { name: longNames[word[1]!] ?? word[1]!, attached: attached === '' ? null : attached };
}

/** What becomes of an option that is not passed on, in words. */
const leftOut: Readonly<Record<string, string>> = {
  output: 'the output of each run is in its own output.log',
  error: 'the output of each run is in its own output.log',
  'open-mode': 'the output of each run is in its own output.log',
  'job-name': 'jobs are named after their runs',
  input: 'give the program the file as an argument',
  dependency: 'write `needs` into the group that comes later',
  hold: 'launch the sweep, and type `memrl-tui hold`',
  array: 'each task is a run',
};
/** Options that only matter to the one who types `sbatch`. */
const silent = new Set(['parsable', 'quiet', 'verbose', 'wait', 'test-only', 'no-requeue']);
const direct = ['partition', 'account', 'qos', 'constraint'] as const;

/** The keys of a sweep file for the options of jobs, and what is not taken over. */
export function slurmKeys(options: readonly SlurmOption[]): { keys: WrittenMap; notes: ImportNote[] } {
  const said = options.filter(({ name }) => !silent.has(name));
  const notes = said.flatMap(({ name, line }): ImportNote[] =>
    leftOut[name] === undefined ? [] : [{ line, text: `\`--${name}\` is left out: ${leftOut[name]}.` }],
  );
  const taken = said.filter(({ name }) => leftOut[name] === undefined).flatMap(keysOf);
  const all = <Kind extends Key['kind']>(kind: Kind) =>
    taken.filter((key): key is Extract<Key, { kind: Kind }> => key.kind === kind);
  const extra = all('extra').map(({ word }) => word);
  const slurm = {
    ...Object.assign({}, ...all('slurm').map(({ set }) => set)),
    ...(extra.length === 0 ? {} : { extra }),
  } as WrittenMap;
  const resources = Object.assign({ gpus: 0 }, ...all('resource').map(({ set }) => set)) as WrittenMap;
  const [cwd] = all('cwd');
  return {
    keys: {
      executor: 'slurm',
      resources,
      ...(Object.keys(slurm).length === 0 ? {} : { slurm }),
      ...(cwd === undefined ? {} : { cwd: cwd.path }),
    },
    notes,
  };
}

/** What an option is in a sweep file. */
type Key =
  | { readonly kind: 'slurm' | 'resource'; readonly set: WrittenMap }
  | { readonly kind: 'extra'; readonly word: string }
  | { readonly kind: 'cwd'; readonly path: string };

function keysOf({ name, value }: SlurmOption): Key[] {
  const extra: Key = { kind: 'extra', word: value === null ? `--${name}` : `--${name}=${value}` };
  if (value === null) return [extra];
  if (name === 'chdir') return [{ kind: 'cwd', path: value }];
  if (direct.some((each) => each === name)) return [{ kind: 'slurm', set: { [name]: value } }];
  const seconds = name === 'time' ? slurmSeconds(value) : null;
  if (seconds !== null) return [{ kind: 'slurm', set: { time: durationText(seconds) } }];
  const count = countOf(name, value);
  if (count === null) return [extra];
  const resource: Key = { kind: 'resource', set: { [count.key]: count.count } };
  return count.whole ? [resource] : [resource, extra];
}

/** An amount of cores or GPUs. `whole`: our own key says everything that the option says. */
function countOf(name: string, value: string): { key: 'gpus' | 'cpus'; count: number; whole: boolean } | null {
  if (name === 'cpus-per-task' && /^[1-9]\d*$/.test(value)) return { key: 'cpus', count: Number(value), whole: true };
  const isGpus = /^gpus(?:-per-(?:node|task))?$/.test(name) || (name === 'gres' && /^gpu\b/.test(value));
  const [, type, count = '1'] = /^(?:gpu(?=:|$):?)?(?:([A-Za-z_]\w*)(?::|$))?(\d+)?$/.exec(value) ?? [null, null, ''];
  return isGpus && /^\d+$/.test(count) ? { key: 'gpus', count: Number(count), whole: !type } : null;
}

/** The seconds in `90` (minutes), `8:30`, `08:00:00`, `1-12`, `1-12:30`, `1-12:30:00`; null: another text. */
function slurmSeconds(text: string): number | null {
  const [, days, rest = ''] = /^(?:(\d+)-)?(\d+(?::\d+){0,2})$/.exec(text) ?? [];
  const parts = rest.split(':').map(Number);
  if (rest === '') return null;
  const [first = 0, second = 0, third = 0] = parts;
  if (days !== undefined) return Number(days) * 86_400 + first * 3600 + second * 60 + third;
  if (parts.length === 3) return first * 3600 + second * 60 + third;
  return first * 60 + second;
}
