import { join } from 'node:path';
import type { RunId } from '../base/ids.js';
import { untilWholeSecond } from '../base/lazy.js';
import { supervisorFiles } from '../contract/files.js';
import { openCgroupHome } from '../executors/local/cgroup-home.js';
import type { Ending, LeakedProcess } from '../executors/local/ending.js';
import { LocalExecutor } from '../executors/local/local-executor.js';
import type { SchedulerAction } from '../scheduler/action.js';
import type { SchedulerEvent } from '../scheduler/event.js';
import { nextDeadline } from '../scheduler/lifecycle/deadlines.js';
import { gpusOf } from '../scheduler/placement/slot.js';
import { isSettled } from '../scheduler/placement/waiting-reason.js';
import { isActive, type Run } from '../scheduler/run-state.js';
import { type Snapshot, snapshotOf } from '../scheduler/snapshot.js';
import { emptyState, type SchedulerState } from '../scheduler/state.js';
import type { PlannedRun } from '../spec/planned-run.js';
import { EventLoop } from './core/event-loop.js';
import { Journal, type JournalPast } from './core/journal.js';
import { forgetting, type PastAttempt, reconcile, Recovery, replay, withEnd } from './core/recovery.js';
import { RoundRobin } from './core/round-robin.js';
import { DeadlineClock, SteadyClock } from './core/steady-clock.js';
import { GpuWatch, type HostConfig } from './gpus/gpu-watch.js';
import { NotificationRedaction, type Submitted } from './notify/notification-redaction.js';
import { NotificationCentre } from './notify/notifications.js';
import { Publisher } from './publish/publisher.js';
import { sweepSummaries } from './publish/run-view.js';
import { RequestHandler } from './requests/request-handler.js';
import type { CompletionOf } from './runs/exit-classification.js';
import { type Launch, Launcher } from './runs/launcher.js';
import { Losses, sweepsOnDisk } from './runs/losses.js';
import { Records } from './runs/records.js';
import { RunObserver } from './runs/run-observer.js';
import { Turns } from './core/turns.js';
import { environmentFile, SubmissionStore } from './runs/submission-store.js';
import { leakedProcessWords, Warnings } from './runs/warnings.js';
import { Watcher } from './runs/watcher.js';

export type SupervisorOptions = {
  /** Absolute. */
  runsDirectory: string;
  /** Folder of our own programs, put at the end of the runs' PATH. */
  bin: string;
  socket: string;
  judge: CompletionOf;
  /** Whether the runs directory is still locked for this process; sees to it, if nobody else has locked it. */
  isOurs: () => boolean;
  log: (line: string) => void;
  surroundings: HostConfig;
};

/** Runs are started for so long in one turn: with a hundred free slots, to start them all takes half a second, ms. */
const LAUNCH_MS = 15;
/** Records are written for so long in one turn before the journal is shortened, ms. */
const WRITE_MS = 10;
/** With nothing to do and nobody there, the supervisor stays for this long, ms. */
const LINGER_MS = 2000;
/** Between looks whether it is still so, ms. */
const LINGER_LOOK_MS = 200;

/** Runs that are taken up before others have their turn. */
const AT_ONCE = 1000;

/** Between looks whether somebody has set the wall clock, ms. */
const CLOCK_LOOK_MS = 5000;

/** Puts the parts together: what the scheduler decides is done here, and what happens here is told to the scheduler. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #state: SchedulerState;
  readonly #journal: Journal;
  readonly #book: SubmissionStore;
  readonly #supervisor: EventLoop;
  readonly #executor: LocalExecutor;
  readonly #gpus: GpuWatch;
  readonly #launcher: Launcher;
  readonly #launches = new RoundRobin<Launch>(LAUNCH_MS, (launch) => this.#launcher.launch(launch));
  readonly #records: Records;
  readonly #watcher: Watcher;
  readonly #followUp: RunObserver;
  readonly #newsroom: NotificationCentre;
  readonly #outlook: Publisher;
  readonly #losses: Losses;
  readonly #discretion = new NotificationRedaction((id) => this.#submitted(id));
  readonly #warnings = new Warnings((id) => this.#outlook.changed([id]));
  readonly #clock: SteadyClock;
  #clockLook: NodeJS.Timeout | null = null;
  readonly #deadline = new DeadlineClock(
    () => this.#now(),
    () => this.#tell({ type: 'time-passed', at: this.#now() }),
  );

  private constructor(options: SupervisorOptions, journal: Journal, state: SchedulerState) {
    this.#options = options;
    this.#state = state;
    this.#clock = new SteadyClock(state.boots);
    this.#losses = new Losses(options.runsDirectory, state.sweeps);
    this.#journal = journal;
    this.#book = new SubmissionStore(options.runsDirectory);
    this.#supervisor = new EventLoop(this.#state, {
      record: (events) => journal.append(events),
      perform: (action) => this.#perform(action),
      publish: (touched, event) => this.#heard(touched, event),
      trouble: (cause) => this.#outlook.trouble(cause),
    });
    this.#executor = this.#newExecutor();
    this.#gpus = this.#newGpuWatch();
    this.#launcher = this.#newLauncher();
    const recordWords = (id: RunId, words: string | null) => this.#warnings.set(id, 'record', words);
    this.#records = new Records(options.log, ({ id }) => this.#originOf(id), recordWords);
    this.#watcher = this.#newWatcher();
    this.#followUp = new RunObserver(this.#records, this.#watcher, {
      began: (run, planned) => this.#began(run, planned),
      shown: (at) => this.#clock.shown(at),
    });
    this.#newsroom = new NotificationCentre({ ...options, ...this.#knowledge(), discretion: this.#discretion });
    this.#outlook = this.#newPublisher();
  }

  /** Takes up what the journal says, then listens. The runs directory must be locked for this process. */
  static async start(options: SupervisorOptions): Promise<Supervisor> {
    const folder = join(options.runsDirectory, supervisorFiles.directory);
    const path = join(folder, supervisorFiles.journal);
    const state = emptyState();
    const recovery = new Recovery(state, path);
    const { journal, contents, past } = await Journal.open(path, recovery);
    for (const line of contents.dropped) options.log(`journal: ${line}`);
    const service = new Supervisor(options, journal, state);
    service.#noteLosses(past);
    journal.standsFor({ ...options, snapshot: () => service.#snapshot() });
    await service.#book.prepare(service.#planKeys());
    const found = [...[service.#clock.news() ?? []].flat(), ...service.#unreadable()];
    if (found.length > 0) await journal.append(found);
    replay(service.#state, found);
    await service.#takeUp(recovery.lately);
    await service.#outlook.listen(options.socket);
    return service;
  }

  /** Resolves when there has been nothing to do, and nobody there, for a while. */
  async untilIdle(): Promise<void> {
    for (let idle = 0; idle < LINGER_MS;) {
      // What goes on for hours is not looked at five times a second: every look wakes the processor.
      const wait = idle === 0 ? untilWholeSecond(performance.now()) : LINGER_LOOK_MS;
      await new Promise((resolve) => setTimeout(resolve, wait));
      const isBusy = !isSettled(this.#state) || !this.#supervisor.isQuiet;
      idle = isBusy ? 0 : Math.min(idle + LINGER_LOOK_MS, this.#outlook.aloneFor);
    }
  }

  /** Whether clients find the socket. */
  get isReachable(): boolean {
    return this.#outlook.isReachable;
  }

  /** Listens there instead. Those who are connected stay. */
  listen(socket: string): Promise<void> {
    return this.#outlook.listen(socket);
  }

  /** Something may be wrong with the files: the journal looks to itself with the next event. */
  wake(): void {
    this.#supervisor.tell({ type: 'time-passed', at: this.#now() });
  }

  /** Leaves. The runs go on. */
  async close(reason: string): Promise<void> {
    await this.#outlook.close(reason);
    this.#launches.close();
    this.#launcher.close();
    this.#executor.close();
    this.#deadline.clear();
    if (this.#clockLook !== null) clearInterval(this.#clockLook);
    this.#records.close();
    await Promise.all([this.#watcher.close(), this.#gpus.close(), this.#newsroom.close()]);
    await this.#journal.close();
  }

  /** Ms that never jump: a wall clock set forward must not kill a run before its time. */
  #now(): number {
    return this.#clock.now();
  }

  /** What people are shown follows a wall clock that somebody has set. */
  #lookAtClock(): void {
    const news = this.#clock.news();
    if (news !== null) this.#supervisor.tell(news);
  }

  /** Something has happened. What is said of a run goes into the journal, so no secret may be in it. */
  #tell(event: SchedulerEvent): void {
    this.#supervisor.tell(this.#discretion.event(event));
  }

  #judging() {
    return { judge: this.#options.judge, now: () => this.#now(), tell: (event: SchedulerEvent) => this.#tell(event) };
  }

  #knowledge() {
    return { state: this.#state, book: this.#book, planned: (id: RunId) => this.#planned(id) };
  }

  #newExecutor(): LocalExecutor {
    const { surroundings, runsDirectory } = this.#options;
    const home = surroundings.cgroups ? openCgroupHome(runsDirectory) : null;
    return new LocalExecutor((...end) => this.#ended(...end), home, undefined, {
      named: (id) => this.#outlook.changed([id]),
      troubled: (id, words) => this.#warnings.set(id, 'trouble', words),
      mayGiveUp: (id) => this.#isAskedToEnd(id),
    });
  }

  /** A run that nobody can reach may go on: it is taken for ended only because a person says so. */
  #isAskedToEnd(id: RunId): boolean {
    const state = this.#state.runs.get(id)?.state;
    return state?.phase === 'killing' && state.stop.kind === 'asked';
  }

  #ended(id: RunId, attempt: number, ending: Ending, survivors: readonly LeakedProcess[]): void {
    const planned = this.#planned(id);
    if (planned === null) return;
    const wasKilled = this.#state.runs.get(id)?.state.phase === 'killing';
    const gpuMemory = this.#gpus.ended(id);
    if (ending.kind === 'not-run') this.#launcher.ranShort(ending.shortage);
    const tellEnd = () =>
      withEnd({ id, attempt, plan: planned, ending }, this.#judging(), (event) => {
        this.#tell(event.type === 'run-ended' && gpuMemory !== null ? { ...event, gpuMemory } : event);
        this.#warnings.set(id, 'processes', leakedProcessWords(survivors, wasKilled));
      });
    // Its last row may say that its siblings need not start in its place.
    if (planned.objective?.target === undefined) tellEnd();
    else this.#watcher.catchUp(planned, attempt, tellEnd);
  }

  /** What is up may finish; what waits is held, so that a person can have it all the same. */
  #targetReached({ id }: PlannedRun, reason: string): void {
    const { runs, groups } = this.#state;
    const group = runs.get(id)?.group;
    const ids = [...(group === undefined ? [] : (groups.get(group)?.waiting ?? []))];
    this.#options.log(`${reason}; ${ids.length} runs are held`);
    if (ids.length > 0) this.#tell({ type: 'hold-requested', at: this.#now(), ids, reason });
  }

  #tookOver(id: RunId, elder: number, pid: number): void {
    this.#options.log(`${id}: attempt ${elder} (process ${pid}) still runs; it is taken over, not started again`);
    this.#warnings.set(id, 'elder', `attempt ${elder} was still up and goes on: it was not started again`);
  }

  #newGpuWatch(): GpuWatch {
    const tools = {
      ...{ state: this.#state, runsDirectory: this.#options.runsDirectory, warnings: this.#warnings },
      ...{ now: () => this.#now(), tell: (event: SchedulerEvent) => this.#tell(event) },
      changed: (ids: Iterable<RunId>) => this.#outlook.changed(ids),
    };
    return new GpuWatch(tools, this.#options.surroundings);
  }

  #newLauncher(): Launcher {
    return new Launcher({
      ...{ state: this.#state, book: this.#book, bin: this.#options.bin },
      ...{ executor: this.#executor, gpus: this.#gpus, now: () => this.#now() },
      tell: (event) => this.#tell(event),
      mention: (event) => this.#supervisor.mention(event),
      changed: (id) => this.#outlook.changed([id]),
      tookOver: (...elder) => this.#tookOver(...elder),
      ended: (id, attempt, ending) => this.#ended(id, attempt, ending, []),
    });
  }

  #newWatcher(): Watcher {
    return new Watcher({
      now: () => this.#now(),
      changed: (id) => this.#outlook.changed([id]),
      recalled: () => this.#outlook.changed([]),
      ruleMet: (id, attempt, rule) => {
        if (this.#state.runs.get(id)?.state.phase !== 'running') return;
        this.#tell({ type: 'rule-met', at: this.#now(), id, attempt, rule });
      },
      targetReached: (run, words) => this.#targetReached(run, words),
      hindered: (id, words) => this.#warnings.set(id, 'metrics', words),
      ailing: (run, health) => this.#newsroom.ailing(run, health),
    });
  }

  #newPublisher(): Publisher {
    const desk = this.#newRequestHandler();
    return new Publisher({
      state: this.#state,
      planned: (id) => this.#planned(id)!,
      beside: (run) => ({
        argv: this.#discretion.argv(run),
        parameters: this.#discretion.parameters(run),
        vitals: this.#watcher.vitals(run.id),
        gpuMemory: this.#gpus.memoryOf(run.id),
        pid: this.#executor.pidOf(run.id),
        warning: this.#warnings.of(run.id),
      }),
      delayOf: (id) => this.#launcher.delayOf(id),
      shown: (at) => this.#clock.shown(at),
      sweeps: () => sweepSummaries(this.#state, this.#book, this.#options.runsDirectory),
      unread: () => this.#watcher.unread,
      gpus: () => this.#gpus.statuses(),
      otherProblems: () => [shortageWords(this.#launcher.shortage), this.#gpus.problem, this.#losses.words()],
      answer: (request, client) => desk.answer(request, client),
      prepare: (untilMs) => this.#records.flush(untilMs),
      log: this.#options.log,
    });
  }

  #newRequestHandler(): RequestHandler {
    return new RequestHandler({
      ...this.#knowledge(),
      ...this.#judging(),
      ask: (event) => this.#supervisor.ask(event),
      elderOf: (directory, attempt) => this.#executor.orphanedAttemptOf(directory, attempt),
      inventory: (environment) => this.#gpus.inventory(environment),
      capture: (plan, environment, gpus) =>
        void this.#records.capture(plan, { environment, redact: this.#discretion.of(environment), gpus }),
    });
  }

  /** Whoever looks for sweeps that are not known any more is told why. */
  #noteLosses({ kept, damaged, isNew }: JournalPast): void {
    if (kept === null && !isNew) return;
    const { runsDirectory, log } = this.#options;
    const sweeps = sweepsOnDisk(runsDirectory).filter((sweep) => !this.#state.sweeps.has(sweep));
    if (kept === null && sweeps.length === 0) return;
    const what = damaged === 0 ? 'was no file' : `was damaged (${damaged} lines)`;
    const words =
      kept === null ? `no journal tells of the runs here any more` : `the journal ${what}; it is kept as ${kept}`;
    log(words);
    this.#losses.note(words, sweeps);
  }

  /** What must be on disk besides is put there first: the events that tell of it will be gone. */
  async #snapshot(): Promise<Snapshot> {
    await this.#book.secure();
    const turns = new Turns();
    while (!this.#records.flush(performance.now() + WRITE_MS)) await turns.pass();
    return snapshotOf(this.#state);
  }

  async #takeUp(lately: readonly PastAttempt[]): Promise<void> {
    const runs = [...this.#state.runs.values()];
    this.#book.forgetOthers(this.#planKeys());
    const last = runs.at(-1);
    if (last !== undefined) this.#gpus.lookIn(this.#book.page(last.plan).environment);
    reconcile(this.#state, { executor: this.#executor, planned: ({ id }) => this.#planned(id)!, ...this.#judging() });
    for (const id of this.#state.active) this.#settlePause(this.#state.runs.get(id)!);
    for (const past of lately) {
      const planned = this.#planned(past.id);
      const [startedAt, endedAt] = [this.#clock.shown(past.startedAt), this.#clock.shown(past.endedAt)];
      if (planned !== null) this.#records.confirm(planned, { ...past, startedAt, endedAt });
    }
    this.#newsroom.takeUp();
    this.#clockLook = setInterval(() => this.#lookAtClock(), CLOCK_LOOK_MS).unref();
    const turns = new Turns();
    for (let from = 0; from < runs.length; from += AT_ONCE) {
      this.#changed(new Set(runs.slice(from, from + AT_ONCE).map(({ id }) => id)));
      await turns.pass();
    }
    if (runs.length === 0) this.#changed(new Set());
  }

  /** The last supervisor may have died between deciding on a pause, or on its end, and doing it. */
  #settlePause({ id, state }: Run): void {
    if (state.phase !== 'running') return;
    if (state.pausedAt !== null) this.#executor.pause(id);
    else if (state.pausedMs > 0) this.#executor.continue(id);
  }

  /** The keys of what these runs are, or all. */
  #planKeys(ids: Iterable<RunId> = this.#state.runs.keys(), intakes = this.#state.intakes): Set<string> {
    const keys = new Set(intakes.map(({ submission }) => submission.plan));
    for (const id of ids) {
      const { plan, next } = this.#state.runs.get(id)!;
      keys.add(plan);
      if (next !== null) keys.add(next.plan);
    }
    return keys;
  }

  /** A sweep whose commands are gone cannot go on; the next submit brings it back. What has to be said for that. */
  #unreadable(): SchedulerEvent[] {
    return [...this.#state.sweeps].flatMap(([sweep, ids]) => {
      try {
        const intakes = this.#state.intakes.filter(({ submission }) => submission.sweep === sweep);
        for (const key of this.#planKeys(ids, intakes)) this.#book.page(key);
        return [];
      } catch (error) {
        const up = [...ids].filter((id) => this.#state.active.has(id)).length;
        const rest = up === 0 ? '' : ` ${up} of its runs were up; they are taken over when it is submitted again.`;
        this.#options.log(`sweep ${sweep} is forgotten: ${(error as Error).message}${rest}`);
        this.#losses.note(`the commands of ${sweep} were lost: ${(error as Error).message}`, [sweep]);
        return forgetting(this.#state, sweep, this.#now());
      }
    });
  }

  #perform(action: SchedulerAction): void {
    if (action.type === 'launch') this.#launches.give(action);
    else this.#executor[action.type](action.id);
  }

  #began({ id, state }: Run, { directory }: PlannedRun): void {
    const pid = this.#executor.rootOf(id);
    if (!isActive(state) || pid === null) return;
    this.#gpus.started({ id, gpus: gpusOf(state.slot), pid, directory });
  }

  #heard(touched: ReadonlySet<RunId>, event: SchedulerEvent): void {
    this.#outlook.heard(event);
    if (event.type === 'clock-read') this.#outlook.changed(this.#state.runs.keys());
    this.#newsroom.heard(event, touched);
    this.#changed(touched);
  }

  #changed(touched: ReadonlySet<RunId>): void {
    for (const id of touched) {
      const run = this.#state.runs.get(id);
      if (run === undefined) this.#watcher.forget(id);
      else this.#followUp.follow(run, this.#planned(id)!);
      if (run === undefined || run.state.phase === 'starting') this.#beginAnew(id);
    }
    this.#gpus.follow();
    this.#outlook.changed(touched);
    this.#deadline.set(nextDeadline(this.#state));
  }

  /** What was to be said of the last attempt, beside how it ended, has been said. */
  #beginAnew(id: RunId): void {
    this.#warnings.clear(id);
    this.#gpus.forget(id);
  }

  #originOf(id: RunId) {
    const run = this.#state.runs.get(id);
    const redact = this.#discretion.redactOf(id);
    return run === undefined ? { redact } : { redact, environment: environmentFile(run.plan) };
  }

  #submitted(id: RunId): ReturnType<Submitted> {
    const run = this.#state.runs.get(id);
    if (run === undefined) return null;
    const { runs, environment } = this.#book.page(run.plan);
    const planned = runs.get(id);
    return planned === undefined ? null : { run: planned, environment };
  }

  /** Null for a run that is forgotten. Throws a UserError when its plan is gone. */
  #planned(id: RunId): PlannedRun | null {
    return this.#submitted(id)?.run ?? null;
  }
}

function shortageWords(shortage: string | null): string | null {
  return shortage === null ? null : `no run can be started just now: ${shortage}`;
}
