import { commonValues, conditionsText, hasValues } from '../../analysis/failures/failure-causes.js';
import type { GpuIndex, RunId } from '../../base/ids.js';
import { isSeedName, type Parameters } from '../../base/scalar.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import { gpusOf } from '../../scheduler/placement/slot.js';
import { type Group, isActive, type Run, type SchedulerState } from '../../scheduler/state.js';

type EvidenceTools = { readonly state: SchedulerState; readonly now: () => number };

/** A GPU on which runs fail while others last elsewhere. `hasWorked`: runs have lasted on it before. */
type Suspect = { readonly gpu: GpuIndex; readonly hasWorked: boolean };

/** A run elsewhere has lasted when it has been up for so many times as long as the failures took. */
const LASTED = 1.5;

/**
 * Which GPUs runs fail on, and on which they last. Known of the attempts since the supervisor started, as events do not name the slot
 * of an attempt that has ended.
 */
class GpuEvidence {
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

type JudgeTools = {
  readonly state: SchedulerState;
  readonly parametersOf: (id: RunId) => Parameters | null;
  readonly tell: (event: SchedulerEvent) => void;
  readonly now: () => number;
};

/** Values that failed runs have in common, in words, and which runs have them. */
type Values = { readonly values: string; readonly includes: (id: RunId) => boolean };
type Explanation = Values | Suspect;

/** A group in which nothing has lasted is broken as a whole when its breaker has held it so often. */
const MOST_TRIES = 3;

/**
 * Finds out what a breaker is to hold; an observer of the event loop. The scheduler, which knows no parameters, holds all that waits
 * of the group. If the failed runs have values in common that no run has which lasted, only the runs with these values stay held,
 * and the others go on: a batch size that does not fit is no reason to leave the machine idle for the night.
 */
export class BreakerJudge {
  readonly #tools: JudgeTools;
  readonly #evidence: GpuEvidence;
  /** Which runs have the values that are held, by these in words. */
  readonly #held = new Map<string, Values['includes']>();
  /** GPUs that were held, with the runs that failed on them. */
  readonly #guilty = new Map<GpuIndex, ReadonlySet<RunId>>();

  constructor(tools: JudgeTools) {
    this.#tools = tools;
    this.#evidence = new GpuEvidence(tools);
  }

  heard(event: SchedulerEvent, touched: ReadonlySet<RunId>): void {
    this.#evidence.heard(event);
    // What a user decides about a GPU stays.
    if (event.type === 'drain-requested' && event.reason === undefined) {
      for (const gpu of event.gpus) this.#guilty.delete(gpu);
    }
    if (event.type !== 'run-ended' && event.type !== 'launch-failed') return;
    const { state, tell, now } = this.#tools;
    const run = state.runs.get(event.id);
    const group = run === undefined ? undefined : state.groups.get(run.group);
    const held = group === undefined ? undefined : heldByBreaker(touched, group, state)[0];
    if (group === undefined || held?.hold?.by !== 'breaker') return;
    const { reason } = held.hold;
    const found = this.#explanation(group);
    if (found !== null && 'gpu' in found) return this.#holdGpu(found.gpu, group, reason);
    // The answer is an event in any case: what is said of the hold follows it.
    if (found === null)
      return tell({ type: 'hold-requested', at: now(), ids: [held.id], reason, breaker: { values: null } });
    const { values, includes } = found;
    this.#held.set(values, includes);
    this.#acquit(group, includes);
    const all = heldByBreaker(group.waiting, group, state).filter(
      ({ hold }) => hold?.by === 'breaker' && hold.values === undefined,
    );
    const ids = (some: readonly Run[]) => some.map(({ id }) => id);
    tell({ type: 'release-requested', at: now(), ids: ids(all.filter(({ id }) => !includes(id))) });
    const kept = ids(all.filter(({ id }) => includes(id)));
    if (kept.length === 0) return;
    tell({
      type: 'hold-requested',
      at: now(),
      ids: kept,
      reason: `${reason}, all with ${values}`,
      breaker: { values },
    });
  }

  /** Holds a GPU instead of runs. Runs that were held because of failures on it alone may start elsewhere. */
  #holdGpu(gpu: GpuIndex, group: Group, reason: string): void {
    const { state, tell, now } = this.#tools;
    const at = now();
    this.#guilty.set(gpu, new Set(group.quickFailures));
    tell({
      type: 'drain-requested',
      at,
      gpus: [gpu],
      drained: true,
      reason: `${reason} on it, and others last elsewhere`,
    });
    const isCleared = ({ hold }: Run) => {
      if (hold?.by !== 'breaker') return false;
      const includes = hold.values === undefined ? undefined : this.#held.get(hold.values);
      return includes === undefined
        ? hold.values === undefined
        : this.#evidence.wereOn(gpu, [...group.broken].filter(includes));
    };
    const ids = heldByBreaker(group.waiting, group, state)
      .filter(isCleared)
      .map(({ id }) => id);
    tell({ type: 'release-requested', at, ids });
  }

  /** Lets a GPU take runs again where the values that are held now explain all that failed on it. */
  #acquit({ runs }: Group, includes: (id: RunId) => boolean): void {
    const { tell, now } = this.#tools;
    for (const [gpu, failed] of this.#guilty) {
      if (![...failed].every((id) => runs.has(id) && includes(id))) continue;
      this.#guilty.delete(gpu);
      tell({ type: 'drain-requested', at: now(), gpus: [gpu], drained: false });
    }
  }

  /**
   * What goes with the failures. A GPU on which nothing has ever lasted comes before values, unless runs with these values failed
   * elsewhere, too; one that has worked comes after them.
   */
  #explanation(group: Group): Explanation | null {
    const suspect = this.#evidence.suspect(group);
    const values = this.#values(group);
    if (suspect === null) return values;
    const alsoElsewhere =
      values !== null && !this.#evidence.wereOn(suspect.gpu, [...group.broken].filter(values.includes));
    return values === null || (!suspect.hasWorked && !alsoElsewhere) ? suspect : values;
  }

  /** The values that go with the failures: those of all failed runs of the group, else those of the last in a row; null: none do. */
  #values(group: Group): Values | null {
    const lasted = this.#lasted(group);
    if (lasted.length === 0 && group.trips >= MOST_TRIES) return null;
    const all = this.#parametersOf(group.runs);
    for (const failed of [new Set([...group.broken, ...group.quickFailures]), group.quickFailures]) {
      const common = commonValues(this.#parametersOf(failed), all);
      const settings = common.filter(({ parameter }) => !isSeedName(parameter));
      // A seed alone explains nothing, but a setting may fail with one seed and last with another.
      for (const values of settings.length === 0 ? [] : [settings, common]) {
        const includes = (id: RunId) => hasValues(this.#tools.parametersOf(id) ?? {}, values);
        if (!lasted.some(includes)) return { values: conditionsText(values), includes };
      }
    }
    return null;
  }

  /** Runs of the group that are done, or have been up for longer than failures that count. */
  #lasted({ runs, done, breaker }: Group): RunId[] {
    const { state, now } = this.#tools;
    const isLongUp = (id: RunId) => {
      const { state: own } = state.runs.get(id)!;
      return own.phase === 'running' && now() - own.since > breaker!.withinMs;
    };
    return [...done, ...[...state.active].filter((id) => runs.has(id) && isLongUp(id))];
  }

  /** Of a run that is forgotten: none. */
  #parametersOf(ids: Iterable<RunId>): Parameters[] {
    return [...ids].map((id) => this.#tools.parametersOf(id) ?? {});
  }
}

function heldByBreaker(ids: Iterable<RunId>, { id: group }: Group, { runs }: SchedulerState): Run[] {
  const all = [...ids].flatMap((id) => runs.get(id) ?? []);
  return all.filter((run) => run.group === group && run.hold?.by === 'breaker');
}
