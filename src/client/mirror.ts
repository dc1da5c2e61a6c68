import type { ServerMessage } from '../protocol/message.js';
import type { FleetStatus, RunSummary, SweepSummary } from '../protocol/run-summary.js';

/** What one connection has told of the supervisor's state. A changed run is a new object. */
export class Mirror {
  readonly sweeps = new Map<string, SweepSummary>();
  readonly runs = new Map<RunSummary['id'], RunSummary>();
  status: FleetStatus = { settled: false, recalled: false, cpu: { slots: 0, busy: 0 }, gpus: [], problem: null };
  /** Everything there was at the beginning has arrived. */
  complete = false;

  /** Takes a message in; false when it is not about the state. */
  take(message: ServerMessage): boolean {
    switch (message.type) {
      case 'sweeps':
        this.sweeps.clear();
        for (const sweep of message.sweeps) this.sweeps.set(sweep.name, sweep);
        return true;
      case 'runs':
        for (const run of message.runs) this.runs.set(run.id, run);
        return true;
      case 'removed':
        for (const id of message.ids) this.runs.delete(id);
        return true;
      case 'status':
        this.status = message.status;
        return true;
      case 'ready':
        this.complete = true;
        return true;
      default:
        return this.#patch(message);
    }
  }

  #patch(message: ServerMessage): boolean {
    if (message.type !== 'patches') return false;
    for (const patch of message.patches) {
      const run = this.runs.get(patch.id);
      if (run !== undefined) this.runs.set(patch.id, { ...run, ...patch });
    }
    return true;
  }
}
