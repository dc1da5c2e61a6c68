import { join } from 'node:path';
import type { RunId } from '../../base/ids.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import { Notifications } from './notifications.js';
import type { NotificationRedaction } from './notification-redaction.js';
import { Notifier } from './notifier.js';
import type { Submission, SubmissionStore } from '../runs/submission-store.js';

export type CentreTools = {
  state: SchedulerState;
  book: SubmissionStore;
  runsDirectory: string;
  discretion: NotificationRedaction;
  planned: (id: RunId) => PlannedRun | null;
  log: (line: string) => void;
};

/** Tells those who are not looking what happens, as each sweep's file says. */
export class NotificationCentre {
  readonly #tools: CentreTools;
  readonly #notifier: Notifier;
  readonly #announcements: Notifications;
  /** By sweep: key of the plan that was submitted last. */
  readonly #plans = new Map<string, string>();

  constructor(tools: CentreTools) {
    const { state, planned, runsDirectory, discretion, log } = tools;
    this.#tools = tools;
    this.#notifier = new Notifier({
      notify: (sweep) => this.#page(sweep)?.plan.notify ?? null,
      environment: (sweep) => this.#page(sweep)?.environment ?? {},
      redact: (sweep) => discretion.of(this.#page(sweep)?.environment ?? {}),
      log,
    });
    this.#announcements = new Notifications({
      ...{ state, planned, directoryOf: (sweep) => join(runsDirectory, sweep) },
      tell: (news) => this.#notifier.told(news),
    });
  }

  /** Takes stock of what happened before us; it is not told again. */
  takeUp(): void {
    for (const run of this.#tools.state.runs.values()) this.#plans.set(run.sweep, run.plan);
    this.#announcements.takeUp();
  }

  /** `touched`: runs that the event has changed. */
  heard(event: SchedulerEvent, touched: ReadonlySet<RunId>): void {
    if (event.type === 'runs-submitted') this.#plans.set(event.sweep, event.plan);
    this.#announcements.heard(event, touched);
    if (event.type === 'sweep-forgotten' && !this.#tools.state.sweeps.has(event.sweep)) this.#plans.delete(event.sweep);
  }

  /** A live run's metrics have gone wrong; one that was told to stand still is not stalled. */
  ailing(run: PlannedRun, health: 'stalled' | 'nan'): void {
    const was = this.#tools.state.runs.get(run.id)?.state;
    if (was?.phase === 'running' && was.pausedAt === null) this.#announcements.ailing(run, health);
  }

  /** Sends what is still to be sent; takes some seconds at most. */
  close(): Promise<void> {
    return this.#notifier.close();
  }

  #page(sweep: string): Submission | null {
    const key = this.#plans.get(sweep);
    return key === undefined ? null : this.#tools.book.page(key);
  }
}
