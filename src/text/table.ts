import { lineText } from './display-text.js';
import { fit, fitRight, textWidth, truncate } from './display-width.js';
import { fitDistinct } from './distinct-names.js';

/** A column and its cells, one per row. */
export type Column = {
  title: string;
  align: 'left' | 'right';
  cells: readonly string[];
  /** Columns with the highest number are dropped first when the table is too wide. 0: never. */
  spare: number;
  /** Width to which the column may be shortened before any is dropped; absent: its full width. */
  least?: number;
  /** Whether its cells are names, which are shortened so that they still differ. */
  hasNames?: boolean;
};

/** Builds columns from rows: takes a title, and a function from a row to its text. */
export function columnsOf<Row>(rows: readonly Row[]) {
  return (align: Column['align']) =>
    (title: string, text: (row: Row) => string, spare = 0): Column => ({ title, align, cells: rows.map(text), spare });
}

const RULE = '─';
const GAP = '  ';

/** Least width of a shortened column. */
const NARROWEST = 4;

/**
 * The lines of a table: titles, a rule, the rows. Cells may hold text of any origin. No line is wider than `width`: columns are
 * first shortened to their `least` width, then dropped by `spare`, then the widest left-aligned one is shortened, and finally whole
 * lines are cut.
 */
export function tableLines(columns: readonly Column[], width: number): string[] {
  const kept = fitting(columns.map(withoutCodes), width);
  const widths = shrunk(kept, width);
  const line = (cellOf: (column: Column) => string) =>
    truncate(kept.map((column, index) => inColumn(cellOf(column), widths[index]!, column)).join(GAP), width).trimEnd();
  const rule = RULE.repeat(Math.max(0, Math.min(width, total(widths))));
  const count = Math.max(0, ...kept.map(({ cells }) => cells.length));
  const rows = Array.from({ length: count }, (_, row) => line(({ cells }) => cells[row] ?? ''));
  return [line(({ title }) => title), rule, ...rows];
}

function inColumn(text: string, width: number, { align, hasNames, cells }: Column): string {
  if (hasNames === true) return fitDistinct(text, width, cells);
  return align === 'left' ? fit(text, width) : fitRight(text, width);
}

/** Removes what a terminal does not draw, before widths are measured. */
function withoutCodes({ title, cells, ...column }: Column): Column {
  return { ...column, title: lineText(title), cells: cells.map(lineText) };
}

function fitting(columns: readonly Column[], width: number): Column[] {
  const kept = [...columns];
  while (kept.length > 1 && total(kept.map(leastWidth)) > width) {
    const most = Math.max(...kept.map(({ spare }) => spare));
    if (most === 0) break;
    kept.splice(
      kept.findLastIndex(({ spare }) => spare === most),
      1,
    );
  }
  return kept;
}

function shrunk(columns: readonly Column[], width: number): number[] {
  const widths = columns.map(naturalWidth);
  columns.forEach((column, index) => {
    const over = Math.max(0, total(widths) - width);
    widths[index] = Math.max(leastWidth(column), widths[index]! - over);
  });
  const excess = total(widths) - width;
  const widest = widths.reduce((best, each, index) => {
    if (columns[index]!.align !== 'left') return best;
    return best < 0 || each > widths[best]! ? index : best;
  }, -1);
  if (excess > 0 && widest >= 0) widths[widest] = Math.max(NARROWEST, widths[widest]! - excess);
  return widths;
}

function naturalWidth({ title, cells }: Column): number {
  return Math.max(textWidth(title), ...cells.map(textWidth));
}

function leastWidth(column: Column): number {
  return Math.min(naturalWidth(column), column.least ?? Infinity);
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, 0) + Math.max(0, widths.length - 1) * GAP.length;
}

export type CsvValue = string | number | boolean | null | undefined;

/**
 * One line of a CSV file (RFC 4180), without its end. A missing value is an empty field and an empty text is `""`, so that they can
 * be told apart. Infinities are `inf` and `-inf`, as in numpy and pandas. No library is used, as setting one up for this takes as
 * many lines.
 */
export function csvLine(values: readonly CsvValue[]): string {
  return values.map(csvField).join(',');
}

function csvField(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  const text = value === Infinity ? 'inf' : value === -Infinity ? '-inf' : String(value);
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
