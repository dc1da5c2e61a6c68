import { parseRunValue, type RunValue, runValueWord } from '../../analysis/run-value.js';

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

/**
 * A column of the list; the last value of a metric or the value of a parameter by its name; another value of the metric
 * chosen with `m` by the word of `parseRunValue` (`value mean=10`). Kept in preferences as it is.
 */
export type ColumnId = CommonColumn | `metric ${string}` | `parameter ${string}` | `value ${string}`;

/** What the list shows beside the names until a person chooses otherwise. */
export const initialColumns: readonly ColumnId[] = ['progress', 'left', 'trend', 'metric', 'slot', 'time'];

/** Which value of a run the list shows; `both`: the last and the best. The words but for that are those of `report --value`. */
export const valueChoices = ['last', 'best', 'both', 'min', 'max', 'mean=10', 'auc'] as const;

/** The columns of a choice, which may be `at=X` and `mean=K` as well; null: it is none. */
export function valueColumns(choice: string): readonly ColumnId[] | null {
  if (choice === 'both') return ['metric', 'best'];
  const value = parseRunValue(choice.replace(/^(at|mean) +/, '$1='));
  if (value === null || value === 'best') return value === null ? null : ['best'];
  return value.kind === 'last' ? ['metric'] : [`value ${runValueWord(value)}`];
}

/** The columns with these values where they have some now, else at the end; null for the usual ones. */
export function withValue(
  columns: readonly ColumnId[] | null,
  values: readonly ColumnId[],
): readonly ColumnId[] | null {
  const shown = columns ?? initialColumns;
  const at = shown.findIndex(isValue);
  const before = at < 0 ? shown : shown.slice(0, at);
  return knownColumns([...before, ...values, ...shown.slice(before.length).filter((id) => !isValue(id))]);
}

/** Whether what a column shows is what `valueColumns` chooses. */
export function isValue(column: string): column is ColumnId {
  return column === 'metric' || column === 'best' || curveValueOf(column) !== null;
}

/** What a column shows that is read off the whole curve of the chosen metric. `word`: as it is written; null: it is no such column. */
export function curveValueOf(column: string): { readonly word: string; readonly value: RunValue } | null {
  if (!column.startsWith('value ')) return null;
  const word = column.slice('value '.length);
  const value = parseRunValue(word);
  return value === null || value === 'best' ? null : { word, value };
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
  return (
    (commonColumns as readonly string[]).includes(text) ||
    /^(metric|parameter) ./.test(text) ||
    curveValueOf(text) !== null
  );
}
