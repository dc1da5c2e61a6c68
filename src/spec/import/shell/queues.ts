import type { Place } from '../../file/diagnostic.js';
import { slurmKeys, type SlurmOption, slurmOptions } from '../slurm-keys.js';
import { noteText, type WrittenMap } from '../sweep-text.js';
import type { Launch } from './launch-site.js';
import { ScriptMistake } from './script-node.js';
import { directives, shellCommand } from './shell-command.js';
import { plainText, type Text } from './script-values.js';

/** What a line for another queue stands for. `words` null: it only sets something. */
type Queued = {
  readonly words: readonly Text[] | null;
  readonly keys: WrittenMap;
  readonly after: readonly Launch[];
  readonly notes: readonly string[];
  readonly options: readonly string[];
};

type Context = {
  readonly place: Place;
  readonly line: number;
  /** The launch before it in the script. */
  readonly previous: Launch | null;
  readonly readFile: (path: string) => string | null;
  /** Launches whose numbers are in variables. */
  readonly jobs: ReadonlyMap<string, Launch>;
};

/** Whether words are a command of pueue, task-spooler or Slurm. */
export function isQueue(words: readonly Text[]): boolean {
  const [program = '', verb = ''] = words.map(({ text }) => text.replace(/^.*\//, ''));
  return /^(?:ts|tsp|sbatch)$/.test(program) || (program === 'pueue' && verb !== '');
}

/** The queue that every line of a list of commands is for; null: some line is a command of its own. */
export function queueOfList(text: string): string | null {
  const lines = text.split('\n').filter((line) => !/^\s*(?:#|$)/.test(line));
  const queues = lines.map((line) => /^\s*(pueue(?=\s+add\s)|tsp?(?=\s)|sbatch(?=\s))/.exec(line)?.[1]);
  return lines.length > 0 && queues.every((queue) => queue !== undefined) ? [...new Set(queues)].join(' and ') : null;
}

/** @throws {ScriptMistake} For an option that is not known. */
export function queuedCommand(words: readonly Text[], context: Context): Queued {
  const program = words[0]!.text.replace(/^.*\//, '');
  if (program === 'sbatch') return batchJob(words.slice(1), context);
  return program === 'pueue' ? pueueTask(words.slice(1), context) : spoolerTask(words.slice(1), context);
}

/** Words are joined as they are, for `sh`. */
const pasted = { shell: 'sh', isQuoted: false } as const;

/** An option of a command line: how many words follow it. */
export type Flags = Readonly<Record<string, 'switch' | 'value'>>;

type ReadFlags = { readonly given: ReadonlyMap<string, readonly string[]>; readonly rest: readonly Text[] };

/** Reads options up to `--` or the first other word. */
export function flagsOf(words: readonly Text[], flags: Flags, place: Place): ReadFlags {
  const given = new Map<string, string[]>();
  let at = 0;
  for (; at < words.length && /^-./.test(words[at]!.text); at += 1) {
    const { text } = words[at]!;
    if (text === '--') return { given, rest: words.slice(at + 1) };
    const { name, kind, attached } = flagOf(text, flags);
    if (kind === undefined) {
      throw new ScriptMistake(
        `the option \`${text}\` is not known here.`,
        'Leave it out of a copy of the file, and import that.',
        place,
      );
    }
    if (kind === 'value' && attached === null) at += 1;
    given.set(name, [...(given.get(name) ?? []), attached ?? (kind === 'switch' ? '' : textAt(words, at))]);
  }
  return { given, rest: words.slice(at) };
}

function textAt(words: readonly Text[], at: number): string {
  return words[at]?.text ?? '';
}

/** `--name=value`, `-j4`, `--name`. `kind` undefined: there is no such option. */
function flagOf(
  text: string,
  flags: Flags,
): { name: string; kind: Flags[string] | undefined; attached: string | null } {
  const kindOf = (name: string) => (Object.hasOwn(flags, name) ? flags[name] : undefined);
  const [, long, said = ''] = /^(--[\w-]+)=(.*)$/s.exec(text) ?? [];
  if (long !== undefined) return { name: long, kind: kindOf(long), attached: said };
  const short = text.slice(0, 2);
  if (kindOf(text) === undefined && kindOf(short) === 'value')
    return { name: short, kind: 'value', attached: text.slice(2) };
  return { name: text, kind: kindOf(text), attached: null };
}

const pueueFlags: Flags = {
  ...{ '-g': 'value', '--group': 'value', '-a': 'value', '--after': 'value', '-l': 'value', '--label': 'value' },
  ...{
    '-w': 'value',
    '--working-directory': 'value',
    '-o': 'value',
    '--priority': 'value',
    '-d': 'value',
    '--delay': 'value',
  },
  ...{
    '-i': 'switch',
    '--immediate': 'switch',
    '-s': 'switch',
    '--stashed': 'switch',
    '-p': 'switch',
    '--print-task-id': 'switch',
  },
  ...{ '-e': 'switch', '--escape': 'switch', '--follow': 'switch', '-f': 'switch' },
};

function pueueTask(words: readonly Text[], context: Context): Queued {
  const [verb, ...rest] = words;
  if (verb!.text !== 'add') return pueueSetting(words);
  const { given, rest: command } = flagsOf(rest, pueueFlags, context.place);
  const option = (...names: string[]) => names.flatMap((name) => given.get(name) ?? []);
  const [group] = option('-g', '--group');
  const [folder] = option('-w', '--working-directory');
  const [priority] = option('-o', '--priority');
  const after = option('-a', '--after').flatMap((value) => value.split(/[\s,]+/));
  const isEscaped = option('-e', '--escape').length > 0;
  const dropped = ['--delay', '-d', '--stashed', '-s', '--label', '-l'].filter((name) => given.has(name));
  return {
    // pueue joins the words, and gives them to a shell.
    words: isEscaped ? command : shellCommand(command, { ...pasted, place: context.place }),
    keys: {
      ...(folder === undefined ? {} : { cwd: folder }),
      ...(priority === undefined ? {} : { priority: Number(priority) }),
    },
    after: after.flatMap((name) => jobNamed(name, context) ?? []),
    notes: [
      ...(group === undefined
        ? []
        : [`the group \`${group}\` of pueue is left out: how many of its tasks run at a time is \`--slots\` here.`]),
      ...dropped.map((name) => `\`${name}\` of pueue is left out.`),
      ...after
        .filter((name) => jobNamed(name, context) === null)
        .map(
          (name) =>
            `\`--after ${name}\` is left out, as the number of a task says nothing here: write \`needs\` into the group.`,
        ),
    ],
    options: [],
  };
}

function pueueSetting(words: readonly Text[]): Queued {
  const texts = words.map(({ text }) => text);
  const count = texts[0] === 'parallel' ? texts.find((text) => /^[1-9]\d*$/.test(text)) : undefined;
  const notes = count === undefined ? [`\`pueue ${texts.join(' ')}\` is left out.`] : [];
  return { words: null, keys: {}, after: [], notes, options: count === undefined ? [] : ['--slots', count] };
}

/** The launch whose number is in a variable; null: it is a number, or unknown. */
function jobNamed(text: string, { jobs }: Context): Launch | null {
  return text.startsWith('\ue002') ? (jobs.get(text.slice(1)) ?? null) : null;
}

const spoolerFlags: Flags = {
  ...{
    '-n': 'switch',
    '-f': 'switch',
    '-m': 'switch',
    '-d': 'switch',
    '-B': 'switch',
    '-g': 'switch',
    '-E': 'switch',
    '-z': 'switch',
  },
  ...{ '-L': 'value', '-N': 'value', '-D': 'value', '-W': 'value', '-G': 'value', '-S': 'value', '-O': 'value' },
};

/** Task-spooler starts the words themselves, without a shell. */
function spoolerTask(words: readonly Text[], context: Context): Queued {
  const { given, rest: command } = flagsOf(words, { ...spoolerFlags, ...onlySettings }, context.place);
  if (command.length === 0) return spoolerSetting(words, given.get('-S')?.at(-1));
  const named = [...(given.get('-D') ?? []), ...(given.get('-W') ?? [])].flatMap((text) => text.split(','));
  const waits = given.has('-d') && context.previous !== null ? [context.previous] : [];
  const amounts = [['cpus', '-N'] as const, ['gpus', '-G'] as const].flatMap(([key, flag]) => {
    const text = given.get(flag)?.at(-1) ?? '';
    return /^[1-9]\d*$/.test(text) ? [[key, Number(text)] as const] : [];
  });
  const unknown = named.filter((name) => jobNamed(name, context) === null);
  return {
    words: command,
    keys: amounts.length === 0 ? {} : { resources: Object.fromEntries(amounts) },
    after: [...named.flatMap((name) => jobNamed(name, context) ?? []), ...waits],
    notes: [
      ...amounts.filter(([key]) => key === 'cpus').map(([, count]) => `\`-N ${count}\` is taken as that many cores.`),
      ...unknown.map(
        (name) => `\`${name}\` is left out, as the number of a job says nothing here: write \`needs\` into the group.`,
      ),
    ],
    options: [],
  };
}

function spoolerSetting(words: readonly Text[], slots: string | undefined): Queued {
  const said = words.map(({ text }) => text).join(' ');
  const notes = slots === undefined ? [`\`ts ${said}\` is left out.`] : [];
  return { words: null, keys: {}, after: [], notes, options: slots === undefined ? [] : ['--slots', slots] };
}

const onlySettings: Flags = {
  '-C': 'switch',
  '-K': 'switch',
  '-l': 'switch',
  '-V': 'switch',
  '-w': 'switch',
  '-t': 'switch',
  '-c': 'switch',
};

function batchJob(words: readonly Text[], { line, place, readFile }: Context): Queued {
  const { options: typed, taken } = slurmOptions(
    words.map(({ text }) => text),
    line,
  );
  const [script] = words.slice(taken);
  const text = script === undefined ? null : readFile(script.text);
  const options = [...(text === null ? [] : directives(text)), ...typed];
  if (options.some(({ name }) => name === 'array')) {
    throw new ScriptMistake('an array job in a script cannot be taken over.', 'Import the script of the job.', place);
  }
  const { keys, notes } = slurmKeys(options.filter(({ name }) => name !== 'wrap'));
  const told = notes.map((note) => noteText({ ...note, line: null }));
  if (script === undefined)
    return { ...job, words: wrappedCommand(words.slice(0, taken), options, place), keys, notes: told };
  const unread = `${script.text} cannot be read from here, so its \`#SBATCH\` lines are missing in \`slurm\` and \`resources\`.`;
  return {
    ...job,
    words: [plainText('bash'), ...words.slice(taken)],
    keys,
    notes: text === null ? [...told, unread] : told,
  };
}

function wrappedCommand(words: readonly Text[], options: readonly SlurmOption[], place: Place): Text[] {
  const wrap = options.find(({ name }) => name === 'wrap')?.value ?? null;
  const wrapped = wrap === null ? undefined : words.find(({ text }) => text.endsWith(wrap));
  if (wrapped !== undefined) return shellCommand([withoutFlag(wrapped)], { ...pasted, place });
  throw new ScriptMistake('`sbatch` has no script here.', 'Import the script of the job.', place);
}

const job = { after: [], options: [] };

/** `--wrap=…` without its name. */
function withoutFlag(word: Text): Text {
  const [first, ...rest] = word.pieces ?? [];
  if (typeof first !== 'string' || !first.startsWith('--wrap=')) return word;
  return { text: word.text.slice(7), pieces: [first.slice(7), ...rest] };
}
