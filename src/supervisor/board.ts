import type { GroupId, RunId } from '../base/ids.js';
import type { FleetStatus, GpuStatus } from '../protocol/fleet-status.js';
import type { RunSummary, SweepSummary } from '../protocol/run-summary.js';
import type { SchedulerState } from '../scheduler/state.js';
import { isSettled, waitingReason } from '../scheduler/waiting-reason.js';
import type { PlannedRun } from '../spec/planned-run.js';
import { runSummary, type Vitals } from './run-view.js';

/** Where the rows come from. */
export type BoardSources = {
  state: SchedulerState;
  planned: (id: RunId) => PlannedRun;
  vitals: (id: RunId) => Vitals;
  sweeps: () => SweepSummary[];
};

/**
 * The rows that all clients see. A row is a new object when something in it changed, and the same one otherwise, so that
 * each client's copy can be compared by identity.
 */
export class Board {
  readonly rows = new Map<RunId, RunSummary>();
  readonly #sources: BoardSources;
  readonly #stale = new Set<RunId>();
  /** By group: why its runs waited when we last looked. */
  readonly #reasons = new Map<GroupId, string | null>();
  /** What keeps the supervisor from recording events, in words. */
  problem: string | null = null;

  constructor(sources: BoardSources) {
    this.#sources = sources;
  }

  touch(ids: Iterable<RunId>): void {
    for (const id of ids) this.#stale.add(id);
  }

  sweeps(): SweepSummary[] {
    return this.#sources.sweeps();
  }

  /** Brings the rows up to date and names those that changed, gone ones included. */
  refresh(): RunId[] {
    this.#touchWaiting();
    const { state, planned, vitals } = this.#sources;
    const changed = [...this.#stale];
    this.#stale.clear();
    for (const id of changed) {
      const run = state.runs.get(id);
      if (run === undefined) this.rows.delete(id);
      else this.rows.set(id, runSummary(run, planned(id), vitals(id), waitingReason(state, id)));
    }
    return changed;
  }

  status(): FleetStatus {
    const { state } = this.#sources;
    const gpus = state.gpu.gpus.map((index): GpuStatus => ({
      ...{ index, name: null, uuid: null, drained: false, memoryTotal: null, memoryUsed: null, utilization: null },
      ...{ temperature: null, power: null, foreign: [], leasedBy: null, mps: false },
      runs: [...(state.gpu.shares.get(index)?.keys() ?? [])],
    }));
    const cpu = { slots: state.cpu.slots, busy: state.cpu.holders.size };
    return { settled: isSettled(state), cpu, gpus, problem: this.problem };
  }

  /** The runs of a group wait for the same thing: where that changed, all their rows did. */
  #touchWaiting(): void {
    const { state } = this.#sources;
    for (const [id, group] of state.groups) {
      const [first] = group.waiting;
      const reason = first === undefined ? null : waitingReason(state, first);
      if (reason === (this.#reasons.get(id) ?? null)) continue;
      this.#reasons.set(id, reason);
      this.touch(group.waiting);
    }
  }
}
