import type { RunId } from '../../base/ids.js';
import { isShortOfRoom } from '../../files/disk-room.js';
import type { FleetStatus, SweepSummary } from '../../protocol/run-summary.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import { RunViewCache, type RunViewSources } from './run-view-cache.js';
import { type Answer, type Prepare, SocketServer } from './socket-server.js';

type PublisherSources = Omit<RunViewSources, 'problem'> & {
  gpus: () => FleetStatus['gpus'];
  /** What else keeps runs from starting, in words: the GPUs, a machine that is short of something. */
  otherProblems: () => (string | null)[];
  answer: Answer;
  prepare: Prepare;
  log: (line: string) => void;
};

/** What clients see, and where they come to see it; an observer of the event loop. */
export class Publisher {
  readonly #views: RunViewCache;
  readonly #server: SocketServer;
  readonly #log: (line: string) => void;
  readonly #state: PublisherSources['state'];
  /** Null when they have to be put together again. */
  #sweeps: SweepSummary[] | null = null;
  #wasTakingIn = false;
  #journalProblem: string | null = null;

  constructor(sources: PublisherSources) {
    this.#log = sources.log;
    this.#state = sources.state;
    this.#views = new RunViewCache({
      ...sources,
      sweeps: () => (this.#sweeps ??= sources.sweeps()),
      problem: () => {
        const problems = [this.#journalProblem, ...sources.otherProblems()].filter((words) => words !== null);
        return problems.length === 0 ? null : problems.join('; ');
      },
    });
    this.#server = new SocketServer(this.#views, sources.answer, sources.prepare);
  }

  /** How long nobody has been there to see it, ms. */
  get aloneFor(): number {
    return this.#server.aloneFor;
  }

  /** Resolves when nobody is there to see it. */
  untilAlone(): Promise<void> {
    return this.#server.untilAlone();
  }

  /** Whether clients find it. */
  get isReachable(): boolean {
    return this.#server.isReachable;
  }

  /** Opens the door, there and nowhere else. */
  listen(socket: string): Promise<void> {
    return this.#server.listen(socket);
  }

  /** These rows may have changed, or what is true of all together. */
  changed(ids: Iterable<RunId>): void {
    this.#views.touch(ids);
    this.#server.publishSoon();
  }

  follow(touched: ReadonlySet<RunId>): void {
    this.changed(touched);
  }

  heard({ type }: SchedulerEvent): void {
    const isTakingIn = this.#state.intakes.length > 0;
    const isAllThere = this.#wasTakingIn && !isTakingIn;
    if (type === 'runs-submitted' || type === 'sweep-forgotten' || isAllThere) this.#sweeps = null;
    this.#wasTakingIn = isTakingIn;
    // All times are shown anew.
    if (type === 'clock-read') this.changed(this.#state.runs.keys());
  }

  /** Events cannot be recorded (with the cause), or can be again (null). */
  trouble(cause: Error | null): void {
    const problem = cause === null ? null : journalProblem(cause);
    if (problem === this.#journalProblem) return;
    this.#journalProblem = problem;
    this.#log(problem ?? 'the journal can be written again');
    this.#server.publishSoon();
  }

  close(reason: string): Promise<void> {
    return this.#server.close(reason);
  }
}

/** In words that name what to do something about. */
function journalProblem(cause: Error): string {
  const said = `the journal cannot be written: ${cause.message}`;
  return isShortOfRoom(cause)
    ? `the disk of the runs directory is full, nothing is started until there is room; ${said}`
    : said;
}
