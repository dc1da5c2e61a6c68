import type { RunId } from '../../base/ids.js';
import type { StepContext } from '../action.js';
import { amend } from '../lifecycle/move.js';
import type { Run } from '../run-state.js';

/**
 * Sorts the runs of a sweep in the order of its file: a run that was added between others stands between them, in lists and in the
 * queue. Runs that the file does not name stay before the first one it names, or come after the last.
 *
 * Runs of other sweeps do not move: the queue places of this sweep's waiting runs are redistributed among them in the new order, so
 * that nobody waits longer because a sweep was submitted again.
 */
export function putInFileOrder(turn: StepContext, sweep: string, order: readonly RunId[]): void {
  const known = turn.state.sweeps.get(sweep);
  if (known === undefined) return;
  const arranged = merged([...known], order);
  if (arranged === null) return;
  turn.state.sweeps.set(sweep, new Set(arranged));
  const runs = arranged.map((id) => turn.state.runs.get(id)!);
  const orders = queueOrders(runs);
  runs.forEach((run, place) => {
    const own = orders.get(run) ?? run.order;
    if (run.place !== place || run.order !== own) amend(turn, run, { place, order: own });
  });
}

/** The merged order; null: the runs are in that order already. */
function merged(known: readonly RunId[], order: readonly RunId[]): RunId[] | null {
  if (isSame(known, order)) return null;
  const all = new Set(known);
  const named = new Set(order.filter((id) => all.has(id)));
  const first = known.findIndex((id) => named.has(id));
  if (first < 0) return null;
  const others = known.slice(first).filter((id) => !named.has(id));
  const arranged = [...known.slice(0, first), ...named, ...others];
  return isSame(known, arranged) ? null : arranged;
}

function isSame(a: readonly RunId[], b: readonly RunId[]): boolean {
  return a.length === b.length && a.every((id, place) => id === b[place]);
}

/** The queue places of the waiting runs, reassigned in the order of these runs. */
function queueOrders(runs: readonly Run[]): Map<Run, number> {
  const waiting = runs.filter(({ state }) => state.phase === 'waiting');
  const orders = waiting.map(({ order }) => order).sort((a, b) => a - b);
  return new Map(waiting.map((run, index) => [run, orders[index]!]));
}
