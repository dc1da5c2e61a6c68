import type { RunValue } from '../../analysis/run-value.js';
import { columnKey, type ColumnId, curveValueOf, isValue } from './list-column-id.js';

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
