import type { RunId } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import type { SchedulerAction, SchedulerEvent } from '../../scheduler/event.js';
import type { SchedulerState } from '../../scheduler/state.js';
import { step } from '../../scheduler/step.js';
import { isTurnOver, nextTurn } from '../../processes/turn.js';
import { SteadyClock } from './steady-clock.js';

/** How the loop records events: tests pass arrays, the program passes the journal. */
type Recorder = {
  /** Resolves once the events would survive a crash; rejects, with none of them kept, when they cannot be recorded. */
  record: (events: readonly SchedulerEvent[]) => Promise<void>;
  /** Returns the event without secrets that must not be in the journal. Absent: events are recorded unchanged. */
  redact?: (event: SchedulerEvent) => SchedulerEvent;
};

/**
 * Observes events; each observer handles what concerns it. For one event, `heard` is called on all, then `follow` on all, then the
 * actions are performed: always in the order in which the observers subscribed.
 */
export type Observer = {
  /** An event is recorded, and has changed the states of these runs. */
  heard?: (event: SchedulerEvent, touched: ReadonlySet<RunId>) => void;
  /** The states of these runs may be new: by an event, or because they were read from the journal of an earlier supervisor. */
  follow?: (touched: ReadonlySet<RunId>) => void;
  /** Something visible beside the states of these runs has changed; without ids, something about the supervisor as a whole. */
  changed?: (ids: Iterable<RunId>) => void;
  /** Starts to carry out an action and returns at once; the result arrives later as an event. Must not throw. */
  perform?: (action: SchedulerAction) => void;
  /** Events cannot be recorded (with the cause), or can be again (null). */
  trouble?: (cause: Error | null) => void;
};

type Post = { event: SchedulerEvent; resolve: () => void; reject: ((cause: Error) => void) | null };

/** Pause between attempts to record when the disk refuses, ms. */
const RETRY_MS = 1000;

/** How long an event of `mention` waits to be recorded with others, ms. */
const MENTION_MS = 10;

/**
 * Drives the scheduler: records an event, takes the step, publishes the changes, performs the actions. All parts meet here: they
 * report events to it, and subscribe to hear of them.
 *
 * Events are processed in the order they were posted, as many at a time as arrived while the previous ones were written. No action
 * is performed that a restart would not know of: a fact that cannot be recorded is tried again until it can be, and a request is
 * refused.
 */
export class EventLoop {
  /** The state of the scheduler, which only the loop changes. */
  readonly state: SchedulerState;
  /** The clock of the scheduler, from which all times of events are. */
  readonly clock: Pick<SteadyClock, 'now' | 'wallTime' | 'reading'>;
  readonly #recorder: Recorder;
  readonly #observers: Observer[] = [];
  #posts: Post[] = [];
  #pumping = false;
  #mentioned: NodeJS.Timeout | null = null;
  /** Callers that wait until all events so far have been processed. */
  readonly #waiting: (() => void)[] = [];

  constructor(state: SchedulerState, recorder: Recorder, clock: EventLoop['clock'] = new SteadyClock(state.boots)) {
    this.state = state;
    this.clock = clock;
    this.#recorder = recorder;
  }

  /** The present time of the scheduler, ms. */
  now(): number {
    return this.clock.now();
  }

  /** Subscribes observers for the lifetime of the loop. Earlier ones are called first. */
  subscribe(...observers: readonly Observer[]): void {
    this.#observers.push(...observers);
  }

  /** Whether every event so far has been processed. */
  get isQuiet(): boolean {
    return !this.#pumping && this.#posts.length === 0;
  }

  /** Resolves once every event so far has been processed, or when they turn out not to be recordable for now. */
  async untilQuiet(): Promise<void> {
    if (!this.isQuiet) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Posts a fact. It will be recorded, sooner or later. */
  tell(event: SchedulerEvent): void {
    const { redact = (whole) => whole } = this.#recorder;
    this.#add({ event: redact(event), resolve: () => undefined, reject: null });
  }

  /** Posts a fact that a restart would find out by itself: it may wait to be recorded with another event. */
  mention(event: SchedulerEvent): void {
    this.#posts.push({ event, resolve: () => undefined, reject: null });
    this.#mentioned ??= setTimeout(() => this.#start(), MENTION_MS);
  }

  /** Posts a request. Resolves when it has been recorded and processed; rejects when it could not be recorded. */
  ask(event: SchedulerEvent): Promise<void> {
    return new Promise((resolve, reject) => this.#add({ event, resolve, reject }));
  }

  /** Announces the states of runs that an earlier supervisor left. */
  follow(ids: ReadonlySet<RunId>): void {
    for (const observer of this.#observers) observer.follow?.(ids);
  }

  /** Announces a visible change of these runs, or without ids of the supervisor as a whole, that is no event. */
  changed(ids: Iterable<RunId>): void {
    for (const observer of this.#observers) observer.changed?.(ids);
  }

  #add(post: Post): void {
    this.#posts.push(post);
    this.#start();
  }

  #start(): void {
    if (this.#mentioned !== null) clearTimeout(this.#mentioned);
    this.#mentioned = null;
    if (this.#pumping || this.#posts.length === 0) return;
    this.#pumping = true;
    void this.#pump();
  }

  async #pump(): Promise<void> {
    while (this.#posts.length > 0) {
      const batch = this.#posts;
      this.#posts = [];
      const isRecorded = await this.#isRecorded(batch);
      // A hundred runs that end at once are spread over several turns.
      for (const post of isRecorded ? batch : []) {
        if (isTurnOver()) await nextTurn();
        this.#take(post);
      }
      if (!isRecorded) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    this.#pumping = false;
    this.#letGo();
  }

  #letGo(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #isRecorded(batch: Post[]): Promise<boolean> {
    try {
      await this.#recorder.record(batch.map(({ event }) => event));
      this.#tellTrouble(null);
      return true;
    } catch (error) {
      this.#putBack(batch, error as Error);
      return false;
    }
  }

  #take({ event, resolve }: Post): void {
    const { actions, touched } = step(this.state, event);
    for (const observer of this.#observers) observer.heard?.(event, touched);
    this.follow(touched);
    for (const action of actions) for (const observer of this.#observers) observer.perform?.(action);
    resolve();
  }

  #tellTrouble(cause: Error | null): void {
    for (const observer of this.#observers) observer.trouble?.(cause);
  }

  #putBack(batch: Post[], cause: Error): void {
    this.#tellTrouble(cause);
    batch.forEach(({ reject }) => reject?.(unrecorded(cause)));
    this.#posts.unshift(...batch.filter(({ reject }) => reject === null));
    this.#letGo();
  }
}

/** What was asked for is not done, as the disk does not take it. */
export function unrecorded(cause: Error): UserError {
  return new UserError(
    `It could not be recorded, so it was not done: ${cause.message}.`,
    (cause as NodeJS.ErrnoException).code === 'ENOENT'
      ? 'Somebody deleted the runs directory or files in it: ask again.'
      : 'Free some space where the runs directory is, and ask again.',
    { cause },
  );
}
