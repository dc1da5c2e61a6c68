import { basename, join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { counterNamed, stepKeyOf } from '../row-numbers.js';
import { ofVersions } from './event-tags.js';
import { isNot, type MetricFormat, type Recognition, type WrittenRow } from './format.js';
import { lineFormat, type LineParser } from './line-format.js';

/**
 * Tables with a row of names first, as stable-baselines3, Lightning and many programs write. An empty cell is missing. A later row of
 * names begins a new set of them, with a later attempt. Cells that a row lacks at its end are missing; a row with more cells than
 * names, such as one with decimal commas between commas, is left out, and counted.
 */
export const csv: MetricFormat = {
  ...lineFormat({
    name: 'CSV',
    looksFor: '*.csv, *.log, *.txt with a row of names, a column of steps and numbers',
    isNamed,
    recognise: ({ name, path, head }) => {
      const found = isNamed(name) ? recogniseTable(name, head()) : recogniseRows(head());
      const source = ofVersions(path);
      return found.is === 'yes' && source !== undefined ? { ...found, source: join(source, name) } : found;
    },
    parser: () => tableParser(),
    isRewritten: true,
  }),
  // Keras' CSVLogger is told a name such as `training.log`.
  looksInto: (name) => /\.(log|txt)$/i.test(name) && name !== runFiles.log,
};

function isNamed(name: string): boolean {
  return /\.(csv|tsv)$/i.test(name);
}

const ofMetrics = /metric|progress|history|scalars|^log\./i;

function recogniseTable(name: string, lines: readonly string[] | null): Recognition {
  if (lines === null) return { is: 'maybe', why: 'it has no whole line yet' };
  const parse = tableParser();
  const rows = lines.map(parse).filter((row) => row !== null && row !== 'attempt');
  const numbers = new Map(rows.flatMap((row) => Object.entries(row).filter(([, value]) => typeof value === 'number')));
  const step = stepKeyOf(numbers.keys(), (key) => numbers.get(key));
  if (step !== null && numbers.size > 1) return { is: 'yes', why: `it has columns of numbers and \`${step.key}\`` };
  if (ofMetrics.test(name) && numbers.size > 0) return { is: 'yes', why: 'its name, and columns of numbers' };
  if (rows.length < 2) return { is: 'maybe', why: 'it has no row with a step and a number yet' };
  return { is: 'no', why: 'it has no column of steps beside others of numbers' };
}

/** Recognises a table by its content alone: a row of names with a counter among them, and as many numbers in each of the next rows. */
function recogniseRows(lines: readonly string[] | null): Recognition {
  const names = lines === null || lines[0] === undefined ? [] : namesIn(lines[0]);
  const counter = names.find((name) => counterNamed(name) !== null);
  if (names.length < 2 || counter === undefined || !names.every((name) => isName.test(name))) return isNot;
  const rows = lines!.slice(1, 1 + LOOK).map(namesIn);
  if (rows.length === 0) return { is: 'maybe', why: '' };
  const isRow = (cells: readonly string[]) =>
    cells.length === names.length && cells.every((cell) => isNumber.test(cell));
  return rows.every(isRow) ? { is: 'yes', why: `it has columns of numbers and \`${counter}\`` } : isNot;
}

/** Number of rows that are looked at. */
const LOOK = 20;
/** A cell of a row of numbers, or one that has none. */
const isNumber = /^([-+]?[\d.]+(e[-+]?\d+)?|[-+]?inf|nan|na|none|)$/i;

function namesIn(line: string): string[] {
  return cellsOf(line, separatorOf(line)).map((cell) => cell.trim());
}

/** @param rename The name of a column's metric; null: the column is left out. */
export function tableParser(rename: (column: string) => string | null = (column) => column): LineParser {
  let columns: Columns | null = null;
  let separator = ',';
  let tooLong = 0;
  let unnamed = 0;
  let nameless: readonly number[] = [];
  const name = (cells: readonly string[]): void => {
    columns = columnsOf(cells, rename);
    // A first column without a name is the index of pandas.
    nameless = columns.flatMap((column, at) => (at > 0 && column.name === '' ? [at] : []));
  };
  const begin = (text: string): null => {
    if (text === '' || text.startsWith('#')) return null;
    separator = separatorOf(text);
    name(cellsOf(text.replace(/^\uFEFF/, ''), separator));
    return null;
  };
  const parse: LineParser = (line) => {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (columns === null) return begin(text);
    if (text === '') return null;
    const cells = cellsOf(text, separator);
    if (isRowOfNames(columns, cells)) {
      name(cells);
      return 'attempt';
    }
    const row = rowOf(columns, cells, separator);
    if (row === null) tooLong += 1;
    else for (const at of nameless) unnamed += Number((cells[at] ?? '').trim() !== '');
    return row;
  };
  parse.leftOut = () => {
    const rows = leftOutWords(tooLong, ['row has more cells than names', 'rows have more cells than names']);
    const cells = leftOutWords(unnamed, ['cell has no name', 'cells have no name']);
    return [rows, cells].filter((words) => words !== null).join('; ') || null;
  };
  return parse;
}

function leftOutWords(count: number, [one, several]: readonly [string, string]): string | null {
  if (count === 0) return null;
  return count === 1 ? `1 ${one} and is left out` : `${count} ${several} and are left out`;
}

/** `name`: as written; `key`: that of the metric; null: the column is left out. */
type Columns = readonly { readonly name: string; readonly key: string | null }[];

function columnsOf(cells: readonly string[], rename: (column: string) => string | null): Columns {
  return cells.map((cell) => {
    const name = cell.trim();
    return { name, key: name === '' ? null : rename(name) };
  });
}

/** Whether a row has names and no values: one of them is that of a column, or of a counter. */
function isRowOfNames(columns: Columns, cells: readonly string[]): boolean {
  // Nearly all rows begin with a number.
  if (/^\s*[-+.]?\d/.test(cells[0]!)) return false;
  const names = cells.map((cell) => cell.trim()).filter((name) => name !== '');
  if (names.length === 0 || !names.every((name) => isName.test(name) && typeof valueOf(name) === 'string'))
    return false;
  return names.some((name) => counterNamed(name) !== null || columns.some((column) => column.name === name));
}

const isName = /^[A-Za-z_#%]/;

/** Null: the row has more cells than names, so that they may be shifted. */
function rowOf(columns: Columns, cells: string[], separator: string): WrittenRow | null {
  while (cells.length > columns.length && cells.at(-1)!.trim() === '') cells.pop();
  if (cells.length > columns.length) return null;
  const row: Record<string, unknown> = {};
  for (let place = 0; place < cells.length; place++) {
    const { key } = columns[place]!;
    const cell = cells[place]!;
    if (key !== null && cell !== '')
      row[key] = cell.includes(',') ? valueOf(withPoint(cell, separator)) : valueOf(cell);
  }
  return row;
}

/** A number with a decimal comma, or with commas between thousands, as other programs write it. */
function withPoint(cell: string, separator: string): string {
  const text = cell.trim();
  if (separator === ',' && /^[-+]?\d{1,3}(,\d{3})+(\.\d*)?$/.test(text)) return text.replaceAll(',', '');
  return /^[-+]?\d*,\d+(e[-+]?\d+)?$/i.test(text) ? text.replace(',', '.') : text;
}

const words: Readonly<Record<string, unknown>> = {
  ...{ nan: NaN, none: null, null: null, true: true, false: false },
  ...{ inf: Infinity, '+inf': Infinity, infinity: Infinity, '-inf': -Infinity, '-infinity': -Infinity },
};

/** A cell's value: a number if it is one, else the text. Python and numpy write `nan`, `inf`, `None` and `True`. */
export function valueOf(cell: string): unknown {
  const text = cell.trim();
  if (beginsNumber(text)) {
    const number = Number(text);
    return Number.isNaN(number) || otherBase.test(text) ? text : number;
  }
  const word = text.toLowerCase();
  return Object.hasOwn(words, word) ? words[word] : text;
}

const otherBase = /^0[xob]/i;
const [ZERO, NINE] = [0x30, 0x39];

/** Whether a text begins as numbers do. Most cells are numbers, and a pattern takes several times as long. */
function beginsNumber(text: string): boolean {
  const first = text.charCodeAt(0);
  const isSign = first === 0x2b || first === 0x2d || first === 0x2e;
  const digit = isSign ? text.charCodeAt(1) : first;
  return digit >= ZERO && digit <= NINE;
}

function separatorOf(header: string): string {
  const counted = [',', ';', '\t'].map((each) => ({ each, count: header.split(each).length }));
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).each;
}

/** The cells of a line; quoted ones may contain separators and doubled quotes. */
function cellsOf(line: string, separator: string): string[] {
  if (!line.includes('"')) return line.split(separator);
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    const sign = line[at]!;
    if (sign === '"' && isQuoted && line[at + 1] === '"') cell += line[++at]!;
    else if (sign === '"') isQuoted = !isQuoted;
    else if (sign === separator && !isQuoted) {
      cells.push(cell);
      cell = '';
    } else cell += sign;
  }
  return [...cells, cell];
}

/** `epoch,step,value` on each line, without a row of names: d3rlpy writes a file for each metric, named after it. */
export const d3rlpyCsv = lineFormat({
  name: 'd3rlpy',
  looksFor: '*.csv of d3rlpy: epoch, step and value on each line',
  isNamed: (name) => name.endsWith('.csv') && name !== '.csv',
  recognise: ({ head }) => {
    const lines = head();
    const isOne = lines !== null && lines.length > 0 && lines.every((line) => triple.test(line));
    return isOne ? { is: 'yes', why: 'it has an epoch, a step and a value on each line, and no names' } : isNot;
  },
  parser: (path) => tripleParser(basename(path, '.csv')),
});

const triple = /^(\d+),(\d+),([-+]?(?:[\d.]+(?:e[-+]?\d+)?|nan|inf))$/;

function tripleParser(metric: string): LineParser {
  return (line) => {
    const [, epoch, step, value] = triple.exec(line) ?? [];
    return step === undefined ? null : { step: Number(step), epoch: Number(epoch), [metric]: valueOf(value!) };
  };
}

/** The episodes of one environment of stable-baselines3: `r,l,t` of each, after a comment line of JSON. */
export const monitorCsv = lineFormat({
  name: 'stable-baselines3 monitor',
  looksFor: '*monitor.csv',
  filing: 'points',
  isNamed: (name) => /(^|\.)monitor\.csv$/.test(name),
  recognise: () => ({ is: 'yes', why: 'its name' }),
  parser: (path) => monitorParser(path),
});

const names: Readonly<Record<string, string>> = { r: 'episode_reward', l: 'episode_length', t: 'episode_time' };

/** Parses episodes; the step is the sum of their lengths. */
function monitorParser(path: string): LineParser {
  const worker = /([^/]+)\.monitor\.csv$/.exec(path)?.[1];
  const prefix = worker === undefined ? 'monitor/' : `monitor/${worker}/`;
  const parse = tableParser((column) => prefix + (names[column] ?? column));
  let steps = 0;
  return (line) => {
    const row = parse(line);
    if (row === null || row === 'attempt') return row;
    const length = row[`${prefix}episode_length`];
    steps += typeof length === 'number' ? length : 0;
    return { step: steps, ...row };
  };
}
