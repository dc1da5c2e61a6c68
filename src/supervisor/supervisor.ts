import type { GroupId, RunId } from '../base/ids.js';
import type { OpenExecutor } from '../executors/executor.js';
import { passTurn } from '../processes/turn.js';
import { nextDeadline } from '../scheduler/lifecycle/move.js';
import { isSettled } from '../scheduler/placement/waiting-reason.js';
import { isOpen } from '../scheduler/queue/groups.js';
import { snapshotOf } from '../scheduler/snapshot.js';
import type { Plan, PlannedRun } from '../spec/planned-run.js';
import { EventLoop } from './core/event-loop.js';
import { reconcile as reconcileLive } from './core/recovery.js';
import { ClockWatch, DeadlineClock } from './core/steady-clock.js';
import { GpuWatch, type HostConfig } from './gpus/gpu-watch.js';
import { DiskWatch } from './health/disk-watch.js';
import { type HealthTimes, HealthWatch } from './health/health-watch.js';
import { NotificationCentre } from './notify/notifications.js';
import { Ownership } from './ownership/ownership.js';
import { problems, Publisher, runContexts } from './publish/publisher.js';
import { RunEtas } from './publish/run-etas.js';
import { sweepSummaries } from './publish/sweep-view.js';
import type { ReaderHooks, ReaderLink } from './reading/reading-messages.js';
import { carryOut } from './requests/request-handler.js';
import { Slots } from './requests/slots.js';
import { type GpuRoom, reconcile as reconcilePlan, Submissions } from './requests/submission.js';
import { Annotations } from './runs/annotations.js';
import { BreakerJudge } from './runs/breaker-judge.js';
import {
  type AskDone,
  type CompletionOf,
  DoneCommands,
  Endings,
  outcomeOf as outcomeBy,
  type OutcomeOf,
} from './runs/endings.js';
import { Launcher } from './runs/launcher.js';
import { Losses } from './runs/losses.js';
import { Proposer } from './runs/proposer.js';
import { Records } from './runs/records.js';
import { RunObserver } from './runs/run-observer.js';
import { RunRedaction } from './runs/run-redaction.js';
import { PlannedRuns, SubmissionStore } from './runs/submission-store.js';
import { UsageWatch } from './runs/usage-watch.js';
import { Warnings } from './runs/warnings.js';
import { Watcher, type WatchListener } from './runs/watcher.js';
import { confirmRecords, followAll, lastEnvironment, type OpenedRuns, openRuns, recallRuns } from './startup.js';

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
    const parts = connected(options, await openRuns(options));
    await parts.resume();
    // Runs that ended meanwhile are not shown as running.
    await parts.loop.untilQuiet();
    await parts.publisher.listen(options.socket);
    return new Supervisor(parts);
  }

  /** Resolves when the supervisor has been idle, without clients, for a while. What it has begun to read it reads to the end. */
  async untilIdle(): Promise<void> {
    const { loop, publisher, isQuiet } = this.#parts;
    let heard: () => void = () => undefined;
    loop.subscribe({ heard: () => heard() });
    for (let idle = 0; idle < LINGER_MS;) {
      // Runs that are up end with an event.
      if (!this.isSettled) await new Promise<void>((resolve) => (heard = resolve));
      await publisher.untilAlone();
      await new Promise((resolve) => setTimeout(resolve, LINGER_LOOK_MS));
      idle = this.isSettled && isQuiet() ? Math.min(idle + LINGER_LOOK_MS, publisher.aloneFor) : 0;
    }
  }

  /** Whether no run is up or can start by itself. */
  get isSettled(): boolean {
    return isSettled(this.#parts.loop.state);
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
    const { loop } = this.#parts;
    loop.tell({ type: 'time-passed', at: loop.now() });
  }

  /** Shuts down. The runs stay up. */
  async close(reason: string): Promise<void> {
    await this.#parts.publisher.close(reason);
    await this.#parts.close();
  }
}

/** What the supervisor itself uses of its parts. `close`: all but the publisher, which goes first. */
type Parts = {
  readonly loop: EventLoop;
  readonly publisher: Publisher;
  /** Whether nothing is being done or read. */
  readonly isQuiet: () => boolean;
  readonly resume: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/**
 * Creates all parts and connects them: the one place that says which part uses which. It is long, as it is read like a diagram. A
 * port that is a function may be called when all parts are there.
 */
function connected(options: SupervisorOptions, opened: OpenedRuns): Parts {
  const { runsDirectory, bin, host, log, completionOf } = options;
  const { journal, state, events } = opened;

  // What the runs are, and the loop that changes what becomes of them.
  const submissions = new SubmissionStore(runsDirectory);
  const plannedRuns = new PlannedRuns(state, submissions);
  const redaction = new RunRedaction((id) => plannedRuns.submitted(id));
  const record = (added: Parameters<typeof journal.append>[0]) => {
    events.flush();
    return journal.append(added);
  };
  const loop = new EventLoop(state, { record, redact: (event) => redaction.event(event) });
  const now = () => loop.now();
  const tell = loop.tell.bind(loop);
  const planned = (id: RunId) => plannedRuns.of(id);
  const deadline = new DeadlineClock(now, () => tell({ type: 'time-passed', at: now() }));
  const clockWatch = new ClockWatch(loop.clock, tell);

  // What is known of the runs beside their states.
  const losses = new Losses(runsDirectory, state.sweeps);
  const annotations = new Annotations(state);
  const warnings = new Warnings(loop, log);
  const notifications = new NotificationCentre({ runsDirectory, log, state, submissions, plannedRuns, redaction });
  const originOf = ({ id }: { id: RunId }) => ({
    redact: redaction.redactOf(id),
    ...plannedRuns.environmentFileOf(id),
  });
  const records = new Records(log, originOf, (id, words) => warnings.set(id, 'record', words));
  const watcher = new Watcher(metricEffects({ loop, warnings, log }), options.openReader);
  const gpus = new GpuWatch({ loop, runsDirectory, warnings, rootOf: (id) => executor.rootOf(id) }, host);
  const unhealthy = (...found: Parameters<NotificationCentre['unhealthy']>) => {
    notifications.unhealthy(...found);
    events.unhealthy(...found);
  };
  const disks = new DiskWatch();
  const health = new HealthWatch(
    { loop, planned, watcher, gauges: () => gpus.gauges, disks, unhealthy },
    options.healthTimes,
  );

  // How runs start and end.
  const doneCommands = new DoneCommands({ loop, plannedRuns, gpus, bin, environment: host.environment });
  const judges = { completionOf, askDone: doneCommands.ask };
  const outcomeOf: OutcomeOf = (run, ending) => outcomeBy(run, ending, judges);
  const endings = new Endings({ loop, plannedRuns, gpus, watcher, warnings, outcomeOf });
  const executor = options.openExecutor(
    { runsDirectory, environment: host.environment },
    {
      ended: (...end) => endings.ended(...end),
      changed: (id) => loop.changed([id]),
      troubled: (id, words) => warnings.set(id, 'trouble', words),
      mayGiveUp: (id) => endings.mayGiveUp(id),
    },
  );
  const launcher = new Launcher({ loop, plannedRuns, records, executor, gpus, endings, bin });
  const orphanedAttemptOf = executor.orphanedAttemptOf.bind(executor);
  const reconcile = (plan: Plan, room: GpuRoom, askDone: AskDone) =>
    reconcilePlan(plan, { state, planned, orphanedAttemptOf, askDone }, completionOf, room);
  // The slots and GPUs of a proposed run are those of the launched ones.
  const proposedRoom = { placed: false, gpus: 0, perGpu: undefined, sharing: () => 1 };
  const proposer = new Proposer({
    ...{ loop, submissions, plannedRuns, watcher, log },
    reconcile: (plan) => reconcile(plan, proposedRoom, doneCommands.ask),
  });
  const parametersOf = (id: RunId) => planned(id)?.parameters ?? null;
  const judge = new BreakerJudge({ state, parametersOf, tell, now });

  // What runs write and use.
  const ownership = new Ownership({ state, plannedRuns, executor, warnings, log, now });
  const observer = new RunObserver({ loop, plannedRuns, records, watcher, ownership, gpus });
  const isWatched = () => publisher.aloneFor === 0;
  const usage: UsageWatch = new UsageWatch({ state, executor, plannedRuns, gpus, loop, isWatched });
  const etas = new RunEtas({ state, planned: (id) => planned(id)!, monitored: (id) => watcher.vitals(id), now });

  // What clients ask, and what they see.
  const slots = new Slots({ loop, gpus, executor });
  const submit = new Submissions({
    ...{ loop, slots, store: submissions, executorName: options.executorName ?? 'local' },
    reconcile: (plan, room, environment) => reconcile(plan, room, doneCommands.askIn(environment)),
    capture: (plan, environment, names) =>
      void records.capture(plan, { environment, redact: redaction.of(environment), gpus: names }),
  });
  const discarded = (id: RunId) => {
    for (const part of [records, watcher, annotations, ownership]) part.forget(id);
    loop.changed([id]);
  };
  const requests = { loop, plannedRuns, executor, annotations, slots, discarded };
  const contextOf = runContexts({
    ...{ plannedRuns, redaction, watcher, executor },
    usageOf: (id) => ({ gpuMemory: gpus.memoryOf(id), ...usage.of(id) }),
    remarksOf: (run) => ({
      health: health.of(run.id),
      warning: warnings.of(run.id, watcher.vitals(run.id).metrics),
      annotation: annotations.of(run),
    }),
  });
  const rows = {
    ...{ loop, planned: (id: RunId) => planned(id)!, contextOf, leftOf: etas.of.bind(etas) },
    delayOf: (id: RunId) => launcher.delayOf(id) ?? executor.placeOf(id)?.words ?? null,
  };
  const status = {
    sweeps: () => sweepSummaries(state, submissions, runsDirectory),
    unread: () => watcher.unread,
    gpus: () => gpus.statuses(),
    nodes: () => executor.nodes(),
  };
  const publisher: Publisher = new Publisher(rows, {
    ...{ status, log, problems: () => problems({ loop, launcher, gpus, losses, watcher }) },
    answer: async (request, client) =>
      request.type === 'command' ? carryOut(request.command, requests) : submit.take(request, client),
    prepare: (untilMs) => records.flush(untilMs),
  });

  // Who hears of an event, in this order. Records and metrics come first, so that later observers of an end can read them.
  loop.subscribe(
    ...[observer, warnings, annotations, gpus, usage, etas, health, publisher, notifications, events, judge, launcher],
    {
      perform: (action) => (action.type === 'launch' ? launcher.launchSoon(action) : executor[action.type](action.id)),
    },
    { follow: () => deadline.set(nextDeadline(state)) },
    proposer,
  );
  journal.standsFor({
    isOurs: options.isOurs,
    log,
    // Files that the snapshot refers to are written first, as the events about them will be gone.
    snapshot: async () => {
      await submissions.secure();
      while (!records.flush(performance.now() + WRITE_MS)) await passTurn();
      return snapshotOf(state);
    },
  });

  /** Continues where the last supervisor ended. Live runs are adopted before clients see them. */
  async function resume(): Promise<void> {
    await recallRuns(opened, { loop, submissions, plannedRuns, losses, runsDirectory, log });
    events.begin({
      wallTime: (at) => loop.clock.wallTime(at),
      planned,
      bestOf: (id) => (watcher.endingOf(id) === null ? null : watcher.vitals(id).best),
    });
    const environment = lastEnvironment(state, plannedRuns);
    if (environment !== null) gpus.lookIn(environment);
    ownership.wereUp(state.active);
    await reconcileLive({ loop, executor, plannedRuns, outcomeOf });
    confirmRecords(opened.recent, { loop, plannedRuns, records });
    notifications.countRuns();
    clockWatch.start();
    await followAll(loop);
    proposer.begin();
  }

  async function close(): Promise<void> {
    for (const part of [launcher, executor, usage, health, ownership]) part.close();
    deadline.clear();
    for (const part of [proposer, clockWatch, records]) part.close();
    await Promise.all([watcher.close(), gpus.close(), notifications.close()]);
    events.close();
    await journal.close();
  }

  const isQuiet = () => loop.isQuiet && ownership.isQuiet && watcher.unread === 0;
  return { loop, publisher, isQuiet, resume, close };
}

type MetricEffectPorts = {
  loop: Pick<EventLoop, 'state' | 'now' | 'tell' | 'changed'>;
  warnings: Pick<Warnings, 'set'>;
  log: (line: string) => void;
};

/** What follows from what the metrics of runs say. */
function metricEffects(ports: MetricEffectPorts): WatchListener {
  const { loop, warnings, log } = ports;
  return {
    ...{ log, now: () => loop.now() },
    changed: (id) => loop.changed([id]),
    recalled: () => loop.changed([]),
    ruleMet: (id, attempt, rule) => {
      if (loop.state.runs.get(id)?.state.phase !== 'running') return;
      loop.tell({ type: 'rule-met', at: loop.now(), id, attempt, rule });
    },
    targetReached: (run, reason) => holdRest(run, reason, ports),
    hindered: (id, words) => warnings.set(id, 'metrics', words),
  };
}

/** What is up may finish; what waits is held, so that a person can have it all the same; and nothing further is proposed. */
function holdRest({ id }: PlannedRun, reason: string, { loop, log }: MetricEffectPorts): void {
  const { state } = loop;
  const group = state.groups.get(state.runs.get(id)?.group as GroupId);
  if (group === undefined) return;
  const ids = [...group.waiting];
  log(`${reason}; ${ids.length} runs are held`);
  if (isOpen(group)) loop.tell({ type: 'groups-closed', at: loop.now(), groups: [group.id], reason });
  if (ids.length > 0) loop.tell({ type: 'hold-requested', at: loop.now(), ids, reason });
}
