import type { StudyCell, StudyColumn, StudyCurve, StudyFigure, StudyTable } from '../../contract/study.js';
import { NOTHING } from '../../text/numbers.js';
import { type Column, tableLines } from '../../text/table.js';

/** A column of a table of a study, with its cells. */
export type TableColumn = { readonly head: StudyColumn; readonly cells: readonly StudyCell[] };

/** A number and its text. An infinite number has only its text, as JSON has no infinity. */
export type Written = {
  readonly value: number | null;
  readonly text: string;
  readonly interval?: readonly [number, number];
};

/** Builds columns from rows: takes a title, a function from a row to a cell, and when the column is dropped. */
export function columnsOf<Row>(rows: readonly Row[]) {
  return (align: 'left' | 'right') =>
    (title: string, cellOf: (row: Row) => string | Written, spare = 0): TableColumn => {
      return { head: { title, unit: null, align, spare }, cells: rows.map((row) => cell(cellOf(row))) };
    };
}

function cell(written: string | Written): StudyCell {
  if (typeof written === 'string') return written;
  const { value, text, interval = null } = written;
  const ends = interval && ([finite(interval[0]), finite(interval[1])] as [number | null, number | null]);
  return { value: finite(value), interval: ends, n: null, text };
}

function finite(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}

/** Text of a cell of `columnsOf`. */
function textOf(written: StudyCell): string {
  return typeof written === 'object' ? (written?.text ?? '') : String(written);
}

/** The column, unless every row has the same placeholder: a dash, or an empty cell. */
export function unlessAll(candidate: TableColumn, text: string): TableColumn[] {
  return candidate.cells.every((each) => textOf(each) === text) ? [] : [candidate];
}

/** Makes a column without any value the first to be dropped if the table is too wide. */
export function sparedIfNothing(candidate: TableColumn): TableColumn {
  return unlessAll(candidate, NOTHING).length > 0 ? candidate : { ...candidate, head: { ...candidate.head, spare: 3 } };
}

export function tableOf(
  title: string | null,
  columns: readonly TableColumn[],
  notes: readonly string[] = [],
): StudyTable {
  const rows = (columns[0]?.cells ?? []).map((_, row) => ({
    cells: columns.map(({ cells }) => cells[row]!),
    best: false,
  }));
  return { title, columns: columns.map(({ head }) => head), rows, notes };
}

/** A table as lines of text, with its notes. */
export function tableText({ title, columns, rows, notes }: StudyTable, width: number): string[] {
  const shown = columns.map(({ title: head, align, spare }, at): Column => ({
    ...{ title: head, align: align ?? 'left', spare: spare ?? at, cells: rows.map(({ cells }) => textOf(cells[at]!)) },
  }));
  return [...(title === null ? [] : [title]), ...tableLines(shown, width), ...notes, ''];
}

/** The interval of a share: `[83–99 %]`. */
export function percents([low, high]: readonly [number, number]): string {
  return `[${(100 * low).toFixed(0)}–${(100 * high).toFixed(0)} %]`;
}

/** The note when the condition holds, else none. */
export function noteIf(holds: boolean, note: string): string[] {
  return holds ? [note] : [];
}

const ends = ['lo', 'hi', 'min', 'max', 'xlo', 'xhi'] as const;
type End = (typeof ends)[number];
type Point = { readonly x: number; readonly y: number } & { readonly [end in End]?: number };

/**
 * A series with one point for each item, with error bars where a point has an interval. A point that is not a number is
 * a gap.
 */
export function points<Item>(
  name: string,
  items: readonly Item[],
  pointOf: (item: Item) => Point,
  kind: StudyCurve['kind'] = 'points',
): StudyCurve {
  const all = items.map(pointOf);
  return { name, kind, x: all.map(({ x }) => finite(x)), y: all.map(({ y }) => finite(y)), ...endsOf(all, ends) };
}

/** Interval ends of the points, in the form of a study. A missing end lies at the point itself. */
export function endsOf<Name extends End>(
  all: readonly Point[],
  names: readonly Name[],
): Record<Name, (number | null)[] | null> {
  const ofAll = (end: End) => all.map((point) => point[end] ?? (end.startsWith('x') ? point.x : point.y));
  const entries = names.map((end) => [end, all.some((point) => point[end] !== undefined) ? ofAll(end) : null]);
  return Object.fromEntries(entries) as Record<Name, (number | null)[] | null>;
}

type Axis = { readonly title: string; readonly unit?: string; readonly log?: boolean };

export function figure(
  title: string,
  note: string | null,
  [x, y]: readonly [Axis, Axis],
  series: readonly StudyCurve[],
): StudyFigure {
  const axis = ({ unit = null, log = false, ...named }: { unit?: string | null } & Omit<Axis, 'unit'>) => ({
    ...named,
    unit,
    log,
  });
  const none = { bars: [], lines: [], cells: null, range: null, set: null };
  return { title, note, x: axis(x), y: axis(y), series, slider: { title: 'step', unit: null }, ...none };
}
