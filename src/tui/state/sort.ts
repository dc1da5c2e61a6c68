import { columnKey, type ColumnId } from './list-column-id.js';

/** What the runs of a group can be ordered by. */
export type SortBy = 'file order' | 'state' | 'name' | Exclude<ColumnId, 'trend'>;

export type Sort = { readonly by: SortBy; readonly isReversed: boolean };

export const initialSort: Sort = { by: 'file order', isReversed: false };

/** Whether the runs are as the sweep file has them. */
export function isInitialSort({ by, isReversed }: Sort): boolean {
  return by === initialSort.by && isReversed === initialSort.isReversed;
}

/** The orders that `s` cycles through: the usual ones, then the other columns shown, from left to right. */
export function sortsFor(columns: readonly ColumnId[]): SortBy[] {
  const value = columns.includes('best') && !columns.includes('metric') ? 'best' : 'metric';
  const usual: SortBy[] = ['file order', 'state', value, 'time', 'name'];
  const others = columns.filter((column): column is Exclude<ColumnId, 'trend'> => column !== 'trend');
  return [...new Set([...usual, ...others.filter((column) => columnKey(column) !== null || !defaults.has(column))])];
}

/** Seldom sorted by, so `s` leaves them out; the dialog of columns offers them. */
const defaults: ReadonlySet<ColumnId> = new Set(['progress', 'left', 'slot']);

/** Whether the order can change without the runs' names or parameters changing. */
export function isLive({ by }: Sort): boolean {
  return by !== 'file order' && by !== 'name' && !by.startsWith('parameter ');
}

/** The order in words: `loss, lowest first`. `metric`: the chosen one. */
export function sortWords({ by, isReversed }: Sort, metric: string | null): string {
  if (by === 'file order') return isReversed ? 'file order, reversed' : 'file order';
  const [first, last] = endsOf(by);
  if (by === 'best') return `best value of the objective, ${isReversed ? last : first} first`;
  const what = by === 'metric' ? metric : columnKey(by as ColumnId)?.key;
  return `${what ?? by}, ${isReversed ? last : first} first`;
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
