import { GpuIndex, GroupId, RunId } from '../../src/base/ids.js';
import type { Outcome } from '../../src/base/outcome.js';
import type {
  Breaker,
  GrantedGpu,
  SchedulerAction,
  SchedulerEvent,
  SeenGpu,
  SubmittedRun,
} from '../../src/scheduler/event.js';
import type { Need } from '../../src/scheduler/placement/slot.js';
import { slotName } from '../../src/scheduler/placement/slot.js';
import { emptyState, type Run, type SchedulerState } from '../../src/scheduler/state.js';
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

/** The run of that name after these events. */
export function after(name: string, ...events: SchedulerEvent[]): Run {
  return play(...events).state.runs.get(id(name))!;
}

export function slots(cpus: number, gpus = 0): SchedulerEvent {
  return gpuSlots(
    Array.from({ length: gpus }, (_, index) => ({ index })),
    cpus,
  );
}

/** GPUs in order of preference; their memory in MiB. */
export function gpuSlots(gpus: { index: number; memory?: number }[], cpus = 0): SchedulerEvent {
  const granted = gpus.map(({ index, memory = null }): GrantedGpu & object => {
    return { index: GpuIndex.parse(index), uuid: `GPU-${index}`, memory };
  });
  return { type: 'slots-changed', at: 0, cpus, gpus: granted };
}

export type Seen = { index: number } & Partial<Omit<SeenGpu, 'index'>>;

export function seen(...gpus: Seen[]): SchedulerEvent {
  return {
    ...{ type: 'gpus-seen', at: 2 },
    gpus: gpus.map(({ index, ...rest }) => ({
      ...{ index: GpuIndex.parse(index), memory: null, foreignMemory: 0, foreign: [], leasedBy: null },
      ...rest,
    })),
  };
}

export function drained(gpu: number, isDrained = true): SchedulerEvent {
  return { type: 'drain-requested', at: 2, gpus: [GpuIndex.parse(gpu)], drained: isDrained };
}

export type Sketch = Partial<Omit<SubmittedRun, 'id' | 'group' | 'need'>> & {
  name: string;
  group?: string;
  need?: Partial<Need>;
};

/** A submit of runs in file order; `needs`: group → groups that must be done first. */
export function submitted(
  runs: (Sketch | string)[],
  needs: Record<string, string[]> = {},
  breaker: Breaker | null = null,
): SchedulerEvent {
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
      breaker,
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

/** An ending of any kind, at any time. `gpuMemory`: MiB. */
export function endedAs(
  name: string,
  outcome: Outcome,
  more: { at?: number; attempt?: number; gpuMemory?: number; agoMs?: number } = {},
): SchedulerEvent {
  return { type: 'run-ended', at: 2, id: id(name), attempt: 1, outcome, ...more };
}

type Request = Extract<SchedulerEvent, { ids: unknown }>['type'];

/** `asked('hold', 'a')`: a person wants it, at time 3. */
export function asked(
  verb: Exclude<Request extends `${infer Verb}-requested` ? Verb : never, 'priority'>,
  names: string | string[],
  at = 3,
): SchedulerEvent {
  return { type: `${verb}-requested`, at, ids: [names].flat().map(id) };
}

export function prioritised(name: string, priority: number): SchedulerEvent {
  return { type: 'priority-requested', at: 3, ids: [id(name)], priority };
}

export function stopAsked(...names: string[]): SchedulerEvent {
  return asked('stop', names, 2);
}

export function resumeAsked(...names: string[]): SchedulerEvent {
  return asked('resume', names);
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

/** `a: gpu 0`: where each run was put, in order. */
export function placements(...events: SchedulerEvent[]): string[] {
  return play(...events).actions.flatMap((action) =>
    action.type === 'launch' ? [`${action.id.slice(2)}: ${slotName(action.slot)}`] : [],
  );
}
