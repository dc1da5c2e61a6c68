import { stringify } from 'yaml';
import { groupBy } from '../../base/group-by.js';
import { UserError } from '../../base/user-error.js';
import { commentText } from '../../text/display-text.js';
import { macroNames } from '../expand/command-words.js';
import { type CommandLine, readCommandList } from './command-list.js';
import { diagnosticsError, type LocatedDiagnostic, type Place } from './diagnostic.js';
import { parameterName } from './parameter-schema.js';

/** A row of a table: its values by column, without missing ones. `place`: its first line. */
type Row = {
  readonly values: ReadonlyMap<string, unknown>;
  readonly place: Place;
  readonly places: ReadonlyMap<string, Place>;
};

/** The column that holds commands. */
const commandColumn = 'command';

/** Whether a file is a table by its name; a JSON file is one if it holds a list. */
export function isTable(path: string, text: string): boolean {
  return /\.(csv|tsv|jsonl|ndjson)$/i.test(path) || (/\.json$/i.test(path) && /^\s*\[/.test(text));
}

/**
 * The sweep file that a table stands for: a row is a point, a column a parameter, an empty cell one that is not passed. The command
 * is given behind `--`, or in a column `command`; rows with the same command are a group.
 *
 * @param command Empty: none was given. Parameters are appended, unless it has macros for them.
 * @throws {UserError} With all mistakes in the table, each with its line.
 */
export function tableSweepText(text: string, path: string, command: readonly string[]): string {
  const rows = readRows(text, path);
  const hasCommands = rows.some(({ values }) => values.has(commandColumn));
  if (rows.length === 0) throw new UserError(`${path} has no rows.`, 'Write a row of names, and one for each run.');
  if (hasCommands && command.length > 0) {
    throw new UserError(
      `${path} has a column \`${commandColumn}\`, and a command stands behind \`--\`, too.`,
      'Leave out one of the two.',
    );
  }
  const body = hasCommands ? commandBody(rows, { text, path }) : [...bodyOf(withArguments(command, rows, path), rows)];
  return [`# From the table ${commentText(path)}`, ...body, ''].join('\n');
}

/** Appends the parameters to a command, unless it has macros for them. */
function withArguments(command: readonly string[], rows: readonly Row[], path: string): string[] {
  if (command.length === 0) {
    throw new UserError(
      `${path} is a table of parameters, and nothing says what is run with them.`,
      `Put the command behind \`--\`: \`memrl-tui ${path} -- python train.py\`, or into a column \`${commandColumn}\`.`,
    );
  }
  const names = [...columnsOf(rows), ...macroNames.filter((name) => name.startsWith('args'))];
  const isPlaced = command.some((word) => names.some((name) => word.includes(`\${${name}}`)));
  return isPlaced ? [...command] : [...command, '${args}'];
}

function columnsOf(rows: readonly Row[]): Set<string> {
  return new Set(rows.flatMap(({ values }) => [...values.keys()]));
}

function bodyOf(command: readonly string[], rows: readonly Row[], indent = ''): string[] {
  const cases = rows.map(({ values }) => `${indent}  - ${flow(Object.fromEntries([...values].map(asParameter)))}`);
  return [`${indent}command: ${flow(command)}`, `${indent}cases:`, ...cases];
}

/** A list or a map in a table is a single value, not an axis. */
function asParameter([name, value]: readonly [string, unknown]): [string, unknown] {
  return [name, typeof value === 'object' && value !== null ? { value } : value];
}

function flow(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 }).trimEnd();
}

type Source = { text: string; path: string };

/** The groups: rows with the same command, named after its program. */
function commandBody(rows: readonly Row[], { text, path }: Source): string[] {
  const diagnostics: LocatedDiagnostic[] = [];
  const groups = [...groupBy(rows, ({ values }) => values.get(commandColumn))].map(([cell, members]) => {
    const [first] = members;
    const read = typeof cell === 'string' ? readCommandList(cell) : { lines: [], diagnostics: [] };
    const [line] = read.lines;
    const place = first!.places.get(commandColumn) ?? first!.place;
    const [diagnostic] = read.diagnostics;
    if (diagnostic !== undefined) diagnostics.push({ ...diagnostic, place });
    else if (line === undefined || read.lines.length > 1) {
      diagnostics.push({
        place,
        keys: [],
        problem: 'this row has no command, or several.',
        fix: 'Write one command in its cell.',
      });
    }
    return { line, members };
  });
  if (diagnostics.length > 0) throw diagnosticsError(path, text, diagnostics);
  const taken = new Set<string>();
  return ['groups:', ...groups.flatMap(({ line, members }) => groupLines(line!, members, taken))];
}

function groupLines(line: CommandLine, members: readonly Row[], taken: Set<string>): string[] {
  const name = freshName(line, taken);
  const rows = members.map(({ values, ...rest }) => {
    return { ...rest, values: new Map([...values].filter(([column]) => column !== commandColumn)) };
  });
  const env = Object.keys(line.env).length === 0 ? [] : [`    env: ${flow(line.env)}`];
  const hasValues = rows.some(({ values }) => values.size > 0);
  const body = hasValues ? bodyOf(line.argv, rows, '    ') : [`    command: ${flow(line.argv)}`];
  return [`  ${flow(name)}:`, ...env, ...body];
}

/** The name of the script if there is one, else of the program; numbered where another group has that name. */
function freshName({ argv }: CommandLine, taken: Set<string>): string {
  const word = argv.find((each, index) => index > 0 && /\.\w+$/.test(each) && !each.startsWith('-')) ?? argv[0];
  const stem = word.replace(/^.*\//, '').replace(/(?<=.)\.\w+$/, '');
  const safe =
    stem
      .replace(/[^A-Za-z0-9._=+,@-]+/g, '-')
      .replace(/^[^A-Za-z0-9_]+/, '')
      .slice(0, 60) || 'group';
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? safe : `${safe}-${number}`;
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}

function readRows(text: string, path: string): Row[] {
  const diagnostics: LocatedDiagnostic[] = [];
  const complain = (place: Place, problem: string, fix: string) => diagnostics.push({ place, keys: [], problem, fix });
  const rows = /\.(csv|tsv)$/i.test(path)
    ? delimited(text, /\.tsv$/i.test(path) ? '\t' : delimiterOf(text), complain)
    : objects(text, /\.json$/i.test(path), complain);
  if (diagnostics.length > 0) throw diagnosticsError(path, text, diagnostics);
  return rows;
}

type Complain = (place: Place, problem: string, fix: string) => unknown;

/** The delimiter of a CSV file; spreadsheet programs write `;` in some locales. */
function delimiterOf(text: string): string {
  const [head = ''] = text.split('\n', 1);
  return !head.includes(',') && head.includes(';') ? ';' : ',';
}

function delimited(text: string, delimiter: string, complain: Complain): Row[] {
  const read = delimitedRows(text, delimiter);
  if ('unclosed' in read) {
    complain(read.unclosed, 'this quote is not closed.', 'Add the closing quote.');
    return [];
  }
  const [head = [], ...rows] = read;
  const names = checkedNames(head, complain);
  return rows.map((cells) => {
    const [first] = cells;
    if (cells.length !== names.length) {
      complain(
        first!,
        `this row has ${cells.length} cells, and the head ${names.length}.`,
        'Write an empty cell for each parameter that is not passed.',
      );
    }
    const given = cells.slice(0, names.length).map((cell, index) => [names[index]!, cell] as const);
    const there = given.filter(([, cell]) => cell.text !== '' || cell.quoted);
    return {
      values: new Map(there.map(([name, cell]) => [name, name === commandColumn ? cell.text : valueOf(cell)])),
      places: new Map(there),
      place: first!,
    };
  });
}

function checkedNames(head: readonly Cell[], complain: Complain): string[] {
  const seen = new Set<string>();
  for (const cell of head) {
    const read = parameterName.safeParse(cell.text);
    const unnamed = 'A column of row numbers is left out with `df.to_csv(…, index=False)`; name any other.';
    if (cell.text === '') complain(cell, 'this column has no name.', unnamed);
    else if (!read.success) {
      const expected = read.error.issues[0]?.message ?? 'another name';
      complain(cell, `\`${cell.text}\` cannot be the name of a parameter.`, `Rename it: ${expected}.`);
    } else if (seen.has(cell.text))
      complain(cell, `\`${cell.text}\` is there twice.`, 'Rename or remove one of the two.');
    seen.add(cell.text);
  }
  return head.map(({ text }) => text);
}

/** Numbers and booleans are read as in YAML; `007` and whole numbers that would change stay texts. */
function valueOf({ text }: Cell): unknown {
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (!/^[-+]?(0|[1-9]\d*|\d*\.\d+|\d+\.)([eE][-+]?\d+)?$/.test(text)) return text;
  const value = Number(text);
  const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
  return isExact ? value : text;
}

/** Reads JSON lines, one object each, or a list of objects. */
function objects(text: string, isList: boolean, complain: Complain): Row[] {
  if (!isList) return lineObjects(text, complain);
  const all = { start: 0, end: 1 };
  const list = parsed(text);
  if (!Array.isArray(list)) complain(all, 'this is not a list in JSON.', 'Write `[{"lr": 0.1}, {"lr": 0.2}]`.');
  return (Array.isArray(list) ? list : []).flatMap((item, index) =>
    rowOf(item, { place: all, number: index + 1 }, complain),
  );
}

function lineObjects(text: string, complain: Complain): Row[] {
  let start = 0;
  return text.split('\n').flatMap((line, index) => {
    const place = { start, end: start + Math.max(1, line.trimEnd().length) };
    start += line.length + 1;
    return line.trim() === '' ? [] : rowOf(parsed(line), { place, number: index + 1 }, complain);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // JSON has no undefined.
    return undefined;
  }
}

function rowOf(item: unknown, { place, number }: { place: Place; number: number }, complain: Complain): Row[] {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    complain(place, `row ${number} is no object in JSON.`, 'Write `{"lr": 0.1, "seed": 0}` for each run.');
    return [];
  }
  const values = new Map(Object.entries(item));
  for (const [name, value] of values) {
    if (!parameterName.safeParse(name).success) {
      complain(
        place,
        `${JSON.stringify(name)} cannot be the name of a parameter.`,
        'Rename it: letters, digits and _ . -',
      );
    } else if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      complain(place, `\`${name}\` is a whole number too large to be kept exactly.`, 'Put it in quotes.');
    }
  }
  return [{ values, places: new Map(), place }];
}

/** A cell with its place in the text. `quoted`: it was in quotes. */
type Cell = Place & { readonly text: string; readonly quoted: boolean };

/** Why a text is not a table: a quote that is not closed. */
type UnclosedQuote = { readonly unclosed: Place };

/**
 * The cells of a text with delimiters, row by row, as in RFC 4180: a quoted cell may hold delimiters, line ends and doubled quotes.
 * Empty lines are not rows.
 */
function delimitedRows(text: string, delimiter: string): readonly (readonly Cell[])[] | UnclosedQuote {
  const rows: Cell[][] = [];
  // A byte order mark is not part of the first cell.
  let at = text.startsWith('\ufeff') ? 1 : 0;
  while (at < text.length) {
    const row = rowAt(text, at, delimiter);
    if (row === null) return { unclosed: { start: at, end: at + 1 } };
    const isEmpty = row.length === 1 && row[0]!.text === '' && !row[0]!.quoted;
    if (!isEmpty) rows.push(row);
    at = behindLineEnd(text, row.at(-1)!.end);
  }
  return rows;
}

/** The cells of the row at `start`; null: a quote is not closed. */
function rowAt(text: string, start: number, delimiter: string): Cell[] | null {
  const row: Cell[] = [];
  for (let at = start; ; at += 1) {
    const cell = text[at] === '"' ? quotedCell(text, at, delimiter) : plainCell(text, at, delimiter);
    if (cell === null) return null;
    row.push(cell);
    at = cell.end;
    if (text[at] !== delimiter) return row;
  }
}

/** Reads a quoted cell. Text between the closing quote and the next delimiter is skipped. */
function quotedCell(text: string, start: number, delimiter: string): Cell | null {
  let value = '';
  for (let at = start + 1; ;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return null;
    value += text.slice(at, quote);
    if (text[quote + 1] !== '"') return { text: value, quoted: true, start, end: cellEnd(text, quote + 1, delimiter) };
    value += '"';
    at = quote + 2;
  }
}

function plainCell(text: string, start: number, delimiter: string): Cell {
  const end = cellEnd(text, start, delimiter);
  return { text: text.slice(start, end).trim(), quoted: false, start, end };
}

/** Index of the next delimiter or line end, or the end of the text. */
function cellEnd(text: string, from: number, delimiter: string): number {
  let at = from;
  while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at += 1;
  return at;
}

function behindLineEnd(text: string, at: number): number {
  return text[at] === '\r' && text[at + 1] === '\n' ? at + 2 : at + 1;
}
