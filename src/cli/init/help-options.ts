import { parse } from 'yaml';
import { parameterName } from '../../spec/file/parameter-schema.js';
import { terminalText } from '../../text/display-text.js';
import {
  choicesIn,
  type Declared,
  declaredOption,
  type HelpOption,
  isOffOf,
  plainOption,
  presetIn,
  presetValue,
} from './option-words.js';

/** The library that wrote the help text, which decides how parameters are passed. */
type HelpFormat = 'argparse' | 'click' | 'fire' | 'absl' | 'Hydra';
export type ProgramHelp = {
  readonly format: HelpFormat;
  readonly options: readonly HelpOption[];
  /** Required arguments of the command, by their names in the text. */
  readonly operands: readonly string[];
  /** Subcommands, one of which has to be chosen before its options are known. */
  readonly commands: readonly string[];
};

/** Limit on the characters that are parsed. */
const MOST = 200_000;
/** Limit on the characters of one line. */
const WIDEST = 1000;
/** Limit on the options of one program. */
const MOST_OPTIONS = 500;

/**
 * The options in a help text: of argparse (also with tyro, simple-parsing and HfArgumentParser), click and typer, fire, absl, or
 * the configuration that Hydra prints. Null: it is none of these. Accepts any text.
 */
export function helpOptions(text: string): ProgramHelp | null {
  // Without the colours of rich; its boxes are used to find tables.
  const boxed = terminalText(text.slice(0, MOST))
    .split('\n')
    .map((line) => line.slice(0, WIDEST));
  const plain = boxed.map(withoutBox);
  const format = formatOf(plain.join('\n'));
  if (format === null) return null;
  const { options, operands = [], commands = [] } = readers[format](plain, boxed);
  const known = new Map(options.filter(isParameter).map((option) => [option.name, option]));
  // An option that turns another one off is not listed separately.
  const names = [...known.keys()];
  const own = [...known.values()].filter(({ name }) => !names.some((other) => isOffOf(name, other)));
  return { format, options: own.slice(0, MOST_OPTIONS), operands, commands };
}

/** Removes the frame of a box, also of one drawn with `+`, `-` and `|`; keeps its title. */
function withoutBox(line: string): string {
  return line
    .replace(/^(\s*)\|(.*)\|(\s*)$/, '$1 $2 $3')
    .replace(/^\s*\+-+(.*?)-*\+\s*$/, ' $1 ')
    .replace(/[\u2500-\u257f]/g, ' ');
}

function formatOf(text: string): HelpFormat | null {
  if (/powered by hydra|^== Config ==/im.test(text)) return 'Hydra';
  if (/^NAME\n.*\n\nSYNOPSIS$/m.test(text)) return 'fire';
  if (/^\s*flags:\s*$/m.test(text) || /^ {2}--(\[no\])?[\w.]+: /m.test(text)) return 'absl';
  // `Usage:` and `usage:` distinguish the two; rich writes ` Usage: `.
  if (/^\s*Usage: /m.test(text) && /^\s*Options[: ]/m.test(text)) return 'click';
  if (/^\s*usage: /im.test(text) && /^\s+(-\w, )?--?\w/m.test(text)) return 'argparse';
  return null;
}

type Read = Pick<ProgramHelp, 'options'> & Partial<ProgramHelp>;

const readers: Readonly<Record<HelpFormat, (plain: readonly string[], boxed: readonly string[]) => Read>> = {
  argparse: argparseHelp,
  click: clickHelp,
  fire: fireHelp,
  absl: (lines) => ({ options: abslOptions(lines) }),
  Hydra: (lines) => ({ options: hydraOptions(lines) }),
};

/** Options that every program has, and that are no settings. */
const besides =
  /^(help|helpfull|helpshort|helpxml|h|version|show-completion|install-completion|print_config|verbose|quiet|debug)$/;

function isParameter({ name }: HelpOption): boolean {
  return !besides.test(name) && parameterName.safeParse(name).success;
}

function argparseHelp(lines: readonly string[]): Read {
  // Removes nested brackets, the innermost first; the rest is required.
  let usage = usageIn(lines);
  const hasCommands = /\} \.\.\./.test(usage);
  for (let depth = 0; depth < 8; depth += 1) usage = usage.replace(/\[[^[\]]*\]/g, ' ');
  const isNeeded = (name: string) => new RegExp(`(?<![\\w.-])${escaped(name)}(?![\\w.-])`).test(usage);
  const operands = entriesBelow(lines, /^positional arguments:$/);
  const choices =
    operands
      .find((entry) => entry.startsWith('{'))
      ?.slice(1, -1)
      .split(',') ?? [];
  // The format of tyro.
  const [mark = '', ...listed] = linesBelow(lines, /^\s*subcommands\s*$/);
  const subcommands = mark.trim() === '(required)' ? listed : [];
  return {
    options: listedOptions(lines).map((each) => ({ ...each, required: each.required || isNeeded(`--${each.name}`) })),
    operands: hasCommands ? [] : operands.filter(isNeeded),
    commands: hasCommands ? choices : subcommands.flatMap((line) => /^\s+[•*] (\S+)/.exec(line)?.[1] ?? []),
  };
}

function clickHelp(lines: readonly string[], boxed: readonly string[]): Read {
  const [, behind = ''] = /\[OPTIONS\](.*)$/.exec(usageIn(lines)) ?? [];
  const hasCommands = /(^|\s)COMMAND(\d*) \[/.test(behind);
  const options = boxedOptions(boxed);
  return {
    options: options.length > 0 ? options : listedOptions(lines),
    operands: hasCommands ? [] : behind.split(/\s+/).flatMap((word) => /^\{?(\w[^}]*)\}?/.exec(word)?.[1] ?? []),
    commands: hasCommands ? entriesBelow(lines, /^\s*Commands:?\s*$/) : [],
  };
}

/** The lines from `usage:` to the next empty one, joined. */
function usageIn(lines: readonly string[]): string {
  const from = lines.findIndex((line) => /^\s*usage: /i.test(line));
  const rest = lines.slice(Math.max(0, from)).map((line) => line.trim());
  const length = rest.indexOf('');
  return rest.slice(0, length < 0 ? undefined : length).join(' ');
}

/** The first words of the lines below a heading with the indentation of the first of them. */
function entriesBelow(lines: readonly string[], heading: RegExp): string[] {
  const below = linesBelow(lines, heading);
  const indent = Math.min(...below.map((line) => line.search(/\S/)));
  return below.filter((line) => line.search(/\S/) === indent).map((line) => line.trim().split(/\s{2,}/)[0]!);
}

/** The lines between a heading and the next line that is empty, or not indented. */
function linesBelow(lines: readonly string[], heading: RegExp): readonly string[] {
  const from = lines.findIndex((line) => heading.test(line)) + 1;
  const rest = from === 0 ? [] : lines.slice(from);
  const length = rest.findIndex((line) => !/^\s+\S/.test(line));
  return rest.slice(0, length < 0 ? undefined : length);
}

function escaped(text: string): string {
  return text.replace(/[^\w-]/g, '\\$&');
}

/**
 * Parses a page in the format of `man`: positional arguments, which may be given as flags, and flags, each with an indented
 * description.
 */
function fireHelp(lines: readonly string[]): Read {
  const synopsis = lines[lines.indexOf('SYNOPSIS') + 1] ?? '';
  const operands = fireEntries(lines, 'ARGUMENTS').map(({ head }) => head);
  const positional = fireEntries(lines, 'POSITIONAL ARGUMENTS').map(({ head, told }) =>
    fireOption(head.toLowerCase(), { told, required: true }),
  );
  const flags = fireEntries(lines, 'FLAGS').flatMap(({ head, told }) => {
    const [, name, mark] = /^(?:-\w, )?--([\w.]+)=\S+( \(required\))?$/.exec(head) ?? [];
    return name === undefined ? [] : [fireOption(name, { told, required: mark !== undefined })];
  });
  const isCommand = /\b(GROUP|COMMAND|VALUE)\b/.test(synopsis);
  const commands = isCommand
    ? fireEntries(lines, 'COMMANDS').flatMap(({ told }) => told.filter(isCommandName).map((name) => name.trim()))
    : [];
  return { options: [...positional, ...flags], operands, commands };
}

/** Whether a line is the name of a command; others are descriptions, indented by two more blanks. */
function isCommandName(line: string): boolean {
  return /^ {5}\S+$/.test(line);
}

type FireEntry = { head: string; told: string[] };

/** Entries of a section, each with the lines below it. */
function fireEntries(lines: readonly string[], title: string): FireEntry[] {
  const entries: FireEntry[] = [];
  const from = lines.indexOf(title) + 1;
  if (from === 0) return entries;
  for (const line of lines.slice(from)) {
    if (/^\S/.test(line)) break;
    if (/^ {4}\S/.test(line)) entries.push({ head: line.trim(), told: [] });
    else entries.at(-1)?.told.push(line);
  }
  return entries;
}

function fireOption(name: string, { told, required }: { told: readonly string[]; required: boolean }): HelpOption {
  const said = told.map((line) => line.trim());
  const preset = said.find((line) => line.startsWith('Default: '))?.slice('Default: '.length) ?? '';
  const about = said.filter((line) => !/^(Type|Default): /.test(line)).join(' ');
  return { ...plainOption, name, preset: presetValue(preset), required, about: about.trim() };
}

/** Parses `  --lr: The rate`, with `(default: '0.1')` on a line of its own. */
function abslOptions(lines: readonly string[]): HelpOption[] {
  const options: HelpOption[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const match = /^\s{2,}(?:-\w,)?--(\[no\])?([\w.]+):\s?(.*)$/.exec(lines[index]!);
    if (match === null) continue;
    const about = [match[3]!];
    while (/^\s{4,}\S/.test(lines[index + 1] ?? '') && !/^\s*-/.test(lines[index + 1]!))
      about.push(lines[(index += 1)]!.trim());
    const text = about.join(' ').trim();
    options.push({
      ...plainOption,
      name: match[2]!,
      kind: match[1] === undefined ? (/\(a comma separated list\)/.test(text) ? 'several' : 'value') : 'flag',
      choices: choicesIn(match[3]!),
      preset: presetIn(text),
      about: text
        .replace(/\(default: [^)]*\)|\(an? (number|integer|boolean)\)/g, '')
        .replace(/\s+/g, ' ')
        .trim(),
    });
  }
  return options;
}

/** Parses the groups and the configuration that Hydra prints, into names of overrides. */
function hydraOptions(lines: readonly string[]): HelpOption[] {
  const groups = section(lines, /^== Configuration groups ==/).flatMap((line): HelpOption[] => {
    const [, name, choices] = /^([\w.-]+):\s*(.+)$/.exec(line) ?? [];
    return name === undefined
      ? []
      : [
          option(
            name,
            null,
            choices!.split(',').map((each) => each.trim()),
          ),
        ];
  });
  const config = section(lines, /^== Config ==/).filter((line) => !/^(Override anything|Powered by|Use )/.test(line));
  return [...groups, ...leaves(parsed(config.join('\n')), '')];
}

function option(name: string, preset: string | null, choices: readonly string[] = []): HelpOption {
  return { ...plainOption, name, choices, preset, required: preset === '???' };
}

/** Lines up to the next heading. */
function section(lines: readonly string[], heading: RegExp): readonly string[] {
  const from = lines.findIndex((line) => heading.test(line));
  if (from < 0) return [];
  const length = lines.slice(from + 1).findIndex((line) => /^== |^Powered by/.test(line));
  return lines.slice(from + 1, length < 0 ? undefined : from + 1 + length);
}

function parsed(text: string): unknown {
  try {
    return parse(text, { logLevel: 'silent' });
  } catch {
    // It is no configuration.
    return null;
  }
}

function leaves(value: unknown, name: string): HelpOption[] {
  if (Array.isArray(value)) return [{ ...option(name, null), kind: 'several' }];
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => leaves(inner, name === '' ? key : `${name}.${key}`));
  }
  if (name === '') return [];
  const preset = ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null;
  return [option(name, preset)];
}

/** Parses `  -l, --lr LR   the rate`, with further text on the lines below that are indented more. */
function listedOptions(lines: readonly string[]): HelpOption[] {
  const options: HelpOption[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const head = /^(\s+)(-\S.*)$/.exec(lines[index]!);
    if (head === null) continue;
    const indent = head[1]!.length;
    const [names = '', ...first] = head[2]!.split(/\s{2,}/);
    const about = [...first];
    while (/^\s+[^-\s]/.test(lines[index + 1] ?? '') && indentOf(lines[index + 1]!) > indent) {
      about.push(lines[(index += 1)]!.trim());
    }
    options.push(...optionsOf({ names, takes: null, about: about.join(' ') }));
  }
  return options;
}

function optionsOf(declared: Declared): HelpOption[] {
  return [declaredOption(declared)].filter((option) => option !== null);
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/**
 * Parses the boxed tables of typer and rich-click: columns for a star, the names (perhaps several), the argument, and the
 * description. A cell may continue in the lines below.
 */
function boxedOptions(lines: readonly string[]): HelpOption[] {
  return boxesIn(lines).flatMap((box) => {
    const columns = columnsOf(box);
    const names = columns.filter((cells) => cells.every((cell) => /^(-|$)/.test(cell)));
    if (names.length === 0) return [];
    const isMark = (cells: readonly string[]) => cells.every((cell) => cell === '*' || cell === '');
    const marks = columns.filter(isMark);
    const others = columns.filter((cells) => !names.includes(cells) && !isMark(cells));
    const heads = box.map((_, row) => row).filter((row) => names.some((cells) => cells[row] !== ''));
    return heads.flatMap((from, index) => {
      const to = heads[index + 1] ?? box.length;
      const told = toldOf(others, { from, to });
      const option = optionsOf({ names: names.map((cells) => cells[from]!.replace(/\S*…/, '')).join(' '), ...told });
      return marks.some((cells) => cells[from] === '*') ? option.map((each) => ({ ...each, required: true })) : option;
    });
  });
}

type Rows = { from: number; to: number };

/** The argument precedes the description; a table may have only one of the two. */
function toldOf(columns: readonly (readonly string[])[], rows: Rows): Pick<Declared, 'takes' | 'about'> {
  const [first = [], ...rest] = columns;
  const hasType = columns.length > 1 || columns.some((cells) => cells.every((cell) => cell === '' || isType(cell)));
  const about = (hasType ? rest : columns).map((cells) => cells.slice(rows.from, rows.to).join(' '));
  return { takes: hasType ? joined(first, rows) : '', about: about.join(' ') };
}

function isType(cell: string): boolean {
  return /^([A-Z][A-Z0-9_]*|<[^<>]+>|\[[^\]\s]*\|[^\]]*\])( RANGE)?( \[.*\])?(\.\.\.)?$/.test(cell);
}

/** Joins the lines of a cell; a word that is too long for its column is cut at the column's end. */
function joined(cells: readonly string[], { from, to }: Rows): string {
  const width = Math.max(...cells.map((cell) => cell.length));
  return cells
    .slice(from, to)
    .filter((cell) => cell !== '')
    .reduce((text, cell, row, all) => `${text}${row > 0 && all[row - 1]!.length < width ? ' ' : ''}${cell}`, '')
    .trim();
}

/** The contents of boxes, by lines. */
function boxesIn(lines: readonly string[]): string[][] {
  const boxes: string[][] = [[]];
  for (const line of lines) {
    const inside = /^\s*[│|┃](.*)[│|┃]\s*$/.exec(line)?.[1];
    if (inside !== undefined) boxes.at(-1)!.push(inside);
    else if (boxes.at(-1)!.length > 0) boxes.push([]);
  }
  return boxes.filter((box) => box.length > 0);
}

/** Trimmed cells of each column. Columns are separated by two or more blanks through all lines. */
function columnsOf(box: readonly string[]): string[][] {
  const width = Math.max(...box.map((line) => line.length));
  const isBlank = Array.from({ length: width }, (_, place) => box.every((line) => (line[place] ?? ' ') === ' '));
  const starts = isBlank.flatMap((blank, place) =>
    !blank && (place < 2 || (isBlank[place - 1]! && isBlank[place - 2]!)) ? [place] : [],
  );
  const first = isBlank.indexOf(false);
  const all = first < 0 || starts[0] === first ? starts : [first, ...starts];
  return all.map((start, index) => box.map((line) => line.slice(start, all[index + 1] ?? width).trim()));
}
