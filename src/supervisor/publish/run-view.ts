import type { Outcome } from '../../base/outcome.js';
import type { RunSummary, RunWord } from '../../protocol/run-summary.js';
import type { Run, RunState } from '../../scheduler/run-state.js';
import { isActive } from '../../scheduler/run-state.js';
import { gpusOf, slotName } from '../../scheduler/placement/slot.js';
import type { PlannedRun } from '../../spec/planned-run.js';

/** What the run's metrics say. */
export type MonitoredMetrics = Pick<RunSummary, 'progress' | 'etaSeconds' | 'metrics' | 'spark' | 'health'>;

export const nothingMonitored: MonitoredMetrics = {
  progress: null,
  etaSeconds: null,
  metrics: {},
  spark: [],
  health: 'ok',
};

/**
 * What is known of a run beside its state. `pid`: of its own process, while there is one. `waiting`: why it is not up, while
 * it waits or starts, or what comes after. `shown`: the wall clock at a time of the scheduler's line, Unix ms.
 */
export type RunContext = Pick<RunSummary, 'argv' | 'parameters' | 'gpuMemory' | 'warning' | 'pid'> & {
  vitals: MonitoredMetrics;
  waiting: string | null;
  shown: (at: number) => number;
};

/** One row for the clients. Every field by its name: spreading ten objects into one takes twenty times as long. */
export function runSummary(run: Run, planned: PlannedRun, beside: RunContext): RunSummary {
  const { state } = run;
  const { vitals } = beside;
  const life = state.phase === 'ended' ? endOf(state) : lifeOf(state);
  const isRunning = state.phase === 'running' && state.pausedAt === null;
  return {
    id: planned.id,
    sweep: planned.sweep,
    group: planned.group,
    subgroup: planned.subgroup,
    name: planned.name,
    directory: planned.directory,
    parameters: beside.parameters,
    argv: beside.argv,
    state: wordOf(run),
    reason: state.phase === 'ended' ? endReason(state.outcome) : beside.waiting,
    attempt: attemptOf(run),
    exit: life.exit,
    slot: life.slot,
    gpus: life.gpus,
    ...(run.need.gpus > 0 ? { gpuCount: run.need.gpus } : {}),
    pid: beside.pid,
    startedAt: shownAt(life.startedAt, beside),
    endedAt: shownAt(life.endedAt, beside),
    killAt: shownAt(life.killAt, beside),
    retryAt: shownAt(retryAtOf(run), beside),
    priority: run.priority,
    gpuMemory: beside.gpuMemory,
    warning: beside.warning,
    progress: state.phase === 'ended' && state.outcome.kind === 'done' ? 1 : vitals.progress,
    etaSeconds: isRunning ? vitals.etaSeconds : null,
    metrics: vitals.metrics,
    spark: vitals.spark,
    // Whoever stands still because it was told to is not stalled.
    health: vitals.health === 'stalled' && !isRunning ? 'ok' : vitals.health,
  };
}

function shownAt(at: number | null, { shown }: Pick<RunContext, 'shown'>): number | null {
  return at === null ? null : shown(at);
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

/** A held run is not started again by itself, whatever it waited for before. */
function retryAtOf({ state, hold }: Run): number | null {
  return state.phase === 'waiting' && hold === null ? state.notBefore : null;
}

function wordOf({ state, hold }: Run): RunWord {
  switch (state.phase) {
    case 'waiting':
      return hold === null ? 'queued' : 'held';
    case 'running':
      return state.pausedAt === null ? 'running' : 'paused';
    case 'killing':
      return 'stopping';
    case 'ended':
      return endWord(state.outcome);
    default:
      return state.phase;
  }
}

function endWord({ kind }: Outcome): RunWord {
  return kind === 'signal' || kind === 'oom' || kind === 'timeout' ? 'failed' : kind;
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

function failureReason(outcome: Exclude<Outcome, { kind: 'done' | 'killed' }>): string {
  switch (outcome.kind) {
    case 'failed':
      return outcome.line ?? `exit code ${outcome.code}`;
    case 'signal':
      return outcome.line === undefined ? outcome.signal : `${outcome.signal}: ${outcome.line}`;
    case 'oom':
      return outcome.line;
    case 'timeout':
      return `used up its ${outcome.seconds} s`;
    case 'lost':
      return outcome.reason;
  }
}
