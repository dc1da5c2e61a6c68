import { join } from 'node:path';
import type { Finding } from '../../analysis/health/finding.js';
import { endStateOf } from '../../base/run-words.js';
import { gpuName, nameOf, type RunId } from '../../base/ids.js';
import { failureClass } from '../../base/outcome.js';
import type { EventOf, SchedulerEvent } from '../../scheduler/event.js';
import { growingGroups } from '../../scheduler/queue/groups.js';
import { isIdle } from '../../scheduler/placement/waiting-reason.js';
import type { Run, SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import { endReason } from '../publish/run-view.js';
import type { RunRedaction } from '../runs/run-redaction.js';
import type { PlannedRuns, Submission, SubmissionStore } from '../runs/submission-store.js';
import { type Notification, Notifier } from './notifier.js';

/** `directoryOf`: returns the directory of a sweep. */
type NotificationTools = {
  state: SchedulerState;
  planned: (id: RunId) => PlannedRun | null;
  directoryOf: (sweep: string) => string;
  notify: (notification: Notification) => void;
};

/** Finds notifications in the events of the event loop. */
export class Notifications {
  readonly #tools: NotificationTools;
  /** Runs that have not ended, by sweep. */
  readonly #unended = new Map<string, Set<RunId>>();

  constructor(tools: NotificationTools) {
    this.#tools = tools;
  }

  /** Counts the runs of an earlier supervisor, without notifications. */
  countRuns(): void {
    for (const run of this.#tools.state.runs.values()) this.#count(run);
  }

  /** `touched`: runs that the event has changed. */
  heard(event: SchedulerEvent, touched: ReadonlySet<RunId>): void {
    if (event.type === 'sweep-forgotten') this.#unended.delete(event.sweep);
    const runs = [...touched].flatMap((id) => this.#tools.state.runs.get(id) ?? []);
    for (const run of runs) this.#count(run);
    if (event.type === 'hold-requested') return this.#heardHold(event, runs);
    if (event.type === 'drain-requested') return this.#tellDrained(event);
    if (event.type !== 'run-ended' && event.type !== 'launch-failed') return;
    const run = runs.find(({ id }) => id === event.id);
    if (run === undefined) return;
    this.#tellEnd(run);
    // What a breaker holds is found out next, and told then.
    if (!runs.some(({ group, hold }) => group === run.group && hold?.by === 'breaker')) this.#tellIfFinished(run.sweep);
  }

  #heardHold({ breaker }: EventOf<'hold-requested'>, runs: readonly Run[]): void {
    const [first] = runs;
    this.#tellHeld(first, runs);
    if (breaker !== undefined && first !== undefined) this.#tellIfFinished(first.sweep);
  }

  /** Notifies of GPUs on which runs fail, for each sweep that still has runs. */
  #tellDrained({ gpus, drained, reason }: EventOf<'drain-requested'>): void {
    if (!drained || reason === undefined) return;
    const words = `GPU ${gpus.map(gpuName).join(', ')}: ${reason}`;
    for (const [sweep, { size }] of this.#unended) {
      if (size > 0) this.#tools.notify({ kind: 'held', sweep, words, directory: this.#tools.directoryOf(sweep) });
    }
  }

  /** Notifies of a problem of a running run. */
  unhealthy({ sweep, name, group, directory }: PlannedRun, { word, reason }: Finding): void {
    this.#tools.notify({ kind: word, sweep, run: name, group, words: reason, directory });
  }

  /** Notifies of a run's end. A run that will be retried has not failed yet. */
  #tellEnd({ id, state }: Run): void {
    if (state.phase !== 'ended' || state.outcome.kind === 'killed') return;
    const planned = this.#tools.planned(id);
    if (planned === null) return;
    const { sweep, name, group, directory } = planned;
    const kind = failureClass(state.outcome) === null ? 'done' : 'failed';
    this.#tools.notify({ kind, sweep, run: name, group, words: endReason(state.outcome) ?? '', directory });
  }

  /** Notifies once of all runs of a group that the breaker, or a reached target, holds at the same time. */
  #tellHeld(cause: Run | undefined, touched: readonly Run[]): void {
    const hold = touched.find((run) => run.group === cause?.group && reasonOf(run) !== null)?.hold;
    if (cause === undefined || !hold || hold.by === 'person') return;
    const { sweep } = cause;
    const group = nameOf(cause.group);
    this.#tools.notify({
      kind: 'held',
      sweep,
      group,
      words: hold.reason,
      directory: this.#tools.directoryOf(sweep),
    });
  }

  #tellIfFinished(sweep: string): void {
    const { state } = this.#tools;
    if (growingGroups(state).some(({ id }) => id.startsWith(`${sweep}/`))) return;
    if (isIdle(state, this.#unended.get(sweep) ?? [])) this.#tellFinished(sweep);
  }

  /** Notifies of the end of a sweep, also if runs are left that cannot start without a user, as those would delay it for ever. */
  #tellFinished(sweep: string): void {
    const { state, directoryOf, notify } = this.#tools;
    const counts: Record<string, number> = { done: 0, failed: 0, killed: 0, lost: 0, held: 0, waiting: 0 };
    for (const id of state.sweeps.get(sweep) ?? []) counts[wordOf(state.runs.get(id)!)]! += 1;
    notify({ kind: 'finished', sweep, words: '', counts, directory: directoryOf(sweep) });
  }

  #count({ id, sweep, state }: Run): void {
    const unended = this.#unended.get(sweep) ?? new Set();
    this.#unended.set(sweep, unended);
    if (state.phase === 'ended') unended.delete(id);
    else unended.add(id);
  }
}

/** Why a run is held, unless a user holds it. */
function reasonOf({ hold }: Run): string | null {
  return hold === null || hold.by === 'person' ? null : hold.reason;
}

function wordOf({ state, hold }: Run): string {
  if (state.phase !== 'ended') return hold === null ? 'waiting' : 'held';
  return endStateOf(state.outcome.kind);
}

type CentreTools = {
  state: SchedulerState;
  submissions: SubmissionStore;
  runsDirectory: string;
  redaction: RunRedaction;
  plannedRuns: PlannedRuns;
  log: (line: string) => void;
};

/** Notifies users of events, as each sweep's file says; an observer of the event loop. */
export class NotificationCentre {
  readonly #tools: CentreTools;
  readonly #notifier: Notifier;
  readonly #notifications: Notifications;
  /** Key of the plan that was submitted last, by sweep. */
  readonly #plans = new Map<string, string>();

  constructor(tools: CentreTools) {
    const { state, plannedRuns, runsDirectory, redaction, log } = tools;
    this.#tools = tools;
    this.#notifier = new Notifier({
      notify: (sweep) => this.#submission(sweep)?.plan.notify ?? null,
      environment: (sweep) => this.#submission(sweep)?.environment ?? {},
      redact: (sweep) => redaction.of(this.#submission(sweep)?.environment ?? {}),
      log,
    });
    this.#notifications = new Notifications({
      ...{ state, planned: (id) => plannedRuns.of(id), directoryOf: (sweep) => join(runsDirectory, sweep) },
      notify: (notification) => this.#notifier.notify(notification),
    });
  }

  /** Counts the runs of an earlier supervisor, whose past events are not notified again. */
  countRuns(): void {
    for (const run of this.#tools.state.runs.values()) this.#plans.set(run.sweep, run.plan);
    this.#notifications.countRuns();
  }

  /** `touched`: runs that the event has changed. */
  heard(event: SchedulerEvent, touched: ReadonlySet<RunId>): void {
    if (event.type === 'runs-submitted') this.#plans.set(event.sweep, event.plan);
    this.#notifications.heard(event, touched);
    if (event.type === 'sweep-forgotten' && !this.#tools.state.sweeps.has(event.sweep)) this.#plans.delete(event.sweep);
  }

  /** Notifies of a problem of a running run. */
  unhealthy(run: PlannedRun, finding: Finding): void {
    this.#notifications.unhealthy(run, finding);
  }

  /** Sends pending notifications; takes some seconds at most. */
  close(): Promise<void> {
    return this.#notifier.close();
  }

  #submission(sweep: string): Submission | null {
    const key = this.#plans.get(sweep);
    return key === undefined ? null : this.#tools.submissions.of(key);
  }
}
