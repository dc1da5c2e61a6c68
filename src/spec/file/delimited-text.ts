import type { Place } from './diagnostic.js';

/** A cell with its place in the text. `quoted`: it was in quotes. */
export type Cell = Place & { readonly text: string; readonly quoted: boolean };

/** Why a text is not a table: a quote that is not closed. */
type UnclosedQuote = { readonly unclosed: Place };

/**
 * The cells of a text with delimiters, row by row, as in RFC 4180: a quoted cell may hold delimiters, line ends and doubled quotes.
 * Empty lines are not rows.
 */
export function delimitedRows(text: string, delimiter: string): readonly (readonly Cell[])[] | UnclosedQuote {
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
