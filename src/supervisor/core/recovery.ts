import type { RunId } from '../../base/ids.js';
import type { Outcome } from '../../base/outcome.js';
import type { Executor, Found, Start } from '../../executors/executor.js';
import type { EventOf, SchedulerEvent } from '../../scheduler/event.js';
import { slotName } from '../../scheduler/placement/slot.js';
import { restored, Snapshot } from '../../scheduler/snapshot.js';
import {
  type ActiveState,
  type Ending,
  isActive,
  type Run,
  type RunState,
  type SchedulerState,
} from '../../scheduler/state.js';
import { step } from '../../scheduler/step.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { EventLoop } from './event-loop.js';
import { enlargeHeap, MANY_RUNS } from './large-heap.js';
import { damagedSnapshot, type JournalSink } from './journal-text.js';
import { type OutcomeOf, withEnd } from '../runs/endings.js';
import type { PlannedRuns } from '../runs/submission-store.js';

/** Number of latest attempts whose record may not have been written before the supervisor died. */
const UNSURE = 200;

/** One attempt from its start to its end, as in the journal. Unix ms. `outcome` null: it did not come up. */
export type PastAttempt = {
  id: RunId;
  number: number;
  slot: string;
  startedAt: number;
  endedAt: number;
  outcome: Outcome | null;
};

/**
 * Replays a journal into an empty state, as it is read. Actions are not performed: they were, or `reconcile` finds out that they
 * were not.
 */
export class Recovery implements JournalSink {
  readonly #state: SchedulerState;
  readonly #path: string;
  readonly #up = new Map<RunId, Pick<PastAttempt, 'number' | 'slot' | 'startedAt'>>();
  #recent: PastAttempt[] = [];

  readonly #replayed: (event: SchedulerEvent, touched: ReadonlySet<RunId>) => void;

  /** @param path Path of the journal, for messages. @param replayed Called after each event, with the runs that it has changed. */
  constructor(
    state: SchedulerState,
    path: string,
    replayed: (event: SchedulerEvent, touched: ReadonlySet<RunId>) => void = () => undefined,
  ) {
    this.#state = state;
    this.#path = path;
    this.#replayed = replayed;
  }

  /** The attempts that ended last, oldest first. */
  get recent(): readonly PastAttempt[] {
    return this.#recent.slice(-UNSURE);
  }

  /** @throws {UserError} When the snapshot is invalid. */
  snapshot(written: unknown): void {
    const { data, error } = Snapshot.safeParse(written);
    if (data === undefined) throw damagedSnapshot(this.#path, error);
    Object.assign(this.#state, restored(data));
    if (data.runs.length > MANY_RUNS) enlargeHeap();
  }

  event(event: SchedulerEvent): void {
    if (event.type === 'runs-submitted' && event.runs.length > MANY_RUNS) enlargeHeap();
    this.#replayed(event, step(this.#state, event).touched);
    if (event.type === 'run-started' || event.type === 'run-ended') this.#remember(event);
    else if (event.type === 'launch-withdrawn') this.#takeBack(event);
  }

  #takeBack({ id, attempt: number, at }: EventOf<'launch-withdrawn'>): void {
    const start = this.#up.get(id);
    if (start?.number !== number) return;
    this.#up.delete(id);
    this.#ended({ id, ...start, endedAt: at, outcome: null });
  }

  #remember(event: EventOf<'run-started' | 'run-ended'>): void {
    const { id, attempt: number } = event;
    const run = this.#state.runs.get(id);
    if (run?.attempt !== number) return;
    const start = this.#up.get(id);
    const ending = endingOf(run.state);
    if (isActive(run.state)) this.#up.set(id, { number, slot: slotName(run.state.slot), startedAt: event.at });
    else if (start?.number === number && ending !== null) {
      this.#up.delete(id);
      this.#ended({ id, ...start, endedAt: ending.at, outcome: ending.outcome });
    }
  }

  #ended(attempt: PastAttempt): void {
    this.#recent.push(attempt);
    if (this.#recent.length > 2 * UNSURE) this.#recent = this.#recent.slice(-UNSURE);
  }
}

/** Replays events without a snapshot. */
export function replay(state: SchedulerState, events: readonly SchedulerEvent[]): void {
  for (const event of events) step(state, event);
}

/** How the last attempt ended; null: it has not, or there was none. */
function endingOf(state: RunState): Ending | null {
  if (state.phase === 'ended') return state;
  return state.phase === 'waiting' ? state.last : null;
}

type ReconcilePorts = {
  loop: Pick<EventLoop, 'state' | 'now' | 'tell'>;
  executor: Executor;
  plannedRuns: Pick<PlannedRuns, 'of'>;
  outcomeOf: OutcomeOf;
};

/**
 * Finds out what happened to the runs that held a slot when the last supervisor died, and reports it as events: live ones are
 * adopted, exit codes of dead ones are read, and those that had not started are put back in the queue.
 */
export async function reconcile(ports: ReconcilePorts): Promise<void> {
  const { state } = ports.loop;
  await Promise.all([...state.active].map((id) => reconcileRun(state.runs.get(id)!, ports)));
}

async function reconcileRun(run: Run, ports: ReconcilePorts): Promise<void> {
  const { id, attempt } = run;
  const was = run.state as ActiveState;
  const plan = ports.plannedRuns.of(id)!;
  tellFound({ id, attempt, plan, was }, await ports.executor.adopt(id, plan.directory, attempt), ports);
}

type PastRun = Pick<Run, 'id' | 'attempt'> & { plan: PlannedRun; was: ActiveState };

function tellFound({ id, attempt, plan, was }: PastRun, found: Found, ports: ReconcilePorts): void {
  const { executor, outcomeOf, loop } = ports;
  const now = () => loop.now();
  const tell = (event: SchedulerEvent) => loop.tell(event);
  if (found.kind === 'withdrawn') {
    const reason = found.reason ?? 'its directory is gone';
    if (was.phase === 'starting' || found.neverRan) tell({ type: 'launch-withdrawn', at: now(), id, attempt });
    else tell({ type: 'run-ended', at: now(), id, attempt, outcome: { kind: 'lost', reason } });
    return;
  }
  if (found.kind === 'queued') return void found.start.then((answer) => tellStart({ id, attempt }, answer, ports));
  if (was.phase === 'starting') tell({ type: 'run-started', at: now(), id, attempt, pid: found.pid });
  if (found.kind !== 'ended') askAgain(executor, id, was);
  else withEnd({ id, attempt, plan, ending: found.ending, agoMs: found.agoMs }, { outcomeOf, now, tell });
}

/** Reports a start, as the launcher does for its own starts. */
function tellStart({ id, attempt }: Pick<Run, 'id' | 'attempt'>, start: Start, { loop }: ReconcilePorts): void {
  const at = loop.now();
  if (start.kind === 'started') loop.tell({ type: 'run-started', at, id, attempt, pid: start.pid });
  else if (start.transient) loop.tell({ type: 'launch-withdrawn', at, id, attempt });
  else loop.tell({ type: 'launch-failed', at, id, attempt, reason: start.reason });
}

/**
 * Repeats an order, as the last supervisor may have died between deciding on a pause, its end, or the run's end, and carrying it
 * out.
 */
function askAgain(executor: Executor, id: RunId, was: ActiveState): void {
  if (was.phase === 'stopping') executor.terminate(id);
  else if (was.phase === 'killing') executor.kill(id);
  else if (was.phase === 'running' && was.pausedAt !== null) executor.pause(id);
  else if (was.phase === 'running' && was.pausedMs > 0) executor.continue(id);
}

/** The events that remove a sweep, whatever the state of its runs. */
export function forgetting(state: SchedulerState, sweep: string, at: number): SchedulerEvent[] {
  const active = [...(state.sweeps.get(sweep) ?? [])].filter((id) => state.active.has(id));
  const outcome = { kind: 'lost', reason: 'its command is no longer known' } as const;
  const ends = active.map((id) => {
    return { type: 'run-ended' as const, at, id, attempt: state.runs.get(id)!.attempt, outcome };
  });
  return [...ends, { type: 'sweep-forgotten', at, sweep }];
}
