import type { RunId } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import type { SchedulerAction } from '../../scheduler/action.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import type { SchedulerState } from '../../scheduler/state.js';
import { step } from '../../scheduler/step.js';
import { isTurnOver, nextTurn } from '../../processes/turn.js';

/** What the loop needs of the disk. Tests hand in arrays; the program hands in the journal. */
type Recorder = {
  /** Resolves once the events would survive a crash; rejects with none of them kept. */
  record: (events: readonly SchedulerEvent[]) => Promise<void>;
  /** The event without the secrets that must not be read in the journal. Left out: as it is. */
  redact?: (event: SchedulerEvent) => SchedulerEvent;
};

/**
 * Whoever follows what happens; each takes part in what concerns it. For one event, all are told with `heard`, then all with
 * `follow`, then the actions are performed: always in the order in which the observers subscribed.
 */
export type Observer = {
  /** This has happened, is recorded, and has changed the states of these runs. */
  heard?: (event: SchedulerEvent, touched: ReadonlySet<RunId>) => void;
  /** The states of these runs may be new: by an event, or because they were read from the journal of an earlier supervisor. */
  follow?: (touched: ReadonlySet<RunId>) => void;
  /** What there is to see of these runs beside their states has changed, or of all together (none named). */
  changed?: (ids: Iterable<RunId>) => void;
  /** Begins the work and returns at once; how it went comes back later as an event. Must not throw. */
  perform?: (action: SchedulerAction) => void;
  /** Events cannot be recorded (with the cause), or can be again (null). */
  trouble?: (cause: Error | null) => void;
};

type Post = { event: SchedulerEvent; resolve: () => void; reject: ((cause: Error) => void) | null };

/** Between attempts to record when the disk refuses, ms. */
const RETRY_MS = 1000;

/** How long a mere mention waits for company, ms. */
const MENTION_MS = 10;

/**
 * Drives the scheduler: write the event down, take the step, publish, act. The one place where parts meet: whatever happens is
 * told here, and whoever wants to hear of it subscribes here.
 *
 * Events are taken in the order they were posted, as many at a time as have come in while the last ones were written.
 * Nothing is acted upon that a restart would not remember: a fact that cannot be written down is tried again until it can
 * be, and a request is refused.
 */
export class EventLoop {
  readonly #state: SchedulerState;
  readonly #recorder: Recorder;
  readonly #observers: Observer[] = [];
  #posts: Post[] = [];
  #pumping = false;
  #mentioned: NodeJS.Timeout | null = null;
  /** Who waits for all events so far to be acted upon. */
  readonly #waiting: (() => void)[] = [];

  constructor(state: SchedulerState, recorder: Recorder) {
    this.#state = state;
    this.#recorder = recorder;
  }

  /** For the life of the loop. Those who subscribe first are told first. */
  subscribe(...observers: readonly Observer[]): void {
    this.#observers.push(...observers);
  }

  /** Whether every event so far has been acted upon. */
  get isQuiet(): boolean {
    return !this.#pumping && this.#posts.length === 0;
  }

  /** Resolves once every event so far has been acted upon, or when it turns out that they cannot be recorded for now. */
  async untilQuiet(): Promise<void> {
    if (!this.isQuiet) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Something has happened. It will be recorded, sooner or later. */
  tell(event: SchedulerEvent): void {
    const { redact = (whole) => whole } = this.#recorder;
    this.#add({ event: redact(event), resolve: () => undefined, reject: null });
  }

  /** As `tell`, for a fact that a restart would find out by itself: it may wait for another event to be recorded with. */
  mention(event: SchedulerEvent): void {
    this.#posts.push({ event, resolve: () => undefined, reject: null });
    this.#mentioned ??= setTimeout(() => this.#start(), MENTION_MS);
  }

  /** Someone wants something. Resolves when it has been recorded and acted upon; rejects when it could not be recorded. */
  ask(event: SchedulerEvent): Promise<void> {
    return new Promise((resolve, reject) => this.#add({ event, resolve, reject }));
  }

  /** These runs are as they are by no event: an earlier supervisor left them so. */
  follow(ids: ReadonlySet<RunId>): void {
    for (const observer of this.#observers) observer.follow?.(ids);
  }

  /** There is something new to see of these runs, or of all together (none named), that is no event. */
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
      // A hundred runs that end at once are not taken in one turn.
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
    const { actions, touched } = step(this.#state, event);
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

function unrecorded(cause: Error): UserError {
  return new UserError(
    `It could not be recorded, so it was not done: ${cause.message}.`,
    'Free some space where the runs directory is, and ask again.',
    { cause },
  );
}
