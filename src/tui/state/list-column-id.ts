/** Columns of the list that every sweep can have. `metric`: last value of the one chosen with `m`; `best`: of the objective. */
export const commonColumns = [
  'progress',
  'left',
  'trend',
  'metric',
  'best',
  'slot',
  'time',
  'cpu',
  'memory',
  'gpu memory',
  'attempt',
  'exit',
  'priority',
  'tags',
  'note',
] as const;
export type CommonColumn = (typeof commonColumns)[number];

/** A column of the list; the last value of a metric or the value of a parameter by its name. Kept in preferences as it is. */
export type ColumnId = CommonColumn | `metric ${string}` | `parameter ${string}`;

/** What the list shows beside the names until a person chooses otherwise. */
export const initialColumns: readonly ColumnId[] = ['progress', 'left', 'trend', 'metric', 'slot', 'time'];

/** Which value of a run the list shows. */
export const valueChoices = ['last', 'best', 'both'] as const;
const valueColumns: Readonly<Record<(typeof valueChoices)[number], readonly ColumnId[]>> = {
  last: ['metric'],
  best: ['best'],
  both: ['metric', 'best'],
};

/** The columns with this value where they have one now, else at the end; null for the usual ones. */
export function withValue(
  columns: readonly ColumnId[] | null,
  value: (typeof valueChoices)[number],
): readonly ColumnId[] | null {
  const shown = columns ?? initialColumns;
  const at = shown.findIndex(isValue);
  const before = at < 0 ? shown : shown.slice(0, at);
  return knownColumns([...before, ...valueColumns[value], ...shown.slice(before.length).filter((id) => !isValue(id))]);
}

function isValue(column: ColumnId): boolean {
  return column === 'metric' || column === 'best';
}

/** Null for the usual columns, so that they follow what a later version shows. */
export function knownColumns(columns: readonly ColumnId[]): readonly ColumnId[] | null {
  const isUsual = columns.length === initialColumns.length && columns.every((id, at) => id === initialColumns[at]);
  return isUsual ? null : columns;
}

/** What of a column's id is the name of a metric or of a parameter; null for a column that every sweep has. */
export function columnKey(column: ColumnId): { readonly kind: 'metric' | 'parameter'; readonly key: string } | null {
  const space = column.indexOf(' ');
  const kind = column.slice(0, Math.max(0, space));
  return kind === 'metric' || kind === 'parameter' ? { kind, key: column.slice(space + 1) } : null;
}

/** Whether a text that was kept somewhere is the id of a column. */
export function isColumnId(text: string): text is ColumnId {
  return (commonColumns as readonly string[]).includes(text) || /^(metric|parameter) ./.test(text);
}
