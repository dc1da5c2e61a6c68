import type { Place } from '../../file/diagnostic.js';
import { mostRuns } from '../../expand/compile-block.js';
import type { WrittenMap } from '../sweep-text.js';
import { fileText, type Scope } from './expansion.js';
import { type Flags, flagsOf } from './queues.js';
import { shellCommand } from './shell-command.js';
import { ScriptMistake } from './script-node.js';
import { joined, plainText, type Text } from './script-values.js';

/** The commands that GNU parallel would start, with the values of its input sources as parameters. */
type Parallel = {
  readonly launches: readonly { readonly words: readonly Text[]; readonly bindings: ReadonlyMap<string, string> }[];
  readonly keys: WrittenMap;
  readonly notes: readonly string[];
  readonly options: readonly string[];
};

type Context = { readonly input: string | null; readonly place: Place; readonly scope: Scope };

export function isParallel(words: readonly Text[]): boolean {
  return /^(?:.*\/)?parallel$/.test(words[0]?.text ?? '');
}

/**
 * @param context `input`: what is piped into it; null: nothing is.
 * @throws {ScriptMistake} For options and replacement strings that are not known.
 */
export function parallelLaunches(words: readonly Text[], context: Context): Parallel {
  const { options, rest } = optionsOf(words.slice(1), context.place);
  const first = rest.findIndex(({ text }) => separators.has(text));
  const command = first < 0 ? rest : rest.slice(0, first);
  if (command.length === 0)
    throw new ScriptMistake(
      'there is no command: its input are whole commands.',
      'Launch those: a text file with one on each line is a sweep.',
      context.place,
    );
  const sources = sourcesOf(first < 0 ? [] : rest.slice(first), options, context);
  const parameters = options.has('--header')
    ? sources.map((source) => source.values.shift() ?? '')
    : namesFor(command, sources.length);
  refuseNames(parameters, context.place);
  const rows = rowsOf(sources, options.has('--link'), context.place);
  const launches = rows.map((row, index) => {
    const bindings = new Map(parameters.map((name, at) => [name, row[at]!]));
    const filled = filledWords(command, { names: parameters, row, number: index + 1, place: context.place });
    return {
      words: options.has('-q') ? filled : shellCommand(filled, { place: context.place, shell: 'bash', isQuoted: true }),
      bindings,
    };
  });
  return { launches, ...settings(options) };
}

/** Options of parallel that matter to its own output alone. */
const display = [
  ...[
    '--bar',
    '--eta',
    '--progress',
    '-k',
    '--keep-order',
    '--tag',
    '-u',
    '--ungroup',
    '--lb',
    '--line-buffer',
    '-v',
    '--verbose',
  ],
  ...['--will-cite', '--dry-run', '--dryrun'],
];
/** Options under one name. */
const names: Readonly<Record<string, string>> = {
  ...{
    '--xapply': '--link',
    '--quote': '-q',
    '--resume-failed': '--resume',
    '-P': '-j',
    '--jobs': '-j',
    '--max-procs': '-j',
    '--arg-file': '-a',
  },
};
const leftOut = ['--resume', '--joblog', '--results', '--delay', '--halt', '--nice', '--load', '--memfree', '--tmpdir'];
const flags: Flags = Object.fromEntries([
  ...[...display, '--link', '--xapply', '-q', '--quote', '--resume-failed'].map((name) => [name, 'switch'] as const),
  ['--resume', 'switch'],
  ...[
    ...leftOut.slice(1),
    '-j',
    '-P',
    '--jobs',
    '--max-procs',
    '-a',
    '--arg-file',
    '--header',
    '--retries',
    '--timeout',
  ].map((name) => [name, 'value'] as const),
]);

type Options = ReadonlyMap<string, readonly string[]>;

function optionsOf(words: readonly Text[], place: Place): { options: Options; rest: readonly Text[] } {
  const { given, rest } = flagsOf(words, flags, place);
  return { options: new Map([...given].map(([name, values]) => [names[name] ?? name, values])), rest };
}

function settings(options: Options): Omit<Parallel, 'launches'> {
  const [jobs, tries, timeout] = ['-j', '--retries', '--timeout'].map((name) => options.get(name)?.at(-1) ?? '');
  const isTime = /^\d+(?:\.\d+)?[smhd]?$/.test(timeout!);
  const isCount = /^[1-9]\d*$/.test(jobs!);
  const odd = [isCount ? '' : jobs, isTime ? '' : timeout].map((value, index) =>
    value === '' ? '' : `${index === 0 ? '-j' : '--timeout'} ${value}`,
  );
  const dropped = [...leftOut.filter((name) => options.has(name)), ...odd.filter((each) => each !== '')];
  return {
    keys: {
      ...(Number(tries) > 1 ? { retry: Number(tries) - 1 } : {}),
      ...(isTime ? { timeout: /\d$/.test(timeout!) ? Number(timeout) : timeout! } : {}),
    },
    notes: dropped.map((name) => `\`${name}\` of parallel is left out.`),
    options: isCount ? ['--slots', jobs!] : [],
  };
}

const separators = new Set([':::', ':::+', '::::', '::::+']);

/** An input source. `isLinked`: its values go with those of the source before it. */
type Source = { readonly values: string[]; readonly isLinked: boolean };

function sourcesOf(words: readonly Text[], options: Options, { input, place, scope }: Context): Source[] {
  const linesOf = (text: string) => text.replace(/\n$/, '').split('\n');
  const sources: Source[] = (options.get('-a') ?? []).map((path) => ({
    values: linesOf(fileText(path, scope, place)),
    isLinked: false,
  }));
  let separator = '';
  for (const { text } of words) {
    const isFile = separator.startsWith('::::');
    if (separators.has(text)) {
      separator = text;
      if (!text.startsWith('::::')) sources.push({ values: [], isLinked: text.endsWith('+') });
    } else if (isFile)
      sources.push({
        values: linesOf(text === '-' && input !== null ? input : fileText(text, scope, place)),
        isLinked: separator.endsWith('+'),
      });
    else sources.at(-1)!.values.push(text);
  }
  if (sources.length > 0) return sources;
  if (input === null)
    throw new ScriptMistake('there are no values: they come from standard input.', 'Give them behind `:::`.', place);
  return [{ values: linesOf(input), isLinked: false }];
}

/** All combinations of the sources, the last varying fastest; linked ones go together. */
function rowsOf(sources: readonly Source[], isLinked: boolean, place: Place): string[][] {
  // With --link the shorter sources begin again; `:::+` ends with the shortest.
  if (isLinked) {
    const longest = Math.max(...sources.map(({ values }) => values.length));
    return Array.from({ length: longest }, (_, at) => sources.map(({ values }) => values[at % values.length] ?? ''));
  }
  const blocks: string[][][] = [];
  for (const { values, isLinked: isTied } of sources) {
    const before = isTied ? blocks.pop() : undefined;
    const rows = values.map((value) => [value]);
    blocks.push(before === undefined ? rows : before.slice(0, rows.length).map((row, at) => [...row, values[at]!]));
  }
  const count = blocks.reduce((product, block) => product * block.length, 1);
  if (count > mostRuns) throw new ScriptMistake('these are too many commands.', 'List fewer values.', place);
  return blocks.reduce<string[][]>(
    (rows, block) => rows.flatMap((row) => block.map((more) => [...row, ...more])),
    [[]],
  );
}

/** Names of the sources: of the options before `{1}`, `{2}`, or their numbers. */
function namesFor(command: readonly Text[], count: number): string[] {
  const texts = command.map(({ text }) => text);
  const found = Array.from({ length: count }, (_, index) => {
    const number = `{${index + 1}}`;
    const mark = count === 1 && !texts.some((text) => text.includes(number)) ? '{}' : number;
    return optionBefore(texts, mark) ?? `value${count === 1 ? '' : index + 1}`;
  });
  return found.map((name, index) => (found.indexOf(name) === index ? name : `${name}_${index + 1}`));
}

/** The name of the option that a replacement string is the value of: `--lr {1}`, `--lr={1}`; null: there is none. */
function optionBefore(texts: readonly string[], mark: string): string | null {
  const at = texts.findIndex((text) => text.includes(mark));
  if (at < 0) return null;
  const before = texts[at] === mark ? `${texts[at - 1] ?? ''} ` : texts[at]!.slice(0, texts[at]!.indexOf(mark));
  const [, name] = /(?:^|\s)--?([A-Za-z_][\w-]*)[= ]$/.exec(before) ?? /(?:^|\s)([A-Za-z_]\w*)=$/.exec(before) ?? [];
  return name?.replaceAll('-', '_') ?? null;
}

function refuseNames(names: readonly string[], place: Place): void {
  const odd = names.find((name) => !/^[A-Za-z_]\w*$/.test(name));
  if (odd === undefined) return;
  throw new ScriptMistake(
    `\`${odd}\` cannot be the name of a parameter.`,
    'Rename the column: letters, digits and _.',
    place,
  );
}

type Row = {
  readonly names: readonly string[];
  readonly row: readonly string[];
  readonly number: number;
  readonly place: Place;
};

/** The words of the command with the values in place; without a replacement string all values are appended. */
function filledWords(command: readonly Text[], row: Row): Text[] {
  const replacement = /\{(?:\d+|#|[A-Za-z_]\w*)?(?:\.|\/|\/\/|\/\.)?\}/;
  const isPlaced = command.some(({ text }) => replacement.test(text));
  const words = isPlaced ? command : [...command, plainText('{}')];
  return words.flatMap((word) =>
    word.text === '{}' ? row.names.map((_, at) => valueText(row, at)) : [filledWord(word, row)],
  );
}

function valueText({ names, row }: Row, at: number): Text {
  return { text: row[at]!, pieces: [{ parameter: names[at]!, text: row[at]! }] };
}

function filledWord(word: Text, row: Row): Text {
  if (/\{(?:%|=|\+|\?)|\{[^{}]*=\}/.test(word.text)) {
    throw new ScriptMistake(
      `\`${word.text}\` has a replacement string that is not known here.`,
      'Write its values.',
      row.place,
    );
  }
  const parts = (word.pieces ?? [word.text]).flatMap((piece): Text[] => {
    if (typeof piece !== 'string')
      return [joined([{ text: 'parameter' in piece ? piece.text : word.text, pieces: [piece] }])];
    return piece
      .split(/(\{(?:\d+|#|[A-Za-z_]\w*)?(?:\.|\/\/|\/\.|\/)?\})/)
      .map((text, index) => (index % 2 === 0 ? plainText(text) : replaced(text, row)));
  });
  return joined(parts);
}

function replaced(text: string, row: Row): Text {
  const [, name = '', form = ''] = /^\{(\d+|#|[A-Za-z_]\w*)?(.*)\}$/.exec(text)!;
  if (name === '#') return { text: String(row.number), pieces: null };
  // Other names in braces are no replacement strings.
  if (/^[A-Za-z_]/.test(name) && !row.names.includes(name)) return plainText(text);
  const at = placeOf(name, row.names);
  const value = row.row[at];
  if (value !== undefined) return form === '' ? valueText(row, at) : { text: pathPart(value, form), pieces: null };
  throw new ScriptMistake(
    `\`${text}\` is not one of the ${row.names.length} values.`,
    'Write `{1}`, `{2}` ….',
    row.place,
  );
}

/** The number of a value by its name, or its number; without either it is the only one. */
function placeOf(name: string, names: readonly string[]): number {
  if (name === '') return names.length === 1 ? 0 : -1;
  return /^\d/.test(name) ? Number(name) - 1 : names.indexOf(name);
}

/** `{.}` without its ending, `{/}` without its folder, `{//}` the folder, `{/.}` without either. */
function pathPart(value: string, form: string): string {
  const name = value.replace(/^.*\//, '');
  if (form === '/') return name;
  if (form === '//') return value.includes('/') ? value.replace(/\/[^/]*$/, '') : '.';
  return (form === '/.' ? name : value).replace(/\.[^/.]+$/, '');
}
