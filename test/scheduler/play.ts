import { GpuIndex, GroupId, RunId } from '../../src/base/ids.js';
import type { SchedulerAction } from '../../src/scheduler/action.js';
import type { SchedulerEvent, SubmittedRun } from '../../src/scheduler/event.js';
import type { Need } from '../../src/scheduler/slot.js';
import { emptyState, type SchedulerState } from '../../src/scheduler/state.js';
import { step } from '../../src/scheduler/step.js';

export const GRACE_MS = 10_000;

/** Id of a run in the one sweep of these tests. */
export function id(name: string): RunId {
  return RunId.parse(`s/${name}`);
}

/** Plays events from an empty state on; the actions of all of them, in order. */
export function play(...events: SchedulerEvent[]): { state: SchedulerState; actions: SchedulerAction[] } {
  const state = emptyState();
  return { state, actions: events.flatMap((event) => step(state, event).actions) };
}

export function slots(cpus: number, gpus = 0): SchedulerEvent {
  const granted = (gpu: number) => ({ index: GpuIndex.parse(gpu), uuid: `GPU-${gpu}`, memory: null });
  return { type: 'slots-changed', at: 0, cpus, gpus: Array.from({ length: gpus }, (_, gpu) => granted(gpu)) };
}

type Sketch = Partial<Omit<SubmittedRun, 'id' | 'group' | 'need'>> & {
  name: string;
  group?: string;
  need?: Partial<Need>;
};

/** A submit of runs in file order; `needs`: group → groups that must be done first. */
export function submitted(runs: (Sketch | string)[], needs: Record<string, string[]> = {}): SchedulerEvent {
  const all = runs.map((run): SubmittedRun => {
    const { name, group = 'main', need, ...rest } = typeof run === 'string' ? ({ name: run } as Sketch) : run;
    return {
      ...{ graceMs: GRACE_MS, priority: 0, timeoutMs: null, retry: { max: 0, backoffMs: 0, on: [] } },
      ...{ wish: 'run', attempts: 0 },
      ...rest,
      need: { gpus: 0, perGpu: 1, memory: null, ...need },
      ...{ id: id(name), group: GroupId.parse(`s/${group}`) },
    };
  });
  const groups = [...new Set([...all.map(({ group }) => group), ...Object.keys(needs).map((name) => `s/${name}`)])];
  return {
    type: 'runs-submitted',
    at: 0,
    sweep: 's',
    plan: 'p',
    groups: groups.map((group) => ({
      id: GroupId.parse(group),
      needs: (needs[group.slice(2)] ?? []).map((name) => GroupId.parse(`s/${name}`)),
      breaker: null,
    })),
    runs: all,
  };
}

export function started(name: string, attempt = 1, at = 1): SchedulerEvent {
  return { type: 'run-started', at, id: id(name), attempt, pid: 100 };
}

export function ended(name: string, kind: 'done' | 'failed' | 'lost' = 'done', attempt = 1): SchedulerEvent {
  const outcome =
    kind === 'failed' ? ({ kind, code: 1 } as const) : kind === 'lost' ? ({ kind, reason: 'gone' } as const) : { kind };
  return { type: 'run-ended', at: 2, id: id(name), attempt, outcome };
}

export function stopAsked(...names: string[]): SchedulerEvent {
  return { type: 'stop-requested', at: 2, ids: names.map(id) };
}

export function resumeAsked(...names: string[]): SchedulerEvent {
  return { type: 'resume-requested', at: 3, ids: names.map(id) };
}

export function time(at: number): SchedulerEvent {
  return { type: 'time-passed', at };
}

/** `launch a`, `kill b`: actions in short. */
export function short(actions: readonly SchedulerAction[]): string[] {
  return actions.map((action) => `${action.type} ${action.id.slice(2)}`);
}

/** Names of the runs launched, in order. */
export function launched(actions: readonly SchedulerAction[]): string[] {
  return actions.filter(({ type }) => type === 'launch').map((action) => action.id.slice(2));
}
