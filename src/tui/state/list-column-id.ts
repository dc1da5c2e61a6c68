/** Columns of the list that every sweep can have. `metric` is the one chosen with `m`. */
export const commonColumns = [
  'progress',
  'left',
  'trend',
  'metric',
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
