import type { TimeRange } from '../../analysis/forecast/time-range.js';
import { type GroupId, nameOf, type RunId, sweepOf } from '../../base/ids.js';
import type { FleetStatus, NodeStatus, RunSummary, SweepSummary } from '../../protocol/run-summary.js';
import { growingGroups } from '../../scheduler/queue/groups.js';
import { isSettled, stuckSweeps, waitingReason } from '../../scheduler/placement/waiting-reason.js';
import { unmetRuns } from '../../scheduler/queue/queues.js';
import { startsAt } from '../../scheduler/start/group-start.js';
import type { Group, Run, SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import { type RunContext, runSummary } from './run-view.js';

/** Where the rows come from. */
export type RowSources = {
  /** `wallTime`: the wall clock at a time of the scheduler's line. Unix ms. */
  loop: { readonly state: SchedulerState; readonly clock: { wallTime: (at: number) => number } };
  planned: (id: RunId) => PlannedRun;
  contextOf: (run: PlannedRun) => Omit<RunContext, 'waiting' | 'wallTime' | 'left' | 'startsAt'>;
  /** How long until it ends, seconds; null: nobody knows. */
  leftOf: (run: Run) => TimeRange | null;
  /** Why a run that has its slot is not up yet. */
  delayOf: (id: RunId) => string | null;
};

/** Where comes from what is said of all runs together. */
export type StatusSources = {
  sweeps: () => SweepSummary[];
  /** Of how many ended runs it has not been read what they wrote last. */
  unread: () => number;
  gpus: () => FleetStatus['gpus'];
  /** Of the cluster that has the runs; null: they are on this machine. */
  nodes: () => readonly NodeStatus[] | null;
  /** What keeps the supervisor from its work, in words; null: nothing. */
  problem: () => string | null;
};

/** Between looks at when runs end, ms; and what is told again of what changed since. */
const ETA_MS = 900;
const ETA_SHARE = 0.05;
const RANGE_SHARE = 0.15;

/**
 * The rows that all clients see. A row is a new object when something in it changed, and the same one otherwise, so that
 * each client's copy can be compared by identity. It is made when it is asked for: of fifty thousand that change at once, a
 * client is told page by page, and where nobody looks, nothing is made.
 */
export class RunViewCache {
  /** As far as a client has asked for them. */
  readonly rows = new Map<RunId, RunSummary>();
  readonly #sources: RowSources;
  readonly #status: StatusSources;
  /** Rows that are not true any more. */
  readonly #stale = new Set<RunId>();
  /** Runs whose change has not been told yet. */
  #changed = new Set<RunId>();
  /** When it was last looked whether what was told of when runs end is still true, ms. */
  #etasAt = -Infinity;
  /** By group: why its runs waited when we last looked. */
  readonly #reasons = new Map<GroupId, string | null>();

  constructor(sources: RowSources, status: StatusSources) {
    this.#sources = sources;
    this.#status = status;
  }

  touch(ids: Iterable<RunId>): void {
    for (const id of ids) {
      if (this.rows.has(id)) this.#stale.add(id);
      this.#changed.add(id);
    }
  }

  sweeps(): SweepSummary[] {
    return this.#status.sweeps();
  }

  /** All runs there are. */
  ids(): Iterable<RunId> {
    return this.#sources.loop.state.runs.keys();
  }

  /** The row as it is now; undefined for a run that is gone. */
  row(id: RunId): RunSummary | undefined {
    const known = this.rows.get(id);
    if (known !== undefined && !this.#stale.has(id)) return known;
    const run = this.#sources.loop.state.runs.get(id);
    this.#stale.delete(id);
    if (run === undefined) {
      this.rows.delete(id);
      return undefined;
    }
    const row = this.#row(run);
    this.rows.set(id, row);
    return row;
  }

  /**
   * Runs are being taken in: why they wait, and which of them start, is known when all are there, and worth telling then.
   * Where something keeps the supervisor from its work, what there is is told with that.
   */
  get isIncomplete(): boolean {
    return this.#sources.loop.state.intakes.length > 0 && this.#status.problem() === null;
  }

  /** Names the runs that have changed since the last time, gone ones included. */
  refresh(): RunId[] {
    this.#touchWaiting();
    this.#touchEtas();
    const changed = [...this.#changed];
    this.#changed = new Set();
    return changed;
  }

  status(): FleetStatus {
    const { state } = this.#sources.loop;
    const { unread, gpus, problem } = this.#status;
    const nodes = this.#status.nodes();
    const cpu = { slots: state.cpu.slots, busy: state.cpu.busy };
    const read = { recalled: unread() === 0, unread: unread() };
    const growing = growingGroups(state).map(growingSummary);
    const stuck = stuckSweeps(state);
    const further = { ...(growing.length === 0 ? {} : { growing }), ...(stuck.length === 0 ? {} : { stuck }) };
    const cluster = nodes === null ? {} : { nodes: [...nodes] };
    return { settled: isSettled(state), ...read, ...further, cpu, gpus: gpus(), ...cluster, problem: problem() };
  }

  #row(run: Run): RunSummary {
    const { loop, planned, contextOf, leftOf } = this.#sources;
    const plan = planned(run.id);
    const waiting = this.#remarkOn(run);
    const times = {
      wallTime: (at: number) => loop.clock.wallTime(at),
      left: leftOf(run),
      startsAt: startsAt(loop.state, run),
    };
    return runSummary(run, plan, { ...contextOf(plan), waiting, ...times });
  }

  /** Whether something changes as time passes: when runs end that are up. */
  get isLive(): boolean {
    return this.#sources.loop.state.active.size > 0;
  }

  /** When a run ends changes with the others and with time alone, as when it stands still. */
  #touchEtas(): void {
    const now = performance.now();
    if (now - this.#etasAt < ETA_MS) return;
    this.#etasAt = now;
    const { loop, leftOf } = this.#sources;
    const { state } = loop;
    for (const id of state.active) {
      const row = this.rows.get(id);
      if (row === undefined || this.#stale.has(id)) continue;
      if (isFar(row, leftOf(state.runs.get(id)!))) this.touch([id]);
    }
  }

  /** Why it is not up, or what comes after. */
  #remarkOn(run: Run): string | null {
    const { loop, delayOf } = this.#sources;
    const { phase } = run.state;
    const delay = phase === 'starting' ? delayOf(run.id) : waitingReason(loop.state, run.id);
    const continues = run.next !== null && (phase === 'starting' || phase === 'running');
    return delay ?? (continues ? 'continues with its larger budget after this attempt' : null);
  }

  /** The runs of a group wait for the same thing: where that changed, all their rows did. */
  #touchWaiting(): void {
    const { state } = this.#sources.loop;
    for (const [id, group] of state.groups) {
      const first = firstInLine(state, group);
      const reason = first === null ? null : waitingReason(state, first);
      if (reason === (this.#reasons.get(id) ?? null)) continue;
      this.#reasons.set(id, reason);
      this.touch(group.waiting);
    }
  }
}

function growingSummary({ id, open }: Group): NonNullable<FleetStatus['growing']>[number] {
  return { sweep: sweepOf(id), group: nameOf(id), cap: open!.cap };
}

/** Whether a person would read another time: by a second, or a twentieth of what is long; of a range, by more. */
function isFar({ etaSeconds, etaRange }: RunSummary, now: TimeRange | null): boolean {
  if (etaSeconds === null || now === null) return etaSeconds !== now;
  const isOff = (told: number, is: number, share: number) => Math.abs(told - is) >= Math.max(1, share * is);
  const [low, high] = etaRange!;
  return (
    isOff(etaSeconds, now.middle, ETA_SHARE) || isOff(low, now.low, RANGE_SHARE) || isOff(high, now.high, RANGE_SHARE)
  );
}

/** A run of the group that waits for what the others wait for: held ones and those that are to be tried again have reasons of their own. */
function firstInLine(state: SchedulerState, { waiting }: Group): RunId | null {
  for (const id of waiting) {
    const run = state.runs.get(id)!;
    const isOrdinary = run.hold === null && run.state.phase === 'waiting' && run.state.notBefore === null;
    // What a run waits for alone is told when that changes.
    if (isOrdinary && unmetRuns(state, run).length === 0) return id;
  }
  return null;
}
