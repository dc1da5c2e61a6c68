import { divergenceOf, explosionOf, type Levels } from '../../analysis/health/divergence.js';
import { EndedSiblings, type Ending } from '../../analysis/health/ending.js';
import {
  type Finding,
  type Health,
  joinedHealth,
  notFiniteFindings,
  wellHealth,
} from '../../analysis/health/finding.js';
import { slownessOf } from '../../analysis/health/pace.js';
import { GpuIdleness, scarcityOf } from '../../analysis/health/resources.js';
import { silenceOf } from '../../analysis/health/silence.js';
import { groupBy } from '../../base/group-by.js';
import type { GroupId, RunId } from '../../base/ids.js';
import { untilWholeSecond } from '../../base/lazy.js';
import type { Ailment } from '../../base/run-words.js';
import { passTurn } from '../../processes/turn.js';
import { gpusOf } from '../../scheduler/placement/slot.js';
import type { Run, RunState, SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { EventLoop } from '../core/event-loop.js';
import type { JudgedLevels } from '../reading/reading-messages.js';
import type { Watcher } from '../runs/watcher.js';
import type { DiskWatch } from './disk-watch.js';
import { ObservedRun, Siblings } from './observed-run.js';

/** Up to so many ended runs of a group are all judged again at each end; beyond, only when their number has grown by this share. */
const FEW = 256;
const GROWTH = 1 / 64;

type Group = {
  readonly endings: Map<RunId, Ending>;
  /** The endings when `looked` runs were known. */
  siblings: EndedSiblings;
  looked: number;
};

/** The marks that runs keep after their end. Each run is compared with others of its group, which may end later. */
class LastingMarks {
  readonly #groups = new Map<GroupId, Group>();
  readonly #groupOf = new Map<RunId, GroupId>();
  readonly #marks = new Map<RunId, Finding>();

  /** The mark of a run; null: it ended well, or that is unknown. */
  of(id: RunId): Finding | null {
    return this.#marks.get(id) ?? null;
  }

  /** Adds an ended run. @returns Other runs of its group whose mark has changed. */
  note(id: RunId, groupId: GroupId, ending: Ending): RunId[] {
    const group = this.#groups.get(groupId) ?? { endings: new Map(), siblings: new EndedSiblings([]), looked: 0 };
    if (group.endings.get(id) === ending) return [];
    this.#groups.set(groupId, group);
    this.#groupOf.set(id, groupId);
    group.endings.set(id, ending);
    this.#mark(id, group.siblings.markOf(ending));
    const { size } = group.endings;
    return size > FEW && size <= group.looked * (1 + GROWTH)
      ? []
      : this.#lookAgain(group).filter((each) => each !== id);
  }

  /** Forgets a run that starts again, or was removed. */
  forget(id: RunId): void {
    const groupId = this.#groupOf.get(id);
    if (groupId === undefined) return;
    this.#groupOf.delete(id);
    this.#marks.delete(id);
    const { endings } = this.#groups.get(groupId)!;
    endings.delete(id);
    if (endings.size === 0) this.#groups.delete(groupId);
  }

  #lookAgain(group: Group): RunId[] {
    group.looked = group.endings.size;
    group.siblings = new EndedSiblings(group.endings.values());
    return [...group.endings].flatMap(([id, ending]) => (this.#mark(id, group.siblings.markOf(ending)) ? [id] : []));
  }

  /** Sets a mark. @returns Whether it has changed. */
  #mark(id: RunId, mark: Finding | null): boolean {
    const before = this.#marks.get(id);
    if (mark === null) this.#marks.delete(id);
    else this.#marks.set(id, mark);
    return before?.word !== mark?.word || before?.reason !== mark?.reason;
  }
}

/** Times for tests and special cases, ms; absent: the defaults. */
export type HealthTimes = { everyMs?: number | undefined; silenceMs?: number | undefined };

type HealthWatchPorts = {
  loop: { readonly state: Pick<SchedulerState, 'active' | 'runs' | 'groups'> } & Pick<EventLoop, 'now' | 'changed'>;
  planned: (id: RunId) => PlannedRun | null;
  watcher: Pick<Watcher, 'vitals' | 'endingOf' | 'followedOf'>;
  /** Present utilization of the GPUs; empty if the driver does not answer. */
  gauges: () => readonly { readonly index: number; readonly utilization: number | null }[];
  disks: Pick<DiskWatch, 'of' | 'lookAt'>;
  /** Called when a run that is up, or has just ended, gets a health word. */
  unhealthy: (run: PlannedRun, finding: Finding) => void;
};

/** Interval of looks, ms: no rule needs a shorter one, and every look wakes the processor. */
const LOOK_MS = 10_000;
/** A health word that a run had within this time is not notified again, ms. */
const RETELL_MS = 600_000;
/** Number of done runs in each group with which live ones are still compared. */
const REMEMBERED = 32;

type Running = Extract<RunState, { phase: 'running' }>;

/**
 * Determines the health of live runs every few seconds; an observer of the event loop. It only uses its own observations: of a run
 * that an earlier supervisor started, as little is known as of a new one.
 */
export class HealthWatch {
  readonly #ports: HealthWatchPorts;
  readonly #times: HealthTimes;
  readonly #bornAt: number;
  readonly #observed = new Map<RunId, ObservedRun>();
  readonly #done = new Map<GroupId, ObservedRun[]>();
  readonly #gpus = new GpuIdleness();
  readonly #marks = new LastingMarks();
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;
  #isClosed = false;

  constructor(ports: HealthWatchPorts, times: HealthTimes = {}) {
    this.#ports = ports;
    this.#times = times;
    this.#bornAt = ports.loop.now();
  }

  /** The health of a run: for an ended one by its metrics, for one that is not running now by its last metrics. */
  of(id: RunId): Health {
    const run = this.#ports.loop.state.runs.get(id);
    const isOver = run?.state.phase === 'ended';
    const mark = isOver ? this.#marks.of(id) : null;
    const findings = runningState(run) === null ? [] : (this.#observed.get(id)?.findings ?? []);
    const { notFinite, metrics, exceeded } = this.#ports.watcher.vitals(id);
    const others = [mark ?? findings, exceeded ?? []].flat();
    if (notFinite.length === 0 && others.length === 0) return wellHealth;
    return joinedHealth(notFiniteFindings(notFinite, metrics, isOver), others);
  }

  follow(touched: ReadonlySet<RunId>): void {
    const { active, runs } = this.#ports.loop.state;
    for (const id of touched) {
      const observed = this.#observed.get(id);
      const run = runs.get(id);
      if (run?.state.phase === 'ended') this.#mark(run, observed);
      else this.#marks.forget(id);
      if (observed === undefined || (run !== undefined && 'pid' in run.state && run.attempt === observed.attempt))
        continue;
      this.#observed.delete(id);
      if (run !== undefined) this.#remember(run, observed);
    }
    if (active.size > 0) this.#lookLater();
  }

  /** Reports a NaN, or an exceeded limit, as soon as it is read. */
  changed(ids: Iterable<RunId>): void {
    for (const id of ids) {
      const observed = this.#observed.get(id);
      const run = this.#ports.loop.state.runs.get(id);
      if (run?.state.phase === 'ended') this.#mark(run, observed);
      if (observed === undefined) continue;
      const { notFinite, exceeded } = this.#ports.watcher.vitals(id);
      if (notFinite.length > 0 || exceeded || observed.word === 'nan') this.#settle(id, observed);
    }
  }

  /** Marks an ended run, perhaps when all its rows have been read. */
  #mark({ id, group }: Run, observed: ObservedRun | undefined): void {
    const ending = this.#ports.watcher.endingOf(id);
    if (ending === null) return;
    const others = this.#marks.note(id, group, ending);
    const mark = this.#marks.of(id);
    // A run that was reported as diverging is not reported again, nor is one that ended before this supervisor started.
    if (
      observed !== undefined &&
      mark !== null &&
      !observed.heldAt.has('diverging') &&
      !observed.heldAt.has(mark.word)
    ) {
      observed.heldAt.set(mark.word, this.#ports.loop.now());
      this.#ports.unhealthy(observed.planned, mark);
    }
    if (others.length > 0) this.#ports.loop.changed(others);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #lookLater(): void {
    if (this.#timer !== null || this.#isLooking || this.#isClosed) return;
    const { everyMs = LOOK_MS } = this.#times;
    // Aligned with all other timers at whole seconds.
    const wait = everyMs >= 1000 ? untilWholeSecond(performance.now()) + everyMs - 1000 : everyMs;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.look();
    }, wait).unref();
  }

  /** Looks now, in short turns. Called regularly while runs are up. */
  async look(): Promise<void> {
    this.#isLooking = true;
    await this.#observe();
    await this.#judge();
    this.#isLooking = false;
    if (this.#ports.loop.state.active.size > 0) this.#lookLater();
  }

  async #observe(): Promise<void> {
    const { loop, gauges, watcher } = this.#ports;
    const { state } = loop;
    this.#gpus.note(loop.now(), gauges());
    for (const id of [...state.active]) {
      const run = state.runs.get(id);
      const running = runningState(run, 'paused too');
      const observed = running === null ? undefined : (this.#observed.get(id) ?? this.#begin(id));
      if (run === undefined || running === null || observed === undefined) continue;
      const sight = {
        followed: watcher.followedOf(id, run.attempt),
        step: watcher.vitals(id).step,
        now: loop.now(),
      };
      observed.look(running, sight, running.since < this.#bornAt);
      await passTurn();
    }
    const directories = [...this.#observed.values()].map((observed) => observed.planned.directory);
    this.#ports.disks.lookAt(directories, loop.now());
    for (const group of this.#done.keys()) if (!state.groups.has(group)) this.#done.delete(group);
  }

  #begin(id: RunId): ObservedRun | undefined {
    const { loop, planned } = this.#ports;
    const { state } = loop;
    const [run, plan] = [state.runs.get(id), planned(id)];
    if (run === undefined || plan === null) return undefined;
    const observed = new ObservedRun(plan, run.attempt, loop.now());
    this.#observed.set(id, observed);
    return observed;
  }

  async #judge(): Promise<void> {
    const { loop } = this.#ports;
    const { state } = loop;
    const groups = groupBy(this.#observed, ([id]) => state.runs.get(id)?.group ?? null);
    for (const [group, members] of groups) {
      if (group === null) continue;
      const siblings = new Siblings([...(this.#done.get(group) ?? []), ...members.map(([, observed]) => observed)]);
      for (const [id, observed] of members) {
        if (this.#isClosed) return;
        const running = runningState(state.runs.get(id));
        const findings = running === null ? [] : this.#findings(observed, running, siblings);
        if (!isSame(findings, observed.findings)) {
          observed.findings = findings;
          loop.changed([id]);
        }
        this.#settle(id, observed);
        await passTurn();
      }
    }
  }

  #findings(observed: ObservedRun, running: Running, siblings: Siblings): Finding[] {
    const now = this.#ports.loop.now();
    const up = now - running.since - running.pausedMs;
    const { judged, rhythm, pace, planned, steadyFrom } = observed;
    const had = (word: Ailment) => observed.findings.some((finding) => finding.word === word);
    const room = this.#ports.disks.of(planned.directory);
    const wasBad = had('diverging') || had('collapsed');
    const course = judged === null ? null : courseFinding(judged, () => siblings.levelsOf(observed), wasBad);
    const found: Partial<Record<Ailment, string | null>> = {
      disk: room === null ? null : scarcityOf(room, had('disk')),
      silent: rhythm === null ? null : silenceOf(rhythm, siblings.pausesOf(observed), up, this.#times.silenceMs),
      idle: this.#gpus.of(gpusOf(running.slot), steadyFrom, now),
      slow: slownessOf(pace, siblings.pacesOf(observed), had('slow')),
    };
    const others = Object.entries(found).flatMap(([word, reason]) =>
      reason === null ? [] : [{ word: word as Ailment, reason }],
    );
    return course === null ? others : [course, ...others];
  }

  /** Reports a new health word, unless it had it shortly before. */
  #settle(id: RunId, observed: ObservedRun): void {
    const { loop, watcher, unhealthy } = this.#ports;
    const { state } = loop;
    if (runningState(state.runs.get(id)) === null || watcher.followedOf(id, observed.attempt) === null) return;
    const { word, reason } = this.of(id);
    const isNew = word !== observed.word;
    observed.word = word;
    if (word === 'ok') return;
    const before = observed.heldAt.get(word) ?? -Infinity;
    observed.heldAt.set(word, loop.now());
    if (isNew && loop.now() - before >= RETELL_MS) unhealthy(observed.planned, { word, reason: reason ?? '' });
  }

  /** Remembers a done run as an example of its group. */
  #remember({ group, state }: Run, observed: ObservedRun): void {
    if (state.phase !== 'ended' || state.outcome.kind !== 'done' || state.since === null) return;
    observed.conclude(state.since, state.at);
    const done = this.#done.get(group) ?? [];
    done.push(observed);
    this.#done.set(group, done.slice(-REMEMBERED));
  }
}

/** A loss that explodes is told first, whatever the run is judged by, as it is of an ended run. */
function courseFinding(
  { name, levels, loss }: JudgedLevels,
  siblings: () => readonly Levels[],
  wasBad: boolean,
): Finding | null {
  const exploded = loss?.levels ? explosionOf(loss.name, loss.levels) : null;
  return exploded ?? (levels === null ? null : divergenceOf(name, levels, siblings, wasBad));
}

/** The state of a running run; null: it is not up, or being ended. A paused run cannot be unhealthy. */
function runningState(run: Run | undefined, whichToo?: 'paused too'): Running | null {
  if (run?.state.phase !== 'running') return null;
  return whichToo === undefined && run.state.pausedAt !== null ? null : run.state;
}

function isSame(some: readonly Finding[], others: readonly Finding[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ word, reason }, place) => word === others[place]!.word && reason === others[place]!.reason)
  );
}
