import type { RunId } from '../../base/ids.js';
import type { Outcome } from '../../base/outcome.js';
import type { RunRecord } from '../../contract/run-record.js';
import { gpusOf, slotName } from '../../scheduler/placement/slot.js';
import { isActive, type Run } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { EventLoop } from '../core/event-loop.js';
import type { GpuWatch } from '../gpus/gpu-watch.js';
import type { Ownership } from '../ownership/ownership.js';
import type { PlannedRuns } from './submission-store.js';
import type { Records } from './records.js';
import type { Watcher } from './watcher.js';

/** How the last attempt ended, whether the run ended with it or waits to be tried again by itself. */
type End = { outcome: Outcome; since: number | null; at: number };

type RunObserverPorts = {
  loop: Pick<EventLoop, 'state' | 'clock'>;
  plannedRuns: Pick<PlannedRuns, 'of'>;
  records: Pick<Records, 'started' | 'standsAt' | 'retracted' | 'ended'>;
  watcher: Pick<Watcher, 'watch' | 'finish' | 'recall' | 'forget'>;
  ownership: Pick<Ownership, 'started' | 'ended' | 'recall'>;
  gpus: Pick<GpuWatch, 'started' | 'forget'>;
};

/**
 * Keeps records, metrics and GPUs in step with what the scheduler says of each run; an observer of the event loop. Saying the
 * same twice changes nothing.
 */
export class RunObserver {
  readonly #ports: RunObserverPorts;
  /** The attempt of each run that is being followed. */
  readonly #followed = new Map<RunId, number>();

  constructor(ports: RunObserverPorts) {
    this.#ports = ports;
  }

  follow(touched: ReadonlySet<RunId>): void {
    const { loop, plannedRuns, watcher, gpus } = this.#ports;
    for (const id of touched) {
      const run = loop.state.runs.get(id);
      if (run === undefined) watcher.forget(id);
      else this.#follow(run, plannedRuns.of(id)!);
      // What was to be said of the memory that its last attempt left has been said.
      if (run === undefined || run.state.phase === 'starting') gpus.forget(id);
    }
  }

  #follow(run: Run, planned: PlannedRun): void {
    const { id, attempt, state } = run;
    if ('pid' in state && this.#followed.get(id) !== attempt) {
      const { records, watcher, ownership, loop } = this.#ports;
      this.#followed.set(id, attempt);
      ownership.started(planned, attempt, { since: state.since, first: run.past[0]?.[0] ?? state.since });
      records.started(planned, {
        number: attempt,
        slot: slotName(state.slot),
        startedAt: loop.clock.wallTime(state.since),
      });
      watcher.watch(planned, attempt, state.since);
      if (isActive(state)) this.#ports.gpus.started({ id, gpus: gpusOf(state.slot), directory: planned.directory });
    }
    const end = endOf(run);
    if (end !== null) this.#conclude(planned, end, run);
    else if (!('pid' in state)) this.#retract(planned);
    const waits = waitingWord(run);
    if (waits !== null) this.#ports.records.standsAt(planned, waits);
  }

  /** It was not up after all, and has another attempt before it. */
  #retract(planned: PlannedRun): void {
    const number = this.#followed.get(planned.id);
    if (number === undefined) return;
    this.#followed.delete(planned.id);
    this.#ports.watcher.finish(planned);
    this.#ports.records.retracted(planned, number);
  }

  #conclude(planned: PlannedRun, { outcome, since, at }: End, run: Run): void {
    const { records, watcher, ownership, loop } = this.#ports;
    const number = this.#followed.get(planned.id);
    if (number === undefined) {
      // It ended before we were there, or never was up: all there can be is an old file.
      ownership.recall(run, planned);
      watcher.recall([planned]);
      return;
    }
    this.#followed.delete(planned.id);
    // Before its metrics are read for the last time.
    ownership.ended(planned, at);
    watcher.finish(planned);
    // Also when it began: the wall clock may have been set right meanwhile.
    const startedAt = since === null ? {} : { startedAt: loop.clock.wallTime(since) };
    records.ended(planned, { number, ...startedAt, endedAt: loop.clock.wallTime(at), outcome });
  }
}

/** Where a run is that was up before and is not told by its last attempt; null: that tells it. */
function waitingWord({ state, hold, starts }: Run): RunRecord['state'] | null {
  if (starts === 0) return null;
  if (state.phase === 'waiting') return hold === null ? 'queued' : 'held';
  return state.phase === 'ended' && state.since === null && state.outcome.kind === 'killed' ? 'killed' : null;
}

function endOf({ state }: Run): End | null {
  if (state.phase === 'ended') return state;
  return state.phase === 'waiting' ? state.last : null;
}
