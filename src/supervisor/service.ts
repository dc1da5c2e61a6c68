import { join } from 'node:path';
import type { RunId } from '../base/ids.js';
import { supervisorFiles } from '../contract/files.js';
import { readGpus } from '../executors/gpu/read-gpus.js';
import { LocalExecutor } from '../executors/local/local-executor.js';
import type { SweepSummary } from '../protocol/run-summary.js';
import type { SchedulerAction } from '../scheduler/action.js';
import type { SchedulerEvent } from '../scheduler/event.js';
import type { Run } from '../scheduler/run-state.js';
import { emptyState, type SchedulerState } from '../scheduler/state.js';
import { type Snapshot, snapshotOf } from '../scheduler/snapshot.js';
import { nextDeadline } from '../scheduler/deadlines.js';
import { isSettled } from '../scheduler/waiting-reason.js';
import type { PlannedRun } from '../spec/planned-run.js';
import { Board } from './board.js';
import { Desk } from './desk.js';
import { FollowUp } from './follow-up.js';
import { Journal } from './journal.js';
import type { Judge } from './judgement.js';
import { launchOrder } from './launch-order.js';
import { Records } from './records.js';
import { endOf, forgetting, type PastAttempt, reconcile, recover, replay } from './recovery.js';
import { RunBook } from './run-book.js';
import { type Request, SocketServer } from './socket-server.js';
import { Supervisor } from './supervisor.js';
import { sweepSummaries } from './sweep-view.js';
import { Watcher } from './watcher.js';

export type ServiceOptions = {
  /** Absolute. */
  runsDirectory: string;
  /** Folder of our own programs, put at the end of the runs' PATH. */
  bin: string;
  socket: string;
  judge: Judge;
  /** Whether the runs directory is still locked for this process; sees to it, if nobody else has locked it. */
  isOurs: () => boolean;
  log: (line: string) => void;
};

/** With nothing to do and nobody there, the supervisor stays for this long, ms. */
const LINGER_MS = 2000;

/** Puts the parts together: what the scheduler decides is done here, and what happens here is told to the scheduler. */
export class Service {
  readonly #options: ServiceOptions;
  readonly #state: SchedulerState = emptyState();
  readonly #journal: Journal;
  readonly #book: RunBook;
  readonly #supervisor: Supervisor;
  readonly #executor: LocalExecutor;
  readonly #records: Records;
  readonly #watcher: Watcher;
  readonly #followUp: FollowUp;
  readonly #board: Board;
  readonly #server: SocketServer;
  readonly #clockStart = Date.now() - performance.now();
  #deadline: NodeJS.Timeout | null = null;
  /** Null when they have to be put together again. */
  #sweeps: SweepSummary[] | null = null;

  private constructor(options: ServiceOptions, journal: Journal) {
    this.#options = options;
    this.#journal = journal;
    this.#book = new RunBook(options.runsDirectory);
    this.#records = new Records(options.log);
    this.#supervisor = new Supervisor(this.#state, {
      record: (events) => journal.append(events),
      perform: (action) => this.#perform(action),
      publish: (touched, event) => {
        if (event.type === 'runs-submitted' || event.type === 'sweep-forgotten') this.#sweeps = null;
        this.#publish(touched);
      },
      trouble: (cause) => this.#trouble(cause),
    });
    this.#executor = new LocalExecutor((id, attempt, ending) => {
      const planned = this.#planned(id);
      if (planned !== null) this.#supervisor.tell(endOf({ id, attempt }, planned, ending, this.#judging()));
    });
    this.#watcher = this.#newWatcher();
    this.#followUp = new FollowUp(this.#records, this.#watcher);
    this.#board = this.#newBoard();
    this.#server = this.#newServer();
  }

  /** Takes up what the journal says, then listens. The runs directory must be locked for this process. */
  static async start(options: ServiceOptions): Promise<Service> {
    const folder = join(options.runsDirectory, supervisorFiles.directory);
    const path = join(folder, supervisorFiles.journal);
    const { journal, contents } = await Journal.open(path);
    for (const line of contents.dropped) options.log(`journal: ${line}`);
    const service = new Service(options, journal);
    const { lately } = recover(service.#state, contents, path);
    journal.standsFor({ ...options, snapshot: () => service.#snapshot() });
    const gone = service.#unreadable();
    if (gone.length > 0) await journal.append(gone);
    replay(service.#state, gone);
    service.#takeUp(lately);
    await service.#server.listen(options.socket);
    return service;
  }

  /** Resolves when there has been nothing to do, and nobody there, for a while. */
  async untilIdle(): Promise<void> {
    for (let idle = 0; idle < LINGER_MS;) {
      await new Promise((resolve) => setTimeout(resolve, LINGER_MS / 10));
      const isBusy = !isSettled(this.#state) || !this.#supervisor.isQuiet;
      idle = isBusy ? 0 : Math.min(idle + LINGER_MS / 10, this.#server.aloneFor);
    }
  }

  /** Leaves. The runs go on. */
  async close(reason: string): Promise<void> {
    await this.#server.close(reason);
    this.#executor.close();
    this.#records.flush();
    await this.#watcher.close();
    await this.#journal.close();
  }

  /** Unix ms that never jump: a wall clock set forward must not kill a run before its time. */
  #now(): number {
    return Math.round(this.#clockStart + performance.now());
  }

  #judging() {
    return { judge: this.#options.judge, now: () => this.#now() };
  }

  #newWatcher(): Watcher {
    return new Watcher({
      now: () => this.#now(),
      changed: (id) => {
        this.#board.touch([id]);
        this.#server.publishSoon();
      },
      ruleMet: (id, attempt, rule) => {
        if (this.#state.runs.get(id)?.state.phase !== 'running') return;
        this.#supervisor.tell({ type: 'rule-met', at: this.#now(), id, attempt, rule });
      },
    });
  }

  #newBoard(): Board {
    return new Board({
      state: this.#state,
      planned: (id) => this.#planned(id)!,
      vitals: (id) => this.#watcher.vitals(id),
      sweeps: () => (this.#sweeps ??= sweepSummaries(this.#state, this.#book, this.#options.runsDirectory)),
    });
  }

  #newServer(): SocketServer {
    const desk = new Desk({
      state: this.#state,
      ask: (event) => this.#supervisor.ask(event),
      book: this.#book,
      records: this.#records,
      readGpus,
      ...this.#judging(),
    });
    const answer = (request: Request, client: object) => desk.answer(request, client);
    return new SocketServer(this.#board, answer, () => this.#records.flush());
  }

  /** What must be on disk besides is put there first: the events that tell of it will be gone. */
  #snapshot(): Snapshot {
    this.#records.flush();
    return snapshotOf(this.#state);
  }

  #takeUp(lately: readonly PastAttempt[]): void {
    const runs = [...this.#state.runs.values()];
    this.#book.forgetOthers(new Set(runs.map(({ plan }) => plan)));
    reconcile(this.#state, {
      executor: this.#executor,
      planned: (run) => this.#planned(run.id)!,
      tell: (event) => this.#supervisor.tell(event),
      ...this.#judging(),
    });
    for (const past of lately) {
      const planned = this.#planned(past.id);
      if (planned !== null) this.#records.confirm(planned, past);
    }
    this.#publish(new Set(runs.map(({ id }) => id)));
  }

  /** A sweep whose commands are gone cannot go on; the next submit brings it back. What has to be said for that. */
  #unreadable(): SchedulerEvent[] {
    return [...this.#state.sweeps].flatMap(([sweep, ids]) => {
      try {
        for (const id of ids) this.#planned(id);
        return [];
      } catch (error) {
        this.#options.log(`sweep ${sweep} is forgotten: ${(error as Error).message}`);
        return forgetting(this.#state, sweep, this.#now());
      }
    });
  }

  #perform(action: SchedulerAction): void {
    switch (action.type) {
      case 'launch':
        return this.#launch(action);
      case 'terminate':
        return this.#executor.terminate(action.id);
      case 'kill':
        return this.#executor.kill(action.id);
      default: // The scheduler does not ask for more yet.
    }
  }

  #launch(action: Extract<SchedulerAction, { type: 'launch' }>): void {
    const { id, attempt } = action;
    const { plan } = this.#state.runs.get(id)!;
    const { runs, environment } = this.#book.page(plan);
    const start = this.#executor.start(id, launchOrder(action, runs.get(id)!, environment, this.#options.bin));
    const at = this.#now();
    if (start.kind === 'started') this.#supervisor.mention({ type: 'run-started', at, id, attempt, pid: start.pid });
    else this.#supervisor.tell({ type: 'launch-failed', at, id, attempt, reason: start.reason });
  }

  #publish(touched: ReadonlySet<RunId>): void {
    for (const id of touched) {
      const run = this.#state.runs.get(id);
      if (run === undefined) this.#watcher.forget(id);
      else this.#followUp.follow(run, this.#planned(id)!);
    }
    this.#board.touch(touched);
    this.#server.publishSoon();
    this.#armDeadline();
  }

  #armDeadline(): void {
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    const next = nextDeadline(this.#state);
    if (next === null) return;
    const wait = Math.max(0, next - this.#now());
    this.#deadline = setTimeout(() => this.#supervisor.tell({ type: 'time-passed', at: this.#now() }), wait).unref();
  }

  #trouble(cause: Error | null): void {
    const problem = cause === null ? null : `the journal cannot be written: ${cause.message}`;
    if (problem === this.#board.problem) return;
    this.#board.problem = problem;
    this.#options.log(problem ?? 'the journal can be written again');
    this.#server.publishSoon();
  }

  /** Null for a run that is forgotten. Throws a UserError when its plan is gone. */
  #planned(id: RunId): PlannedRun | null {
    const run: Run | undefined = this.#state.runs.get(id);
    return run === undefined ? null : (this.#book.page(run.plan).runs.get(id) ?? null);
  }
}
