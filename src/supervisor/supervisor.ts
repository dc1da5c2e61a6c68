import type { RunId } from '../base/ids.js';
import type { Parameters } from '../base/scalar.js';
import type { OpenExecutor } from '../executors/executor.js';
import type { SchedulerAction } from '../scheduler/action.js';
import { nextDeadline } from '../scheduler/lifecycle/deadlines.js';
import { isSettled } from '../scheduler/placement/waiting-reason.js';
import { gpusOf } from '../scheduler/placement/slot.js';
import { isActive } from '../scheduler/run-state.js';
import { type Snapshot, snapshotOf } from '../scheduler/snapshot.js';
import type { PlannedRun } from '../spec/planned-run.js';
import { usableCores } from '../processes/usable-cores.js';
import { EventLoop } from './core/event-loop.js';
import { TurnQueue } from './core/turn-queue.js';
import { ClockWatch, DeadlineClock, SteadyClock } from './core/steady-clock.js';
import { passTurn } from '../processes/turn.js';
import { Ownership } from './ownership/ownership.js';
import { GpuWatch, type HostConfig } from './gpus/gpu-watch.js';
import { DiskWatch } from './health/disk-watch.js';
import { type HealthTimes, HealthWatch } from './health/health-watch.js';
import { NotificationCentre } from './notify/notifications.js';
import { Publisher } from './publish/publisher.js';
import { RunEtas } from './publish/run-etas.js';
import { sweepSummaries } from './publish/run-view.js';
import { RequestHandler } from './requests/request-handler.js';
import { reconcile } from './requests/submission.js';
import { Annotations } from './runs/annotations.js';
import { Endings } from './runs/endings.js';
import { type AskDone, DoneCommands } from './runs/done-commands.js';
import { problems } from './problems.js';
import type { CompletionOf } from './runs/exit-classification.js';
import { doneEnvironment, type Launch } from './runs/launch-spec.js';
import { Launcher } from './runs/launcher.js';
import { Losses } from './runs/losses.js';
import { metricEffects } from './runs/metric-effects.js';
import { PlannedRuns } from './runs/planned-runs.js';
import { BreakerJudge } from './runs/breaker-judge.js';
import { Proposer } from './runs/proposer.js';
import { Records } from './runs/records.js';
import { RunObserver } from './runs/run-observer.js';
import { RunRedaction } from './runs/run-redaction.js';
import { Shortage } from './runs/shortage.js';
import { SubmissionStore } from './runs/submission-store.js';
import { UsageWatch } from './runs/usage-watch.js';
import { Warnings } from './runs/warnings.js';
import { type ReaderHooks, type ReaderLink, Watcher } from './runs/watcher.js';
import { type OpenedRuns, openRuns, resumeRuns } from './startup.js';

export type SupervisorOptions = {
  /** Absolute path. */
  runsDirectory: string;
  /** Folder of our own programs, put at the end of the runs' PATH. */
  bin: string;
  socket: string;
  /** Opens the executor of runs; and its name. */
  openExecutor: OpenExecutor;
  executorName?: string;
  /** Opens the reader of metrics. */
  openReader: (hooks: ReaderHooks) => ReaderLink;
  completionOf: CompletionOf;
  /** Whether this process still holds the lock of the runs directory; takes it again if nobody else has it. */
  isOurs: () => boolean;
  log: (line: string) => void;
  host: HostConfig;
  healthTimes?: HealthTimes;
};

/** Time per turn for writing records before the journal is compacted, ms. */
const WRITE_MS = 10;
/** How long an idle supervisor without clients stays, ms. */
const LINGER_MS = 2000;
/** Interval of checks whether it is still idle, ms. */
const LINGER_LOOK_MS = 200;

/** Owns the runs of a runs directory: carries out the scheduler's decisions, and reports events to the scheduler. */
export class Supervisor {
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Resumes the runs of the journal, then listens. This process must hold the lock of the runs directory. */
  static async start(options: SupervisorOptions): Promise<Supervisor> {
    const opened = await openRuns(options);
    const parts = wired(options, opened);
    await resumeRuns(parts, opened);
    parts.proposer.begin();
    // Runs that ended meanwhile are not shown as running.
    await parts.loop.untilQuiet();
    await parts.publisher.listen(options.socket);
    return new Supervisor(parts);
  }

  /** Resolves when the supervisor has been idle, without clients, for a while. What it has begun to read it reads to the end. */
  async untilIdle(): Promise<void> {
    const { state, loop, ownership, publisher, watcher } = this.#parts;
    let heard: () => void = () => undefined;
    loop.subscribe({ heard: () => heard() });
    for (let idle = 0; idle < LINGER_MS;) {
      // Runs that are up end with an event.
      if (!isSettled(state)) await new Promise<void>((resolve) => (heard = resolve));
      await publisher.untilAlone();
      await new Promise((resolve) => setTimeout(resolve, LINGER_LOOK_MS));
      const isBusy = !isSettled(state) || !loop.isQuiet || !ownership.isQuiet || watcher.unread > 0;
      idle = isBusy ? 0 : Math.min(idle + LINGER_LOOK_MS, publisher.aloneFor);
    }
  }

  /** Whether no run is up or can start by itself. */
  get isSettled(): boolean {
    return isSettled(this.#parts.state);
  }

  /** Whether clients find the socket. */
  get isReachable(): boolean {
    return this.#parts.publisher.isReachable;
  }

  /** Listens on another socket. Connected clients stay. */
  listen(socket: string): Promise<void> {
    return this.#parts.publisher.listen(socket);
  }

  /** Makes the journal check its file with the next event, as the files may have been damaged. */
  wake(): void {
    const { loop, now } = this.#parts;
    loop.tell({ type: 'time-passed', at: now() });
  }

  /** Shuts down. The runs stay up. */
  async close(reason: string): Promise<void> {
    const { publisher, launches, launcher, executor, usage, health, deadline, clockWatch, records, ...rest } =
      this.#parts;
    await publisher.close(reason);
    for (const part of [launches, launcher, executor, usage, health, rest.ownership]) part.close();
    deadline.clear();
    for (const part of [rest.proposer, clockWatch, records]) part.close();
    await Promise.all([rest.watcher.close(), rest.gpus.close(), rest.notifications.close()]);
    rest.events.close();
    await rest.journal.close();
  }
}

/** Creates all parts, each from earlier ones; then subscribes them to events. */
function wired(options: SupervisorOptions, opened: OpenedRuns) {
  const core = withLoop(options, opened);
  const reporting = withReporting(core);
  const running = withObserver(withLauncher(withDoneCommands(reporting)));
  const parts = withClients(running);
  subscribeAll(parts);
  return parts;
}

type Parts = ReturnType<typeof wired>;

/** The state of the runs, and the event loop that changes it. */
function withLoop(options: SupervisorOptions, { journal, state, events }: OpenedRuns) {
  const { runsDirectory } = options;
  const clock = new SteadyClock(state.boots);
  const now = () => clock.now();
  const submissions = new SubmissionStore(runsDirectory);
  const plannedRuns = new PlannedRuns(state, submissions);
  const redaction = new RunRedaction((id) => plannedRuns.submitted(id));
  const loop = new EventLoop(state, {
    record: (added) => {
      events.flush();
      return journal.append(added);
    },
    redact: (event) => redaction.event(event),
  });
  const tell = loop.tell.bind(loop);
  const deadline = new DeadlineClock(now, () => tell({ type: 'time-passed', at: now() }));
  const clockWatch = new ClockWatch(clock, tell);
  const known = { ...options, journal, events, state, submissions, plannedRuns, redaction };
  return { ...known, loop, tell, clock, now, deadline, clockWatch };
}

/** The parts that report on runs: warnings, notifications, records, metrics and GPUs. */
function withReporting(core: ReturnType<typeof withLoop>) {
  const { runsDirectory, host, log, now, state, submissions, plannedRuns, redaction, loop } = core;
  const losses = new Losses(runsDirectory, state.sweeps);
  const annotations = new Annotations(state);
  const warnings = new Warnings(loop);
  const notifications = new NotificationCentre({ runsDirectory, log, state, submissions, plannedRuns, redaction });
  const records = new Records(
    log,
    ({ id }) => ({ redact: redaction.redactOf(id), ...plannedRuns.environmentFileOf(id) }),
    (id, words) => warnings.set(id, 'record', words),
  );
  const watcher = new Watcher(metricEffects({ state, loop, warnings, log, now }), core.openReader);
  const gpus = new GpuWatch({ runsDirectory, state, loop, warnings, now }, host);
  const health = healthWatch({ ...core, watcher, gpus, notifications });
  return { ...core, losses, annotations, warnings, notifications, records, watcher, gpus, health };
}

function healthWatch({
  watcher,
  gpus,
  notifications,
  ...core
}: ReturnType<typeof withLoop> & { watcher: Watcher; gpus: GpuWatch; notifications: NotificationCentre }): HealthWatch {
  const { state, loop, now, plannedRuns, healthTimes } = core;
  return new HealthWatch(
    {
      ...{ state, loop, now },
      planned: (id) => plannedRuns.of(id),
      monitored: (id) => watcher.vitals(id),
      endingOf: (id) => watcher.endingOf(id),
      followedOf: (id, attempt) => watcher.followedOf(id, attempt),
      gauges: () => gpus.gauges,
      disks: new DiskWatch(),
      unhealthy: (run, finding) => {
        notifications.unhealthy(run, finding);
        core.events.unhealthy(run, finding);
      },
    },
    healthTimes,
  );
}

/** The part that calls the commands of done rules. */
function withDoneCommands(known: ReturnType<typeof withReporting>) {
  const doneCommands = new DoneCommands((run) => environmentOfDone(run, known), usableCores());
  const askDone: AskDone = (run) => doneCommands.ask(run);
  return { ...known, doneCommands, askDone };
}

/** The parts that start runs and receive their ends. */
function withLauncher(known: ReturnType<typeof withDoneCommands>) {
  const { runsDirectory, bin, host, openExecutor, log, completionOf, now, tell, state, loop } = known;
  const { submissions, plannedRuns, warnings, watcher, gpus, askDone } = known;
  const changed = (id: RunId) => loop.changed([id]);
  const shortage = new Shortage(now);
  const endings = new Endings({
    state,
    plannedRuns,
    completionOf,
    askDone,
    loop,
    gpus,
    watcher,
    warnings,
    shortage,
    now,
  });
  const executor = openExecutor(
    { runsDirectory, environment: host.environment },
    {
      ended: (...end) => endings.ended(...end),
      changed,
      troubled: (id, words) => warnings.set(id, 'trouble', words),
      mayGiveUp: (id) => endings.mayGiveUp(id),
    },
  );
  const launcher = new Launcher({
    ...{ state, submissions, bin, executor, gpus, shortage, tell, changed, now },
    mention: (event) => loop.mention(event),
    tookOver: (id, orphan, pid) => {
      log(`${id}: attempt ${orphan} (process ${pid}) still runs; it is taken over, not started again`);
      warnings.set(id, 'orphan', `attempt ${orphan} was still running and continues: it was not started again`);
    },
    ended: (id, attempt, ending) => endings.ended(id, attempt, ending, []),
  });
  const launches = new TurnQueue<Launch>((launch) => launcher.launch(launch));
  return { ...known, executor, launcher, launches };
}

/** The parts that observe runs and what they write. */
function withObserver(known: ReturnType<typeof withLauncher>) {
  const { state, plannedRuns, clock, records, watcher, warnings, gpus, executor, log, now } = known;
  const ownership = new Ownership({ state, plannedRuns, executor, warnings, log, now });
  const observed = { state, plannedRuns, clock, records, watcher, ownership, warnings, gpus, executor };
  return { ...known, ownership, observer: new RunObserver(observed) };
}

/** The parts that serve clients. */
function withClients(known: ReturnType<typeof withObserver>) {
  const { runsDirectory, log, state, clock, submissions, plannedRuns, watcher, gpus, launcher, records } = known;
  const { executor, loop } = known;
  const requests = requestHandler(known);
  const proposer = proposerOf(known);
  const planned = (id: RunId) => plannedRuns.of(id)!;
  const etas = new RunEtas({ state, planned, monitored: (id) => watcher.vitals(id), now: known.now });
  const usage: UsageWatch = new UsageWatch({
    ...{ state, executor, loop, gpus, plannedRuns },
    isWatched: () => publisher.aloneFor === 0,
  });
  const publisher = new Publisher({
    ...{ state, log, nodes: () => executor.nodes() },
    planned,
    leftOf: (run) => etas.of(run),
    contextOf: (run) => ({ ...contextOf(run, known), ...usage.of(run.id) }),
    delayOf: (id) => launcher.delayOf(id) ?? executor.placeOf(id)?.words ?? null,
    wallTime: (at) => clock.wallTime(at),
    sweeps: () => sweepSummaries(state, submissions, runsDirectory),
    unread: () => watcher.unread,
    gpus: () => gpus.statuses(),
    otherProblems: () => problems(known),
    answer: (request, client) => requests.answer(request, client),
    prepare: (untilMs) => records.flush(untilMs),
  });
  const judge = new BreakerJudge({
    ...{ state, now: known.now, parametersOf: (id) => plannedRuns.of(id)?.parameters ?? null },
    tell: (event) => loop.tell(event),
  });
  return { ...known, etas, usage, publisher, proposer, judge };
}

function requestHandler(known: ReturnType<typeof withObserver>): RequestHandler {
  const { state, completionOf, now, submissions, plannedRuns, loop, executor, gpus, records, redaction } = known;
  const { annotations, watcher, ownership, bin, doneCommands } = known;
  return new RequestHandler({
    ...{ state, now, submissions, completionOf, annotations },
    askDoneIn: (environment) => (run) =>
      doneCommands.ask(run, doneEnvironment(run, null, { environment, bin, devices: gpus.devices([]) })),
    planned: (id) => plannedRuns.of(id),
    changed: (ids) => loop.changed(ids),
    discarded: (id) => {
      for (const part of [records, watcher, annotations, ownership]) part.forget(id);
      loop.changed([id]);
    },
    ask: (event) => loop.ask(event),
    orphanedAttemptOf: (directory, attempt) => executor.orphanedAttemptOf(directory, attempt),
    ...{ executor, executorName: known.executorName ?? 'local' },
    inventory: (environment) => gpus.inventory(environment),
    capture: (plan, environment, names) =>
      void records.capture(plan, { environment, redact: redaction.of(environment), gpus: names }),
  });
}

/** The environment of a done rule's command, with the GPUs of a run whose process has just ended. */
function environmentOfDone(run: PlannedRun, known: ReturnType<typeof withReporting>): Record<string, string> {
  const { state, plannedRuns, gpus, bin, host } = known;
  const { environment } = plannedRuns.submitted(run.id) ?? host;
  const was = state.runs.get(run.id)?.state;
  const slot = was !== undefined && isActive(was) ? was.slot : null;
  return doneEnvironment(run, slot, { environment, bin, devices: gpus.devices(slot === null ? [] : gpusOf(slot)) });
}

/** Proposes runs of open groups; their slots and GPUs are those of the launched ones. */
function proposerOf(known: ReturnType<typeof withObserver>): Proposer {
  const { state, completionOf, askDone, now, log, submissions, plannedRuns, loop, executor, watcher } = known;
  const room = { placed: false, gpus: 0, perGpu: undefined, sharing: () => 1 };
  const looked = {
    ...{ state, askDone },
    planned: (id: RunId) => plannedRuns.of(id),
    orphanedAttemptOf: (directory: string, attempt: number) => executor.orphanedAttemptOf(directory, attempt),
  };
  return new Proposer({
    ...{ state, submissions, plannedRuns, watcher, now, log },
    reconcile: (plan) => reconcile(plan, looked, completionOf, room),
    ask: (event) => loop.ask(event),
  });
}

/** The facts in a run's row beside its state. */
function contextOf(run: PlannedRun, known: ReturnType<typeof withObserver>) {
  const { redaction, watcher, gpus, executor, warnings, annotations, plannedRuns, health } = known;
  const next = plannedRuns.next(run.id);
  return {
    argv: redaction.argv(run),
    parameters: redaction.parameters(run),
    next: next === null ? null : changedParameters(run, redaction.parameters(next)),
    ...{ monitored: watcher.vitals(run.id), isRead: watcher.isRead(run.id) },
    health: health.of(run.id),
    gpuMemory: gpus.memoryOf(run.id),
    pid: executor.pidOf(run.id),
    awaitsInput: executor.awaitsInput(run.id),
    place: executor.placeOf(run.id),
    warning: warnings.of(run.id, watcher.vitals(run.id).metrics),
    annotation: annotations.of(run),
    declared: redaction.declared(run, watcher.vitals(run.id).declared),
  };
}

function changedParameters({ parameters }: PlannedRun, now: Parameters): Parameters {
  const isChanged = ([name, value]: [string, Parameters[string]]) =>
    JSON.stringify(parameters[name]) !== JSON.stringify(value);
  return Object.fromEntries(Object.entries(now).filter(isChanged));
}

/** Subscribes all observers, in this order; see `Observer`. */
function subscribeAll(parts: ReturnType<typeof withClients>): void {
  const { isOurs, log, loop, deadline, state, journal } = parts;
  // Records and metrics come first, so that later observers of an end can read them.
  const first = ['observer', 'annotations', 'gpus', 'usage', 'etas', 'health', 'publisher'] as const;
  loop.subscribe(
    ...first.map((name) => parts[name]),
    parts.notifications,
    parts.events,
    parts.judge,
    parts.launcher,
    { follow: () => deadline.set(nextDeadline(state)) },
    { perform: (action) => perform(action, parts) },
    parts.proposer,
  );
  journal.standsFor({ isOurs, log, snapshot: () => snapshot(parts) });
}

function perform(action: SchedulerAction, { launches, executor }: ReturnType<typeof withObserver>): void {
  if (action.type === 'launch') launches.give(action);
  else executor[action.type](action.id);
}

/** The snapshot of the state. Files that it refers to are written first, as the events about them will be gone. */
async function snapshot({ submissions, records, state }: ReturnType<typeof withReporting>): Promise<Snapshot> {
  await submissions.secure();
  while (!records.flush(performance.now() + WRITE_MS)) await passTurn();
  return snapshotOf(state);
}
