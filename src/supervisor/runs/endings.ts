import { after } from '../../base/eventually.js';
import type { RunId } from '../../base/ids.js';
import type { Ending, LeakedProcess } from '../../executors/executor.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { EventLoop } from '../core/event-loop.js';
import type { GpuWatch } from '../gpus/gpu-watch.js';
import type { OutcomeOf } from './exit-classification.js';
import type { PlannedRuns } from './submission-store.js';
import { leakedProcessWords, type Warnings } from './warnings.js';
import type { Watcher } from './watcher.js';

type EndingPorts = {
  loop: Pick<EventLoop, 'state' | 'now' | 'tell'>;
  plannedRuns: Pick<PlannedRuns, 'of'>;
  gpus: Pick<GpuWatch, 'ended'>;
  watcher: Pick<Watcher, 'catchUp'>;
  warnings: Pick<Warnings, 'set' | 'tookOver'>;
  outcomeOf: OutcomeOf;
};

/** Hears of the ends of attempts from the executor, and tells what they mean, as events. */
export class Endings {
  /** Why starts came to nothing a moment ago. */
  readonly shortage: Shortage;
  readonly #ports: EndingPorts;

  constructor(ports: EndingPorts) {
    this.#ports = ports;
    this.shortage = new Shortage(() => ports.loop.now());
  }

  /** `leaked`: processes of the run that are still there. */
  ended(id: RunId, attempt: number, ending: Ending, leaked: readonly LeakedProcess[] = []): void {
    const { loop, plannedRuns, gpus, watcher, warnings, outcomeOf } = this.#ports;
    const plan = plannedRuns.of(id);
    if (plan === null) return;
    const wasKilled = loop.state.runs.get(id)?.state.phase === 'killing';
    const gpuMemory = gpus.ended(id);
    if (ending.kind === 'not-run') this.shortage.note(ending.shortage);
    const tell = (event: SchedulerEvent) => {
      loop.tell(event.type === 'run-ended' && gpuMemory !== null ? { ...event, gpuMemory } : event);
      warnings.set(id, 'processes', leakedProcessWords(leaked, wasKilled));
    };
    const tellEnd = () => withEnd({ id, attempt, plan, ending }, { outcomeOf, now: () => loop.now(), tell });
    // Its last row may say that its siblings need not start in its place.
    if (plan.objective?.target === undefined) tellEnd();
    else watcher.catchUp(plan, attempt, tellEnd);
  }

  /** An attempt that was still up from before goes on as the one that was to be started. */
  tookOver(id: RunId, orphan: number, pid: number): void {
    this.#ports.warnings.tookOver(id, orphan, pid);
  }

  /** A run that nobody can reach may still be running: it is taken for ended only because a person says so. */
  mayGiveUp(id: RunId): boolean {
    const state = this.#ports.loop.state.runs.get(id)?.state;
    return state?.phase === 'killing' && state.stop.kind === 'asked';
  }
}

/** An attempt that has ended, how, and how long ago, ms. */
type EndedAttempt = { id: RunId; attempt: number; plan: PlannedRun; ending: Ending; agoMs?: number | undefined };

type EndPorts = { outcomeOf: OutcomeOf; now: () => number; tell: (event: SchedulerEvent) => void };

/** Tells the end of an attempt, as an event, as soon as it is known what it means; one that never began is taken back. */
export function withEnd({ id, attempt, plan, ending, agoMs }: EndedAttempt, { outcomeOf, now, tell }: EndPorts): void {
  if (ending.kind === 'not-claimed' || ending.kind === 'not-run') {
    return tell({ type: 'launch-withdrawn', at: now(), id, attempt });
  }
  void after(outcomeOf(plan, ending), (outcome) =>
    tell({ type: 'run-ended', at: now(), id, attempt, outcome, ...(agoMs === undefined ? {} : { agoMs }) }),
  );
}

/** Interval between attempts to start a process that the system refuses, ms. */
export const RETRY_MS = 1000;

/** The last shortage of the machine because of which a run reported as started had not been started after all. */
export class Shortage {
  readonly #now: () => number;
  #last: { reason: string; until: number } | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  note(reason: string): void {
    this.#last = { reason, until: this.#now() + RETRY_MS };
  }

  /** Reason to start nothing for `waitMs`; null when runs may be started. */
  get current(): { reason: string; waitMs: number } | null {
    if (this.#last === null) return null;
    const waitMs = this.#last.until - this.#now();
    return waitMs > 0 ? { reason: this.#last.reason, waitMs } : null;
  }
}
