import { divergenceOf } from '../../analysis/health/divergence.js';
import type { Ending } from '../../analysis/health/ending.js';
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
import { gpusOf } from '../../scheduler/placement/slot.js';
import type { Run, RunState } from '../../scheduler/run-state.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { EventLoop } from '../core/event-loop.js';
import { passTurn } from '../../processes/turn.js';
import type { MonitoredMetrics } from '../publish/run-view.js';
import type { Followed } from '../runs/watcher.js';
import type { DiskWatch } from './disk-watch.js';
import { LastingMarks } from './lasting-marks.js';
import { ObservedRun } from './observed-run.js';
import { Siblings } from './siblings.js';

/** For tests, and for whoever knows better; left out: as the rules say. ms. */
export type HealthTimes = { everyMs?: number | undefined; silenceMs?: number | undefined };

type HealthWatchTools = {
  state: Pick<SchedulerState, 'active' | 'runs' | 'groups'>;
  loop: Pick<EventLoop, 'changed'>;
  planned: (id: RunId) => PlannedRun | null;
  monitored: (id: RunId) => MonitoredMetrics;
  /** How an ended run ended; null: it is not known, or nothing can be judged of it. */
  endingOf: (id: RunId) => Ending | null;
  /** What was read of a run's metrics; null: it is behind what the run has written, or nothing has been read. */
  followedOf: (id: RunId, attempt: number) => Followed | null;
  /** As the driver says now; none where it says nothing. */
  gauges: () => readonly { readonly index: number; readonly utilization: number | null }[];
  disks: Pick<DiskWatch, 'of' | 'lookAt'>;
  /** A run that is up, or has just ended, has got this word. */
  unhealthy: (run: PlannedRun, finding: Finding) => void;
  /** On the scheduler's line, ms. */
  now: () => number;
};

/** Between looks, ms: no rule needs to know sooner, and every look wakes the processor. */
const LOOK_MS = 10_000;
/** A run that gets a word again which it had less than this ago is not told of again, ms. */
const RETELL_MS = 600_000;
/** Runs that are done, of each group, which those that are up are still compared with. */
const REMEMBERED = 32;

type Running = Extract<RunState, { phase: 'running' }>;

/**
 * Looks every few seconds how the runs do that are up, and finds the word for each; an observer of the event loop. What is said
 * is what was seen here: of a run that an earlier supervisor started, as little is known as of a new one.
 */
export class HealthWatch {
  readonly #tools: HealthWatchTools;
  readonly #times: HealthTimes;
  readonly #bornAt: number;
  readonly #observed = new Map<RunId, ObservedRun>();
  readonly #done = new Map<GroupId, ObservedRun[]>();
  readonly #gpus = new GpuIdleness();
  readonly #marks = new LastingMarks();
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;
  #isClosed = false;

  constructor(tools: HealthWatchTools, times: HealthTimes = {}) {
    this.#tools = tools;
    this.#times = times;
    this.#bornAt = tools.now();
  }

  /** Of a run that has ended, what its metrics tell; of one that is not running now, only what its metrics said last. */
  of(id: RunId): Health {
    const run = this.#tools.state.runs.get(id);
    const isOver = run?.state.phase === 'ended';
    const mark = isOver ? this.#marks.of(id) : null;
    const findings = runningState(run) === null ? [] : (this.#observed.get(id)?.findings ?? []);
    const { notFinite, metrics } = this.#tools.monitored(id);
    if (notFinite.length === 0 && findings.length === 0 && mark === null) return wellHealth;
    return joinedHealth(notFiniteFindings(notFinite, metrics, isOver), mark === null ? findings : [mark]);
  }

  follow(touched: ReadonlySet<RunId>): void {
    const { active, runs } = this.#tools.state;
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

  /** That a metric is no number is told as soon as it is read. */
  changed(ids: Iterable<RunId>): void {
    for (const id of ids) {
      const observed = this.#observed.get(id);
      const run = this.#tools.state.runs.get(id);
      if (run?.state.phase === 'ended') this.#mark(run, observed);
      if (observed === undefined) continue;
      if (this.#tools.monitored(id).notFinite.length > 0 || observed.word === 'nan') this.#settle(id, observed);
    }
  }

  /** The run has ended, and perhaps all that it wrote has been read now. */
  #mark({ id, group }: Run, observed: ObservedRun | undefined): void {
    const ending = this.#tools.endingOf(id);
    if (ending === null) return;
    const others = this.#marks.note(id, group, ending);
    const mark = this.#marks.of(id);
    // Whoever heard that it was diverging need not hear it again, nor of a run that ended before this supervisor was there.
    if (
      observed !== undefined &&
      mark !== null &&
      !observed.heldAt.has('diverging') &&
      !observed.heldAt.has(mark.word)
    ) {
      observed.heldAt.set(mark.word, this.#tools.now());
      this.#tools.unhealthy(observed.planned, mark);
    }
    if (others.length > 0) this.#tools.loop.changed(others);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #lookLater(): void {
    if (this.#timer !== null || this.#isLooking || this.#isClosed) return;
    const { everyMs = LOOK_MS } = this.#times;
    // With all others who look at whole seconds.
    const wait = everyMs >= 1000 ? untilWholeSecond(performance.now()) + everyMs - 1000 : everyMs;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.look();
    }, wait).unref();
  }

  /** Looks now, in short turns. It does so by itself while runs are up. */
  async look(): Promise<void> {
    this.#isLooking = true;
    await this.#observe();
    await this.#judge();
    this.#isLooking = false;
    if (this.#tools.state.active.size > 0) this.#lookLater();
  }

  async #observe(): Promise<void> {
    const { state, gauges, now, monitored, followedOf } = this.#tools;
    this.#gpus.note(now(), gauges());
    for (const id of [...state.active]) {
      const run = state.runs.get(id);
      const running = runningState(run, 'paused too');
      const observed = running === null ? undefined : (this.#observed.get(id) ?? this.#begin(id));
      if (run === undefined || running === null || observed === undefined) continue;
      const sight = { followed: followedOf(id, run.attempt), step: monitored(id).step, now: now() };
      observed.look(running, sight, running.since < this.#bornAt);
      await passTurn();
    }
    const directories = [...this.#observed.values()].map((observed) => observed.planned.directory);
    this.#tools.disks.lookAt(directories, now());
    for (const group of this.#done.keys()) if (!state.groups.has(group)) this.#done.delete(group);
  }

  #begin(id: RunId): ObservedRun | undefined {
    const { state, planned, now } = this.#tools;
    const [run, plan] = [state.runs.get(id), planned(id)];
    if (run === undefined || plan === null) return undefined;
    const observed = new ObservedRun(plan, run.attempt, now());
    this.#observed.set(id, observed);
    return observed;
  }

  async #judge(): Promise<void> {
    const { state, loop } = this.#tools;
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
    const now = this.#tools.now();
    const up = now - running.since - running.pausedMs;
    const { judged, rhythm, pace, planned, steadyFrom } = observed;
    const had = (word: Ailment) => observed.findings.some((finding) => finding.word === word);
    const room = this.#tools.disks.of(planned.directory);
    const found: Record<Exclude<Ailment, 'nan' | 'diverged' | 'collapsed'>, string | null> = {
      diverging: judged?.levels
        ? divergenceOf(judged.name, judged.levels, () => siblings.levelsOf(observed), had('diverging'))
        : null,
      disk: room === null ? null : scarcityOf(room, had('disk')),
      silent: rhythm === null ? null : silenceOf(rhythm, siblings.pausesOf(observed), up, this.#times.silenceMs),
      idle: this.#gpus.of(gpusOf(running.slot), steadyFrom, now),
      slow: slownessOf(pace, siblings.pacesOf(observed), had('slow')),
    };
    return Object.entries(found).flatMap(([word, reason]) =>
      reason === null ? [] : [{ word: word as Ailment, reason }],
    );
  }

  /** Tells of a word that is new, unless it comes and goes. */
  #settle(id: RunId, observed: ObservedRun): void {
    const { state, followedOf, unhealthy, now } = this.#tools;
    if (runningState(state.runs.get(id)) === null || followedOf(id, observed.attempt) === null) return;
    const { word, reason } = this.of(id);
    const isNew = word !== observed.word;
    observed.word = word;
    if (word === 'ok') return;
    const before = observed.heldAt.get(word) ?? -Infinity;
    observed.heldAt.set(word, now());
    if (isNew && now() - before >= RETELL_MS) unhealthy(observed.planned, { word, reason: reason ?? '' });
  }

  /** What a run that is done was like is what is usual in its group. */
  #remember({ group, state }: Run, observed: ObservedRun): void {
    if (state.phase !== 'ended' || state.outcome.kind !== 'done' || state.since === null) return;
    observed.conclude(state.since, state.at);
    const done = this.#done.get(group) ?? [];
    done.push(observed);
    this.#done.set(group, done.slice(-REMEMBERED));
  }
}

/** Null: it is not up, or being ended. A paused run does nothing, and nothing is wrong with that. */
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
