import { stepKeyOf } from '../row-numbers.js';
import type { Recognition, WrittenRow } from './format.js';
import { lineFormat, type LineParser } from './line-format.js';

/**
 * Tables with a row of names first, as stable-baselines3, Lightning and many programs write. An empty cell is missing. A row with
 * more or fewer cells than there are names is incomplete, or half rewritten, and is skipped.
 */
export const csv = lineFormat({
  name: 'CSV',
  looksFor: '*.csv with a row of names, a column of steps and numbers',
  isNamed: (name) => /\.(csv|tsv)$/i.test(name),
  recognise: ({ name, head }) => recogniseTable(name, head()),
  parser: () => tableParser(),
  isRewritten: true,
});

const ofMetrics = /metric|progress|history|scalars|^log\./i;

function recogniseTable(name: string, lines: readonly string[] | null): Recognition {
  if (lines === null) return { is: 'maybe', why: 'it has no whole line yet' };
  const parse = tableParser();
  const rows = lines.map(parse).filter((row) => row !== null);
  const numbers = [...new Set(rows.flatMap((row) => Object.keys(row).filter((key) => typeof row[key] === 'number')))];
  const step = stepKeyOf(numbers);
  if (step !== null && numbers.length > 1) return { is: 'yes', why: `it has columns of numbers and \`${step.key}\`` };
  if (ofMetrics.test(name) && numbers.length > 0) return { is: 'yes', why: 'its name, and columns of numbers' };
  if (rows.length < 2) return { is: 'maybe', why: 'it has no row with a step and a number yet' };
  return { is: 'no', why: 'it has no column of steps beside others of numbers' };
}

/** @param rename The name of a column's metric; null: the column is left out. */
export function tableParser(rename: (column: string) => string | null = (column) => column): LineParser {
  let columns: (string | null)[] | null = null;
  let separator = ',';
  return (line) => {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (text === '' || (columns === null && text.startsWith('#'))) return null;
    if (columns !== null) return rowOf(columns, cellsOf(text, separator));
    separator = separatorOf(text);
    columns = cellsOf(text.replace(/^\uFEFF/, ''), separator).map((name) => (name === '' ? null : rename(name.trim())));
    return null;
  };
}

function rowOf(columns: readonly (string | null)[], cells: readonly string[]): WrittenRow | null {
  if (cells.length !== columns.length) return null;
  const row: Record<string, unknown> = {};
  for (const [place, column] of columns.entries()) {
    const cell = cells[place]!;
    if (column !== null && cell !== '') row[column] = valueOf(cell);
  }
  return row;
}

const words: Readonly<Record<string, unknown>> = {
  ...{ nan: NaN, none: null, null: null, true: true, false: false },
  ...{ inf: Infinity, '+inf': Infinity, infinity: Infinity, '-inf': -Infinity, '-infinity': -Infinity },
};

/** A cell's value: a number if it is one, else the text. Python and numpy write `nan`, `inf`, `None` and `True`. */
export function valueOf(cell: string): unknown {
  const text = cell.trim();
  if (/^[-+.]?\d/.test(text)) {
    const number = Number(text);
    return Number.isNaN(number) || /^[-+]?0[xob]/i.test(text) ? text : number;
  }
  const word = text.toLowerCase();
  return Object.hasOwn(words, word) ? words[word] : text;
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
