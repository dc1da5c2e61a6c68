import { gpuName, type RunId } from '../../base/ids.js';
import type { Parameters } from '../../base/scalar.js';
import type { Executor } from '../../executors/executor.js';
import { isShortOfRoom } from '../../files/disk-room.js';
import type { SweepSummary } from '../../protocol/run-summary.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import type { GpuPool, SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { PlannedRuns } from '../runs/submission-store.js';
import type { RunRedaction } from '../runs/run-redaction.js';
import type { Watcher } from '../runs/watcher.js';
import { type RowSources, RunViewCache, type StatusSources } from './run-view-cache.js';
import type { RunContext, Unwritten } from './run-view.js';
import { type Answer, type Prepare, SocketServer } from './socket-server.js';

type PublisherPorts = {
  /** What is said of all runs together. */
  status: Omit<StatusSources, 'problem'>;
  /** What keeps runs from starting, or makes those that are up useless, in words. */
  problems: () => (string | null)[];
  answer: Answer;
  prepare: Prepare;
  log: (line: string) => void;
};

/** What clients see, and where they come to see it; an observer of the event loop. */
export class Publisher {
  readonly #views: RunViewCache;
  readonly #server: SocketServer;
  readonly #log: (line: string) => void;
  readonly #state: SchedulerState;
  /** Null when they have to be put together again. */
  #sweeps: SweepSummary[] | null = null;
  #wasTakingIn = false;
  #journalProblem: string | null = null;

  /** @param rows Where the rows of runs come from. */
  constructor(rows: RowSources, { status, problems, answer, prepare, log }: PublisherPorts) {
    this.#log = log;
    this.#state = rows.loop.state;
    this.#views = new RunViewCache(rows, {
      ...status,
      sweeps: () => (this.#sweeps ??= status.sweeps()),
      problem: () => {
        const words = [this.#journalProblem, ...problems()].filter((each) => each !== null);
        return words.length === 0 ? null : words.join('; ');
      },
    });
    this.#server = new SocketServer(this.#views, answer, prepare);
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

type RunContextPorts = {
  plannedRuns: Pick<PlannedRuns, 'next'>;
  /** What the run is, without secrets. */
  redaction: Pick<RunRedaction, 'argv' | 'parameters' | 'declared'>;
  watcher: Pick<Watcher, 'vitals' | 'isRead'>;
  executor: Pick<Executor, 'pidOf' | 'awaitsInput' | 'placeOf'>;
  usageOf: (id: RunId) => Pick<RunContext, 'gpuMemory' | 'cpu' | 'memory' | 'system'>;
  /** What a person should know of it: its health, warnings, and what was noted of it. */
  remarksOf: (run: PlannedRun) => Pick<RunContext, 'health' | 'warning' | 'annotation'>;
};

/** The facts in a run's row beside its state, its times and why it waits. */
export function runContexts(ports: RunContextPorts): RowSources['contextOf'] {
  const { plannedRuns, redaction, watcher, executor, usageOf, remarksOf } = ports;
  return (run) => {
    const { id } = run;
    const monitored = watcher.vitals(id);
    const next = plannedRuns.next(id);
    const { gpuMemory, cpu, memory, system = null } = usageOf(id);
    const { health, warning, annotation } = remarksOf(run);
    // By their names; see `runSummary`.
    return {
      argv: redaction.argv(run),
      parameters: redaction.parameters(run),
      next: next === null ? null : changedParameters(run, redaction.parameters(next)),
      declared: redaction.declared(run, monitored.declared),
      ...{ monitored, isRead: watcher.isRead(id), gpuMemory, cpu, memory, system, health, warning, annotation },
      pid: executor.pidOf(id),
      awaitsInput: executor.awaitsInput(id),
      place: executor.placeOf(id),
    };
  };
}

function changedParameters({ parameters }: PlannedRun, now: Parameters): Parameters {
  const isChanged = ([name, value]: [string, Parameters[string]]) =>
    JSON.stringify(parameters[name]) !== JSON.stringify(value);
  return Object.fromEntries(Object.entries(now).filter(isChanged));
}

type ProblemPorts = {
  readonly loop: {
    readonly state: { readonly active: ReadonlySet<RunId>; readonly gpu: Pick<GpuPool, 'gpus' | 'devices'> };
  };
  readonly launcher: { readonly shortage: string | null };
  readonly gpus: { readonly problem: string | null };
  readonly losses: { words(): string | null };
  readonly watcher: { vitals(id: RunId): { readonly unwritten?: Unwritten | null } };
};

/** What keeps runs from starting, or makes those that are up useless, in words. */
export function problems({
  loop: { state },
  launcher: { shortage },
  gpus,
  losses,
  watcher,
}: ProblemPorts): (string | null)[] {
  return [
    shortage === null ? null : `no run can be started right now: ${shortage}`,
    gpus.problem,
    drainedWords(state.gpu),
    losses.words(),
    unwrittenWords(state.active, (id) => watcher.vitals(id).unwritten ?? null),
  ];
}

/** The GPUs that are drained because runs failed on them, and how they take runs again. */
function drainedWords({ gpus, devices }: Pick<GpuPool, 'gpus' | 'devices'>): string | null {
  const held = gpus.map((index) => devices.get(index)!).filter(({ drained, drainReason }) => drained && drainReason);
  const words = held.map(
    ({ index, drainReason }) =>
      `GPU ${gpuName(index)} takes no new runs: ${drainReason}; \`memrl-tui drain ${gpuName(index)} --undo\` lets it take runs again`,
  );
  return words.length === 0 ? null : words.join(' · ');
}

/** The first metric that a sweep file names and a run that is up does not write. */
function unwrittenWords(active: ReadonlySet<RunId>, of: (id: RunId) => Unwritten | null): string | null {
  for (const id of active) {
    const found = of(id);
    if (found?.isCertain === true) return `${id}: ${found.words}`;
  }
  return null;
}
