import { naturalOrder } from '../../../text/natural-order.js';
import { columnKey, type ColumnId, curveValueOf } from '../../state/list-column-id.js';
import type { RunSummary } from '../../state/port.js';
import type { Sort, SortBy } from '../../state/sort.js';
import { parameterOrder } from '../parameter-text.js';
import { statesByUrgency } from '../state-look.js';
import { bestOf, elapsed, progressOf } from '../tally.js';

/** Runs in the chosen order. The sort is stable; runs without a value come last in either direction. `now`: Unix ms. */
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

/** A sort value: numbers ascend, texts are in natural order; null and NaN mean no value. */
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
  const word = curveValueOf(by)?.word;
  if (word !== undefined) return ({ curveValues }) => falling(curveValues?.[word]);
  return (run) => falling(metric === null ? null : run.metrics[metric]);
}

/** Sort values in ascending order; columns that start with the highest value are negated. */
const readers: Partial<Record<SortBy, (run: RunSummary, now: number) => Value>> = {
  state: ({ state }) => statesByUrgency.indexOf(state),
  name: ({ name }) => name,
  progress: (run) => falling(run.state === 'queued' ? null : progressOf(run)),
  left: ({ etaSeconds }) => etaSeconds,
  slot: ({ slot }) => slot,
  time: (run, now) => falling(elapsed(run, now)),
  cpu: ({ cpu }) => falling(cpu),
  memory: ({ memory }) => falling(memory),
  'gpu memory': ({ gpuMemory }) => falling(gpuMemory),
  attempt: ({ attempt }) => falling(attempt),
  exit: ({ exit }) => (exit === null ? null : (exit.signal ?? `${exit.class} ${exit.code ?? ''}`)),
  priority: ({ priority }) => falling(priority),
  tags: ({ annotation }) => annotation?.tags.join(' ') || null,
  best: (run) => {
    const value = bestOf(run);
    return run.best?.goal === 'maximize' ? falling(value) : (value ?? null);
  },
  note: ({ annotation }) => annotation?.note ?? null,
};

function falling(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : -value;
}
