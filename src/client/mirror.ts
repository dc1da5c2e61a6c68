import { formerHealths } from '../base/run-words.js';
import type { ServerMessage } from '../protocol/message.js';
import type { FleetStatus, RunSummary, SweepSummary } from '../protocol/run-summary.js';

/** The supervisor's state as one connection has sent it. A changed run is a new object. */
export class Mirror {
  readonly sweeps = new Map<string, SweepSummary>();
  readonly runs = new Map<RunSummary['id'], RunSummary>();
  status: FleetStatus = { settled: false, recalled: false, cpu: { slots: 0, busy: 0 }, gpus: [], problem: null };
  /** Whether the whole initial state has arrived. */
  complete = false;
  /** Sweeps in which a run has been added, or moved, before existing ones. */
  readonly #unordered = new Set<string>();
  /** The place of the last run of each sweep. */
  readonly #lastPlaces = new Map<string, number>();

  /** Applies messages that arrived together; returns those that do not concern the state. */
  takeAll(messages: readonly ServerMessage[]): ServerMessage[] {
    const others = messages.filter((message) => !this.#take(message));
    if (this.#unordered.size > 0) this.#putInOrder();
    return others;
  }

  #take(message: ServerMessage): boolean {
    switch (message.type) {
      case 'sweeps':
        this.sweeps.clear();
        for (const sweep of message.sweeps) this.sweeps.set(sweep.name, sweep);
        return true;
      case 'runs':
        for (const run of message.runs) this.#add(run);
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
      if (run === undefined) continue;
      this.runs.set(patch.id, understood({ ...asSent(run), ...patch }));
      if (patch.place !== undefined && patch.place !== run.place) this.#unordered.add(run.sweep);
    }
    return true;
  }

  #add(run: RunSummary): void {
    const { id, sweep, place } = run;
    this.runs.set(id, understood(run));
    if (place === undefined) return;
    const last = this.#lastPlaces.get(sweep) ?? -1;
    if (place < last) this.#unordered.add(sweep);
    else this.#lastPlaces.set(sweep, place);
  }

  /** Sorts the runs of the changed sweeps by their place; the runs of other sweeps keep their positions. */
  #putInOrder(): void {
    const sorted = new Map<string, Iterator<RunSummary>>();
    const all = [...this.runs.values()];
    for (const sweep of this.#unordered) {
      const own = all.filter((run) => run.sweep === sweep).sort((a, b) => (a.place ?? 0) - (b.place ?? 0));
      this.#lastPlaces.set(sweep, own.at(-1)?.place ?? -1);
      sorted.set(sweep, own.values());
    }
    this.#unordered.clear();
    this.runs.clear();
    for (const run of all) {
      const next = (sorted.get(run.sweep)?.next().value as RunSummary | undefined) ?? run;
      this.runs.set(next.id, next);
    }
  }
}

/** Translates a received run: an older supervisor may use former words for health, and JSON has no infinities. */
function understood(run: RunSummary): RunSummary {
  const health = (formerHealths as Readonly<Partial<Record<string, RunSummary['health']>>>)[run.health];
  const known = health === undefined ? run : { ...run, health };
  return known.infinite ? { ...known, metrics: withInfinities(known.metrics, known.infinite) } : known;
}

/** The run as it was sent, with null for infinities: a patch that only changes `infinite` does not repeat the metrics. */
function asSent(run: RunSummary): RunSummary {
  if (!run.infinite) return run;
  const nulls = Object.fromEntries(Object.keys(run.infinite).map((key) => [key, null]));
  return { ...run, metrics: { ...run.metrics, ...nulls } };
}

function withInfinities(metrics: RunSummary['metrics'], infinite: NonNullable<RunSummary['infinite']>) {
  const values = Object.entries(infinite).map(([key, word]) => [key, word === 'inf' ? Infinity : -Infinity] as const);
  return { ...metrics, ...Object.fromEntries(values) };
}
