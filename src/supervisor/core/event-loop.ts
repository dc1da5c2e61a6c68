import type { RunId } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import type { SchedulerAction } from '../../scheduler/action.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import type { SchedulerState } from '../../scheduler/state.js';
import { step } from '../../scheduler/step.js';
import { Turns } from './turns.js';

/** What the supervisor needs from the world. Tests hand in arrays; the program hands in files, sockets and processes. */
export type Ports = {
  /** Resolves once the events would survive a crash; rejects with none of them kept. */
  record: (events: readonly SchedulerEvent[]) => Promise<void>;
  /** Begins the work and returns at once; how it went comes back later as an event. Must not throw. */
  perform: (action: SchedulerAction) => void;
  /** These runs have changed, by this event. */
  publish: (touched: ReadonlySet<RunId>, event: SchedulerEvent) => void;
  /** Events cannot be recorded (with the cause), or can be again (null). */
  trouble: (cause: Error | null) => void;
};

type Post = { event: SchedulerEvent; resolve: () => void; reject: ((cause: Error) => void) | null };

/** Between attempts to record when the disk refuses, ms. */
const RETRY_MS = 1000;

/** How long a mere mention waits for company, ms. */
const MENTION_MS = 10;

/**
 * Drives the scheduler: write the event down, take the step, act.
 *
 * Events are taken in the order they were posted, as many at a time as have come in while the last ones were written.
 * Nothing is acted upon that a restart would not remember: a fact that cannot be written down is tried again until it can
 * be, and a request is refused.
 */
export class EventLoop {
  readonly #state: SchedulerState;
  readonly #ports: Ports;
  #posts: Post[] = [];
  #pumping = false;
  #mentioned: NodeJS.Timeout | null = null;

  constructor(state: SchedulerState, ports: Ports) {
    this.#state = state;
    this.#ports = ports;
  }

  get state(): SchedulerState {
    return this.#state;
  }

  /** Whether every event so far has been acted upon. */
  get isQuiet(): boolean {
    return !this.#pumping && this.#posts.length === 0;
  }

  /** Something has happened. It will be recorded, sooner or later. */
  tell(event: SchedulerEvent): void {
    this.#add({ event, resolve: () => undefined, reject: null });
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
      const turns = new Turns();
      // A hundred runs that end at once are not taken in one turn.
      for (const post of isRecorded ? batch : []) {
        if (turns.isOver) await turns.pass();
        this.#take(post);
      }
      if (!isRecorded) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    this.#pumping = false;
  }

  async #isRecorded(batch: Post[]): Promise<boolean> {
    try {
      await this.#ports.record(batch.map(({ event }) => event));
      this.#ports.trouble(null);
      return true;
    } catch (error) {
      this.#putBack(batch, error as Error);
      return false;
    }
  }

  #take({ event, resolve }: Post): void {
    const { actions, touched } = step(this.#state, event);
    this.#ports.publish(touched, event);
    actions.forEach((action) => this.#ports.perform(action));
    resolve();
  }

  #putBack(batch: Post[], cause: Error): void {
    this.#ports.trouble(cause);
    batch.forEach(({ reject }) => reject?.(unrecorded(cause)));
    this.#posts.unshift(...batch.filter(({ reject }) => reject === null));
  }
}

function unrecorded(cause: Error): UserError {
  return new UserError(
    `It could not be written down, so it is not done: ${cause.message}.`,
    'Free some space where the runs directory is, and ask again.',
    { cause },
  );
}
