import { columnKey, type ColumnId } from './list-column-id.js';
import type { RunSummary } from './port.js';
import { naturalOrder } from '../../text/natural-order.js';
import { parameterOrder } from '../model/parameter-text.js';
import { statesByUrgency } from '../model/state-look.js';
import { elapsed, progressOf } from '../model/tally.js';

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
  const usual: SortBy[] = ['file order', 'state', 'metric', 'time', 'name'];
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
  name: ['A', 'Z'],
  time: ['longest', 'shortest'],
  left: ['soonest', 'latest'],
  slot: lowest,
  exit: ['A', 'Z'],
};

/** Runs in the chosen order; equal ones stay as they were. What has no value comes last, either way. `now`: Unix ms. */
export function sorted(
  runs: readonly RunSummary[],
  sort: Sort,
  metric: string | null,
  now: number,
): readonly RunSummary[] {
  if (sort.by === 'file order') return sort.isReversed ? [...runs].reverse() : runs;
  const key = columnKey(sort.by as ColumnId);
  const sign = sort.isReversed ? -1 : 1;
  if (key?.kind === 'parameter') return byParameter(runs, key.key, sign);
  const read = reader(sort.by, key?.key ?? metric, now);
  return runs
    .map((run) => ({ run, value: read(run) }))
    .sort((a, b) => valueOrder(a.value, b.value, sign))
    .map(({ run }) => run);
}

/** A number ascends, and a text in the natural order; null and NaN are no values. */
type Value = number | string | null;

function valueOrder(a: Value, b: Value, sign: number): number {
  const [isMissingA, isMissingB] = [isMissing(a), isMissing(b)];
  if (isMissingA || isMissingB) return Number(isMissingA) - Number(isMissingB);
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -sign : a > b ? sign : 0;
  return sign * naturalOrder(String(a), String(b));
}

function isMissing(value: Value): boolean {
  return value === null || Number.isNaN(value);
}

function byParameter(runs: readonly RunSummary[], key: string, sign: number): RunSummary[] {
  return [...runs].sort(({ parameters: { [key]: a } }, { parameters: { [key]: b } }) =>
    a === undefined || b === undefined ? parameterOrder(a, b) : sign * parameterOrder(a, b),
  );
}

function reader(by: SortBy, metric: string | null, now: number): (run: RunSummary) => Value {
  const read = readers[by];
  if (read !== undefined) return (run) => read(run, now);
  return (run) => falling(metric === null ? null : run.metrics[metric]);
}

/** Ascending, so what should begin with its highest value is negated. */
const readers: Partial<Record<SortBy, (run: RunSummary, now: number) => Value>> = {
  state: ({ state }) => statesByUrgency.indexOf(state),
  name: ({ name }) => name,
  progress: (run) => falling(run.state === 'queued' ? null : progressOf(run)),
  left: ({ etaSeconds }) => etaSeconds,
  slot: ({ slot }) => slot,
  time: (run, now) => falling(elapsed(run, now)),
  'gpu memory': ({ gpuMemory }) => falling(gpuMemory),
  attempt: ({ attempt }) => falling(attempt),
  exit: ({ exit }) => (exit === null ? null : (exit.signal ?? `${exit.class} ${exit.code ?? ''}`)),
  priority: ({ priority }) => falling(priority),
};

function falling(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : -value;
}
