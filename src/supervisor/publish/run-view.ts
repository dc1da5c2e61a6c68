import { basename } from 'node:path';
import { declaredFields, type ShownDeclared } from '../../analysis/declared-parameters.js';
import type { RunPlace } from '../../executors/executor.js';
import type { Finding, Health } from '../../analysis/health/finding.js';
import type { Movement, ToBudget } from '../../analysis/forecast/own-pace.js';
import type { TimeRange } from '../../analysis/forecast/time-range.js';
import { failureReason, type Outcome } from '../../base/outcome.js';
import { endStateOf } from '../../base/run-words.js';
import { awaitingInput, type RunSummary, type RunWord } from '../../protocol/run-summary.js';
import type { VerbTarget } from '../../protocol/run-verbs.js';
import { gpusOf, slotName } from '../../scheduler/placement/slot.js';
import { isActive, type Run, type RunState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import { policyOf } from '../../spec/policy/policy-words.js';
import { startDigests } from '../../spec/expand/identity.js';
import type { DeclaredFacts } from '../../metrics/tree/declared-facts.js';

/**
 * What the run's metrics say. `toBudget`: seconds it took at `at`, on the scheduler's line, to the end of its budget, at its
 * pace; null: nothing tells. `used`: share of its budget that it has used; null: too few readings tell. `movement`: on that line,
 * too; null: there has been none. `step`: of the last value of the metric that stands for the run. `best`: the finite value of the
 * objective that is best; null: there is none. `notFinite`: metrics that matter whose last value is NaN (null in `metrics`) or infinite.
 */
export type MonitoredMetrics = Pick<RunSummary, 'progress' | 'metrics' | 'spark'> & {
  best: number | null;
  counting: string[];
  step: number | null;
  notFinite: readonly string[];
  /** That a metric exceeded the limit declared for it; absent or null: none did. */
  exceeded?: Finding | null;
  /** Absent or null: the run has written all metrics that its sweep file names. */
  unwritten?: Unwritten | null;
  /** Absent: as it was told before. */
  declared?: DeclaredFacts | undefined;
  toBudget: ToBudget | null;
  used: number | null;
  movement: Movement | null;
};

/**
 * Metrics that the sweep file names and the run has not written, in words. `isCertain`: they are a misspelling, or long overdue;
 * else they may still come, as evaluations do, until the run has ended.
 */
export type Unwritten = { readonly words: string; readonly isCertain: boolean };

export const nothingMonitored: MonitoredMetrics = {
  progress: null,
  toBudget: null,
  used: null,
  movement: null,
  metrics: {},
  best: null,
  ...{ counting: [], spark: [], step: null, notFinite: [] },
};

/**
 * What is known of a run beside its state. `pid`: of its own process, while there is one. `waiting`: why it is not up, while
 * it waits or starts, or what comes after. `next`: parameters it goes on with, where they differ. `wallTime`: the wall clock at a time of the scheduler's line, Unix ms.
 */
export type RunContext = Pick<
  RunSummary,
  'argv' | 'parameters' | 'gpuMemory' | 'cpu' | 'memory' | 'warning' | 'pid' | 'annotation'
> & {
  declared?: ShownDeclared | undefined;
  next?: RunSummary['next'];
  awaitsInput?: boolean;
  /** Where it is that something else finds a place for; null: on a slot of this machine. */
  place?: RunPlace | null;
  monitored: MonitoredMetrics;
  isRead?: boolean;
  /** What it uses of the machine, by system metric; null or absent: unknown, or the run is not up. */
  system?: Readonly<Record<string, number>> | null;
  health: Health;
  left: TimeRange | null;
  /** When its start time lets it start, by the wall clock; null: it does not wait for that. */
  startsAt?: number | null;
  waiting: string | null;
  wallTime: (at: number) => number;
};

/** One row for the clients. Every field by its name: spreading ten objects into one takes twenty times as long. */
export function runSummary(run: Run, planned: PlannedRun, context: RunContext): RunSummary {
  const [{ state }, { monitored }] = [run, context];
  const life = state.phase === 'ended' ? endOf(state) : lifeOf(state);
  return {
    id: planned.id,
    sweep: planned.sweep,
    group: planned.group,
    subgroup: planned.subgroup,
    name: planned.name,
    directory: planned.directory,
    parameters: context.parameters,
    argv: context.argv,
    state: wordOf(run),
    reason: reasonOf(state, context),
    attempt: attemptOf(run),
    exit: life.exit,
    ...placeOf(life, context),
    ...roomOf(run),
    pid: context.pid,
    ...timesOf(life, run, context),
    heldBy: heldByOf(run),
    priority: run.priority,
    place: run.place,
    ...lastingOf(planned, monitored),
    next: context.next ?? null,
    gpuMemory: context.gpuMemory,
    cpu: context.cpu,
    memory: context.memory,
    warning: warningOf(run, context),
    progress: state.phase === 'ended' && state.outcome.kind === 'done' ? 1 : monitored.progress,
    ...leftOf(context),
    read: context.isRead ?? true,
    metrics: context.system == null ? monitored.metrics : { ...monitored.metrics, ...context.system },
    infinite: infiniteOf(monitored),
    ...{ counting: monitored.counting, spark: monitored.spark },
    health: context.health.word,
    healthReason: context.health.reason,
    ...declaredFields(context.declared, context.annotation),
  };
}

/** A pipe and a script (`| tee`, `; echo`) have the exit code of their last command. */
function warningOf({ state }: Run, { warning, declared, monitored: { unwritten = null } }: RunContext): string | null {
  const line = state.phase === 'ended' && state.outcome.kind === 'done' ? state.outcome.line : undefined;
  const isTold = unwritten !== null && (unwritten.isCertain || state.phase === 'ended');
  const words = [
    ...(line === undefined ? [] : [`exit code 0, but its log ends with: ${line}`]),
    ...(isTold ? [unwritten.words] : []),
    ...[declared?.differing, warning].flatMap((each) => each ?? []),
  ];
  return words.length === 0 ? null : words.join('; ');
}

function placeOf({ slot, gpus }: Life, { place }: RunContext): Pick<RunSummary, 'slot' | 'gpus' | 'nodeGpus'> {
  return place == null ? { slot, gpus } : { slot: place.node, gpus, nodeGpus: [...place.gpus] };
}

/** JSON has no word for an infinity. */
function infiniteOf({ metrics }: MonitoredMetrics): RunSummary['infinite'] {
  let infinite: Record<string, 'inf' | '-inf'> | null = null;
  for (const key in metrics) {
    const value = metrics[key];
    if (value === Infinity || value === -Infinity) (infinite ??= {})[key] = value > 0 ? 'inf' : '-inf';
  }
  return infinite;
}

/** Whole seconds: a range that is rounded outwards does not claim more than is known. */
function leftOf({ left }: RunContext): Pick<RunSummary, 'etaSeconds' | 'etaRange'> {
  if (left === null) return { etaSeconds: null, etaRange: null };
  return { etaSeconds: Math.round(left.middle), etaRange: [Math.floor(left.low), Math.ceil(left.high)] };
}

/** Where nothing is finite it says so: a field that is left out would stay as it was in a client's copy. */
function bestOf({ objective }: PlannedRun, { best }: MonitoredMetrics): Pick<RunSummary, 'best'> {
  return objective === null ? {} : { best: { metric: objective.name, goal: objective.goal, value: best } };
}

function timesOf({ startedAt, endedAt, killAt }: Life, run: Run, context: RunContext) {
  return {
    startedAt: wallTimeOf(startedAt, context),
    endedAt: wallTimeOf(endedAt, context),
    killAt: wallTimeOf(killAt, context),
    retryAt: wallTimeOf(retryAtOf(run), context),
    startsAt: context.startsAt ?? null,
    ...earlierOf(run, context),
  };
}

/** Of the attempts before the one whose times are told by themselves. */
function earlierOf({ past, state }: Run, { wallTime }: RunContext): Pick<RunSummary, 'earlier'> {
  const earlier = state.phase === 'ended' && state.since !== null ? past.slice(0, -1) : past;
  if (earlier.length === 0) return {};
  return { earlier: earlier.map(([since, at]): [number, number] => [wallTime(since), wallTime(at)]) };
}

/** What holds for all its attempts. */
function lastingOf(planned: PlannedRun, monitored: MonitoredMetrics) {
  const path = planned.snapshot?.path;
  const terms = { policy: policyOf(planned), started: startDigests(planned) };
  return {
    ...terms,
    ...inputOf(planned),
    ...(path ? { snapshot: basename(path) } : {}),
    ...bestOf(planned, monitored),
  };
}

function roomOf({ need: { gpus, cpus } }: Run): Pick<RunSummary, 'gpuCount' | 'cores'> {
  return { ...(gpus > 0 ? { gpuCount: gpus } : {}), ...(cpus === undefined ? {} : { cores: cpus }) };
}

function wallTimeOf(at: number | null, { wallTime }: Pick<RunContext, 'wallTime'>): number | null {
  return at === null ? null : wallTime(at);
}

/** As the process was told (MEMRL_ATTEMPT). A launch that was not made after all has a number too. */
function attemptOf({ starts, state, attempt }: Run): number {
  return starts === 0 && !isActive(state) ? 0 : attempt;
}

/** Times on the scheduler's line. */
type Life = Pick<RunSummary, 'exit' | 'slot' | 'gpus' | 'startedAt' | 'endedAt' | 'killAt'>;

function lifeOf(state: Exclude<RunState, { phase: 'ended' }>): Life {
  return {
    exit: null,
    slot: isActive(state) ? slotName(state.slot) : null,
    gpus: isActive(state) ? [...gpusOf(state.slot)] : [],
    startedAt: 'since' in state ? state.since : null,
    endedAt: null,
    killAt: state.phase === 'stopping' ? state.killAt : null,
  };
}

function endOf({ outcome, since, at }: Extract<RunState, { phase: 'ended' }>): Life {
  const exit = {
    class: outcome.kind,
    code: outcome.kind === 'failed' ? outcome.code : outcome.kind === 'done' && outcome.rule === undefined ? 0 : null,
    signal: outcome.kind === 'signal' ? outcome.signal : null,
  };
  return { exit, slot: null, gpus: [], startedAt: since, endedAt: at, killAt: null };
}

/** What the rules of the run verbs look at: the same as clients see, so that both sides judge alike. */
export function verbTarget(run: Run, planned: PlannedRun | null, startsAt: number | null = null): VerbTarget {
  const terms = { state: wordOf(run), retryAt: retryAtOf(run), priority: run.priority, heldBy: heldByOf(run) };
  return { ...terms, startsAt, ...inputOf(planned) };
}

/** What can be typed into, as its plan says: the executor knows what the present attempt has, and refuses the rest. */
function inputOf(planned: PlannedRun | null): Pick<VerbTarget, 'input'> {
  return planned?.input === undefined ? {} : { input: planned.input };
}

function reasonOf(state: RunState, { awaitsInput, waiting }: RunContext): string | null {
  if (state.phase === 'ended') return endReason(state.outcome);
  return awaitsInput === true && state.phase === 'running' && state.pausedAt === null ? awaitingInput : waiting;
}

function heldByOf({ hold }: Run): VerbTarget['heldBy'] {
  return hold?.by ?? null;
}

/** A held run is not started again by itself, whatever it waited for before. */
function retryAtOf({ state, hold }: Run): number | null {
  return state.phase === 'waiting' && hold === null ? state.notBefore : null;
}

export function wordOf({ state, hold }: Run): RunWord {
  switch (state.phase) {
    case 'waiting':
      return hold === null ? 'queued' : 'held';
    case 'running':
      return state.pausedAt === null ? 'running' : 'paused';
    case 'killing':
      return 'stopping';
    case 'ended':
      return endStateOf(state.outcome.kind);
    default:
      return state.phase;
  }
}

/** How a run ended, where its word does not say it all. */
export function endReason(outcome: Outcome): string | null {
  switch (outcome.kind) {
    case 'done':
      return outcome.rule === undefined ? null : `stopped: ${outcome.rule}`;
    case 'killed':
      return null;
    default:
      return failureReason(outcome);
  }
}
