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

/** What the runs of a group can be sorted by. */
export type SortBy = 'file order' | 'state' | 'name' | Exclude<ColumnId, 'trend'>;

export type Sort = { readonly by: SortBy; readonly isReversed: boolean };

export const initialSort: Sort = { by: 'file order', isReversed: false };

/** Whether the runs are in the order of the sweep file. */
export function isInitialSort({ by, isReversed }: Sort): boolean {
  return by === initialSort.by && isReversed === initialSort.isReversed;
}

/** The orders that `s` cycles through: the usual ones, then the other shown columns from left to right. */
export function sortsFor(columns: readonly ColumnId[]): SortBy[] {
  const value = columns.includes('metric') ? 'metric' : ((columns.find(isValue) as SortBy | undefined) ?? 'metric');
  const usual: SortBy[] = ['file order', 'state', value, 'time', 'name'];
  const others = columns.filter((column): column is Exclude<ColumnId, 'trend'> => column !== 'trend');
  return [...new Set([...usual, ...others.filter((column) => columnKey(column) !== null || !defaults.has(column))])];
}

/** Columns rarely sorted by, which `s` skips; the dialog of columns offers them. */
const defaults: ReadonlySet<ColumnId> = new Set(['progress', 'left', 'slot']);

/** Whether the order can change while names and parameters stay the same. */
export function isLive({ by }: Sort): boolean {
  return by !== 'file order' && by !== 'name' && !by.startsWith('parameter ');
}

/** The order in words: `loss, lowest first`. `metric`: the chosen one. */
export function sortWords({ by, isReversed }: Sort, metric: string | null): string {
  if (by === 'file order') return isReversed ? 'file order, reversed' : 'file order';
  const [first, last] = endsOf(by);
  return `${subjectOf(by, metric) ?? by}, ${isReversed ? last : first} first`;
}

function subjectOf(by: SortBy, metric: string | null): string | null | undefined {
  if (by === 'best') return 'best value of the objective';
  if (by === 'metric') return metric;
  const curve = curveValueOf(by);
  return curve === null ? columnKey(by as ColumnId)?.key : `${metric ?? 'value'} ${valueWords(curve.value)}`;
}

/** Shown beside the name of the metric: `at 1000`, `mean 10`, `auc`. */
export function valueWords(value: RunValue): string {
  if (value.kind === 'at') return `at ${value.x}`;
  return value.kind === 'mean' ? `mean ${value.of}` : value.kind;
}

function endsOf(by: SortBy): Words {
  return firstWords[by] ?? (columnKey(by as ColumnId)?.kind === 'parameter' ? lowest : highest);
}

type Words = readonly [first: string, reversed: string];

const highest: Words = ['highest', 'lowest'];
const lowest: Words = ['lowest', 'highest'];
const firstWords: Partial<Record<SortBy, Words>> = {
  state: ['most urgent', 'least urgent'],
  best: ['best', 'worst'],
  name: ['A', 'Z'],
  time: ['longest', 'shortest'],
  left: ['soonest', 'latest'],
  slot: lowest,
  exit: ['A', 'Z'],
  tags: ['A', 'Z'],
  note: ['A', 'Z'],
};

/** What the list is grouped by. `group`: the groups of the sweep file. */
export type GroupBy =
  | { readonly kind: 'group' }
  | { readonly kind: 'state' }
  | { readonly kind: 'gpu' }
  /** Error messages of failed runs, ignoring numbers and paths. */
  | { readonly kind: 'error' }
  /** No groups: one flat list. Never combined with another level. */
  | { readonly kind: 'none' }
  | { readonly kind: 'parameter'; readonly key: string };

/** The first level and, if there are two, the second. */
export type Grouping = readonly [GroupBy] | readonly [GroupBy, GroupBy];

/** The grouping of the sweep file: groups, and below them settings that differ only in the seed. */
export const initialGrouping: Grouping = [{ kind: 'group' }];

/** Whether all runs are in one list without groups. */
export function isFlat([first]: Grouping): boolean {
  return first.kind === 'none';
}

/** A short text that identifies a grouping; empty for the initial one. */
export function groupingKey(grouping: Grouping): string {
  const key = grouping.map(levelKey).join(' › ');
  return key === 'group' ? '' : key;
}

/** Whether two levels group by the same thing. */
export function isSameLevel(a: GroupBy, b: GroupBy | undefined): boolean {
  return b !== undefined && levelKey(a) === levelKey(b);
}

/** `group, then state` */
export function groupingWords(grouping: Grouping): string {
  return grouping[0].kind === 'none' ? 'nothing' : grouping.map(levelWords).join(', then ');
}

/** The title of a level in the menu of groupings. */
export function levelWords(by: GroupBy): string {
  return by.kind === 'parameter' ? by.key : by.kind === 'gpu' ? 'GPU or slot' : by.kind;
}

function levelKey(by: GroupBy): string {
  return by.kind === 'parameter' ? `parameter ${by.key}` : by.kind;
}
