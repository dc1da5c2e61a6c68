import { parseRunValue, type RunValue, runValueWord } from '../../analysis/run-value.js';

/** Columns available in every sweep. `metric`: last value of the metric chosen with `m`; `best`: best value of the objective. */
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

/**
 * A column of the list: a common one; the last value of a metric, or the value of a parameter, by name; or another value of the
 * metric chosen with `m`, in the words of `parseRunValue` (`value mean=10`). Stored in preferences as it is.
 */
export type ColumnId = CommonColumn | `metric ${string}` | `parameter ${string}` | `value ${string}`;

/** The default columns beside the names. */
export const initialColumns: readonly ColumnId[] = ['progress', 'left', 'trend', 'metric', 'slot', 'time'];

/** Which value of a run the list shows; `both`: the last and the best. The other words are those of `report --value`. */
export const valueChoices = ['last', 'best', 'both', 'min', 'max', 'mean=10', 'auc'] as const;

/** The columns of a choice, which may also be `at=X` or `mean=K`; null: it is not a valid choice. */
export function valueColumns(choice: string): readonly ColumnId[] | null {
  if (choice === 'both') return ['metric', 'best'];
  const value = parseRunValue(choice.replace(/^(at|mean) +/, '$1='));
  if (value === null || value === 'best') return value === null ? null : ['best'];
  return value.kind === 'last' ? ['metric'] : [`value ${runValueWord(value)}`];
}

/** Replaces the value columns in place, or appends them; null for the default columns. */
export function withValue(
  columns: readonly ColumnId[] | null,
  values: readonly ColumnId[],
): readonly ColumnId[] | null {
  const shown = columns ?? initialColumns;
  const at = shown.findIndex(isValue);
  const before = at < 0 ? shown : shown.slice(0, at);
  return knownColumns([...before, ...values, ...shown.slice(before.length).filter((id) => !isValue(id))]);
}

/** Whether a column shows one of the values that `valueColumns` chooses. */
export function isValue(column: string): column is ColumnId {
  return column === 'metric' || column === 'best' || curveValueOf(column) !== null;
}

/**
 * The value that a column reads from the whole curve of the chosen metric. `word`: as written; null: it is another kind of column.
 */
export function curveValueOf(column: string): { readonly word: string; readonly value: RunValue } | null {
  if (!column.startsWith('value ')) return null;
  const word = column.slice('value '.length);
  const value = parseRunValue(word);
  return value === null || value === 'best' ? null : { word, value };
}

/** Null for the default columns, so that they follow later versions of the default. */
export function knownColumns(columns: readonly ColumnId[]): readonly ColumnId[] | null {
  const isUsual = columns.length === initialColumns.length && columns.every((id, at) => id === initialColumns[at]);
  return isUsual ? null : columns;
}

/** The name of the metric or parameter in a column's id; null for a common column. */
export function columnKey(column: ColumnId): { readonly kind: 'metric' | 'parameter'; readonly key: string } | null {
  const space = column.indexOf(' ');
  const kind = column.slice(0, Math.max(0, space));
  return kind === 'metric' || kind === 'parameter' ? { kind, key: column.slice(space + 1) } : null;
}

/** Whether a stored text is the id of a column. */
export function isColumnId(text: string): text is ColumnId {
  return (
    (commonColumns as readonly string[]).includes(text) ||
    /^(metric|parameter) ./.test(text) ||
    curveValueOf(text) !== null
  );
}
