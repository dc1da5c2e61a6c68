import { wilson95 } from '../proportion.js';
import { centreOf, NORMAL95 } from '../../../analysis/seed-statistics.js';
import { UserError } from '../../../base/user-error.js';
import type { Quantity } from './measures.js';

/** Address of a number in a table of the pages, so that the number itself is written in one place. */
export type Cell = {
  readonly page: string;
  /** Text of the page that precedes the table. */
  readonly after: string;
  /** Texts that identify the row, by column; empty selects all rows, and the mean over their seeds. */
  readonly row: Readonly<Record<string, string>>;
  readonly column: string;
  /** Set when the ± is a standard error, not half an interval. */
  readonly isStandardError?: true;
  /** Divisor: the number is this cell's divided by that one's. */
  readonly over?: Cell;
  /** Number of runs, where the table has no column for it. */
  readonly n?: number;
};

/** @throws UserError when the page has no such table, row or column. @param read The text of a page. */
export function readPublished(cell: Cell, read: (page: string) => string): Quantity {
  const { page, after, row, column } = cell;
  const text = read(page);
  const start = text.indexOf(after);
  const tables = start < 0 ? [] : tablesIn(text.slice(start));
  const rows = tables.map((table) =>
    table.filter((each) => column in each && Object.entries(row).every(([name, value]) => each[name] === value)),
  );
  const found = rows.find((each) => each.length > 0);
  if (found === undefined)
    throw new UserError(
      `${page} has no table after “${after}” with ${JSON.stringify(row)} and ${column}.`,
      'Correct the place of the figure in src/lab/study/claims, or the table.',
    );
  if (Object.keys(row).length === 0) return meanOf(found.flatMap((each) => numbersIn(each[column]!)));
  const quantity = quantityIn(found[0]!, cell);
  if (cell.over !== undefined)
    return { ...quantity, value: quantity.value / readPublished(cell.over, read).value, interval: null };
  return quantity;
}

type Row = Readonly<Record<string, string>>;

const UNDERLINE = /^(─+|\|( ---+ \|)+)$/;

/** Tables of a page: those that a report prints, and those of Markdown, in which an empty cell repeats the one above. */
function tablesIn(text: string): Row[][] {
  const tables: Row[][] = [];
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    if (!UNDERLINE.test(line) || index === 0) continue;
    const after = lines.slice(index + 1);
    const end = after.findIndex((each) => each.trim() === '' || each.startsWith('```'));
    const body = end < 0 ? after : after.slice(0, end);
    tables.push(line.startsWith('|') ? markdownRows(lines[index - 1]!, body) : printedRows(lines[index - 1]!, body));
  }
  return tables;
}

function markdownRows(head: string, body: readonly string[]): Row[] {
  const cellsIn = (line: string) => line.slice(1, -1).split('|').map((cell) => cell.trim()); // prettier-ignore
  const heads = cellsIn(head);
  const rows: Row[] = [];
  for (const line of body) {
    const cells = cellsIn(line);
    const above = rows.at(-1);
    rows.push(rowOf(heads.map((name, index) => [name, cells[index] || (above?.[name] ?? '')])));
  }
  return rows;
}

/** A cell stands above or below its head; between two cells there are two spaces at least. */
function printedRows(head: string, body: readonly string[]): Row[] {
  const heads = wordsIn(head);
  return body.map((line) => {
    const cells = wordsIn(line);
    const below = (title: Word) => cells.find(({ start, end }) => start < title.end && end > title.start);
    return rowOf(heads.map((title) => [title.text, below(title)?.text ?? '']));
  });
}

type Word = { readonly text: string; readonly start: number; readonly end: number };

function wordsIn(line: string): Word[] {
  return [...line.matchAll(/\S+( \S+)*/g)].map(({ 0: text, index }) => ({
    text,
    start: index,
    end: index + text.length,
  }));
}

/** A row by the names of its columns; of two columns of one name it has the first. */
function rowOf(cells: readonly (readonly [string, string])[]): Row {
  return Object.fromEntries(cells.toReversed());
}

const NUMBER = String.raw`-?(?:\d[\d,]*\.?\d*|\.\d+)(?:e-?\d+)?|∞`;

function numbersIn(cell: string): number[] {
  const plain = cell.replaceAll('−', '-').replaceAll('*', '');
  return [...plain.matchAll(new RegExp(NUMBER, 'g'))].map(([word]) =>
    word === '∞' ? Infinity : Number(word.replaceAll(',', '')),
  );
}

/** `×1.4 [0.8, 2.1] n=30`, `29/30 [83–99 %]`, `8 of 8`, `27.7 ± 6.0`, `0.77 (0.15 … 0.96)`, `.98 .98 .98`, `0.9973`. */
function quantityIn(row: Row, cell: Cell): Quantity {
  const text = row[cell.column]!;
  const [first, second, third] = numbersIn(text) as [number, number, number];
  const n = countIn(text, row, cell);
  if (/^\**\d+(\/| of )\d+/.test(text)) return { value: first / second, interval: wilson95(first, second), n: second };
  if (text.includes('±')) {
    const half = second * (cell.isStandardError === true ? NORMAL95 : 1);
    return { value: first, interval: [first - half, first + half], n };
  }
  if (/[[(]/.test(text)) return { value: first, interval: [second, third], n };
  return second === undefined ? { value: first, interval: null, n } : meanOf(numbersIn(text));
}

function countIn(text: string, row: Row, { n }: Cell): number | null {
  const runs = /n=(\d+)/.exec(text)?.[1] ?? row['runs'] ?? n;
  return runs === undefined ? null : Number(runs);
}

/** The mean over seeds, with 95 % by Student’s t. */
function meanOf(values: readonly number[]): Quantity {
  const { middle, low, high } = centreOf(values, 'band');
  return { value: middle, interval: [low, high], n: values.length };
}
