import type { GpuIndex, RunId } from '../../base/ids.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import { gpusOf } from '../../scheduler/placement/slot.js';
import { isActive, type Run } from '../../scheduler/run-state.js';
import type { Group, SchedulerState } from '../../scheduler/state.js';

type EvidenceTools = { readonly state: SchedulerState; readonly now: () => number };

/** A GPU on which runs fail while others last elsewhere. `hasWorked`: runs have lasted on it before. */
export type Suspect = { readonly gpu: GpuIndex; readonly hasWorked: boolean };

/** A run elsewhere has lasted when it has been up for so many times as long as the failures took. */
const LASTED = 1.5;

/**
 * Which GPUs runs fail on, and on which they last. Known of the attempts since the supervisor started, as events do not name the slot
 * of an attempt that has ended.
 */
export class GpuEvidence {
  readonly #tools: EvidenceTools;
  /** The GPUs of the last attempt of each run. */
  readonly #places = new Map<RunId, readonly GpuIndex[]>();
  /** When a run last proved that a GPU works, by being done, or by having lasted there. */
  readonly #worked = new Map<GpuIndex, number>();

  constructor(tools: EvidenceTools) {
    this.#tools = tools;
  }

  heard(event: SchedulerEvent): void {
    if (event.type !== 'run-started' && event.type !== 'run-ended') return;
    const run = this.#tools.state.runs.get(event.id);
    if (run === undefined) return;
    if (isActive(run.state)) this.#places.set(run.id, gpusOf(run.state.slot));
    else if (event.type === 'run-ended' && event.outcome.kind === 'done') this.#note(run.id);
  }

  /** Whether all of these runs have failed on that GPU. */
  wereOn(gpu: GpuIndex, runs: Iterable<RunId>): boolean {
    return [...runs].every((id) => this.#places.get(id)?.includes(gpu));
  }

  /** The GPU that all the quick failures of a group have in common, if runs last elsewhere and none does there; null: there is none. */
  suspect({ quickFailures }: Pick<Group, 'quickFailures'>): Suspect | null {
    const { runs } = this.#tools.state;
    const failed = [...quickFailures].map((id) => runs.get(id)!);
    const [first] = failed;
    if (first === undefined) return null;
    const since = Math.min(...failed.map(startOf));
    const longest = Math.max(...failed.map((run) => endOf(run) - startOf(run)));
    const lasting = this.#lasting(since, LASTED * longest);
    const common = (this.#places.get(first.id) ?? []).find(
      (gpu) => this.wereOn(gpu, quickFailures) && !lasting.has(gpu),
    );
    if (common === undefined || lasting.size === 0) return null;
    return { gpu: common, hasWorked: this.#worked.has(common) };
  }

  /** GPUs on which runs have lasted since a time: they were done there, or have been up for so long. */
  #lasting(since: number, upMs: number): Set<GpuIndex> {
    const { state, now } = this.#tools;
    const lasting = new Set([...this.#worked].flatMap(([gpu, at]) => (at > since ? [gpu] : [])));
    for (const id of state.active) {
      const { state: own } = state.runs.get(id)!;
      if (own.phase !== 'running' || now() - own.since < upMs) continue;
      for (const gpu of gpusOf(own.slot)) lasting.add(gpu);
    }
    return lasting;
  }

  #note(id: RunId): void {
    for (const gpu of this.#places.get(id) ?? []) this.#worked.set(gpu, this.#tools.now());
  }
}

function startOf({ past }: Run): number {
  return past.at(-1)?.[0] ?? Infinity;
}

function endOf({ past }: Run): number {
  return past.at(-1)?.[1] ?? 0;
}
