import * as z from 'zod';
import { GpuIndex, GroupId, RunId } from '../base/ids.js';
import { Outcome } from '../base/outcome.js';
import { Breaker, Chosen, Retry, RunsSubmitted, SeenGpu } from './event.js';
import { file } from './lifecycle/move.js';
import { fileOrder, intakeOf } from './lifecycle/submit.js';
import { Need, Slot } from './placement/slot.js';
import { groupOf, setNeededRuns, setNeeds } from './queue/groups.js';
import { requeue } from './queue/queues.js';
import {
  Boot,
  emptyState,
  type Group,
  GroupStart,
  type Intake,
  OpenGroup,
  type Run,
  type RunState,
  type SchedulerState,
  type Terms,
} from './state.js';

const time = z.number();

const StopCause = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('asked') }),
  z.object({ kind: z.literal('rule'), rule: z.string() }),
  z.object({ kind: z.literal('timeout'), seconds: z.number() }),
]);

const Ending = z.object({ outcome: Outcome, since: time.nullable(), at: time });

const up = { slot: Slot, pid: z.int(), since: time };

/** The schema of a run's state in a snapshot. */
const RunStateSchema: z.ZodType<RunState> = z.discriminatedUnion('phase', [
  z.object({
    phase: z.literal('waiting'),
    notBefore: time.nullable(),
    last: Ending.nullable(),
  }),
  z.object({ phase: z.literal('starting'), slot: Slot, stop: StopCause.nullable() }),
  z.object({
    phase: z.literal('running'),
    ...up,
    pausedAt: time.nullable(),
    pausedMs: time,
    pausedBy: z.literal('window').exactOptional(),
  }),
  z.object({ phase: z.literal('stopping'), ...up, stop: StopCause, killAt: time }),
  z.object({ phase: z.literal('killing'), ...up, stop: StopCause }),
  z.object({ phase: z.literal('ended'), ...Ending.shape }),
]);

/** Properties that many runs of a sweep share; stored once. */
const Common = z.object({
  sweep: z.string(),
  group: GroupId,
  plan: z.string(),
  need: Need,
  graceMs: z.number(),
  priority: z.number(),
  timeoutMs: z.number().nullable(),
  retry: Retry,
});
type Common = z.infer<typeof Common>;

const Hold = z.discriminatedUnion('by', [
  z.object({ by: z.literal('person') }),
  z.object({ by: z.literal('breaker'), reason: z.string(), values: z.string().exactOptional() }),
  z.object({ by: z.literal('target'), reason: z.string() }),
]);

const RunRecord = z.object({
  id: RunId,
  /** Index of its terms in the list of common terms. */
  terms: z.int().nonnegative(),
  order: z.int().nonnegative(),
  /** Absent: none. */
  needs: z.array(RunId).optional(),
  retried: z.int().nonnegative(),
  alone: z.boolean(),
  /** Index of the terms by which it continues; null: none. Version 2 had none. */
  next: z.int().nonnegative().nullable().default(null),
  hold: Hold.nullable(),
  /** Absent: it starts with its group. */
  early: z.literal(true).optional(),
  attempt: z.int().nonnegative(),
  starts: z.int().nonnegative(),
  /** Absent: no attempts have ended. */
  past: z.array(z.tuple([z.number(), z.number()])).optional(),
  state: RunStateSchema,
});

const GroupRecord = z.object({
  id: GroupId,
  needs: z.array(GroupId),
  breaker: Breaker.nullable(),
  /** Number of the quick failures; older versions counted attempts, and did not store which runs failed. */
  quickFailures: z.int().nonnegative(),
  quickFailed: z.array(RunId).default([]),
  /** Absent: 0. */
  trips: z.int().positive().optional(),
  peakMemory: z.number().nullable(),
  /** Absent: all its runs are known. */
  open: OpenGroup.optional(),
  /** Absent: none. */
  dropped: z.array(RunId).optional(),
  /** Absent: its runs may start at any time. */
  start: GroupStart.optional(),
});

const DeviceRecord = SeenGpu.extend({
  uuid: z.string().nullable(),
  drained: z.boolean(),
  drainReason: z.string().optional(),
  present: z.boolean(),
});

/**
 * The whole state of the scheduler as plain JSON, so that earlier events need not be replayed. Runs of a sweep are in the order of
 * its file.
 */
export const Snapshot = z
  .object({
    cpus: z.int().nonnegative(),
    gpus: z.array(GpuIndex),
    chosen: Chosen.default({ cpus: false, gpus: false }),
    devices: z.array(DeviceRecord),
    groups: z.array(GroupRecord),
    terms: z.array(Common),
    runs: z.array(RunRecord),
    nextOrder: z.int().nonnegative(),
    /** Absent in version 2. */
    boots: z.array(Boot).default([]),
    /** Submissions that are still being added, with their remaining runs. Absent in version 3. */
    intakes: z.array(RunsSubmitted).default([]),
  })
  .refine(
    ({ terms, runs }) => runs.every((run) => Math.max(run.terms, run.next ?? 0) < terms.length),
    'a run refers to terms that are not there',
  )
  .refine(
    ({ gpus, devices }) => gpus.every((gpu) => devices.some(({ index }) => index === gpu)),
    'a GPU is not described',
  );
export type Snapshot = z.infer<typeof Snapshot>;

/** The snapshot of a state. It shares parts with the state, so it must be written before the next step. */
export function snapshotOf(state: SchedulerState): Snapshot {
  const { cpu, gpu, groups, sweeps, runs, nextOrder, boots, intakes } = state;
  const table = new Map<string, number>();
  const terms: Common[] = [];
  const byNeed = new Map<Need, number>();
  const placeOf = (own: Common): number => {
    // The runs of one submission share their need object: it is serialized only for the first of them.
    const near = byNeed.get(own.need);
    if (near !== undefined && isSame(terms[near]!, own)) return near;
    const key = JSON.stringify(own);
    const place = table.get(key) ?? terms.push(own) - 1;
    table.set(key, place);
    byNeed.set(own.need, place);
    return place;
  };
  return {
    ...{ cpus: cpu.slots, gpus: [...gpu.gpus], chosen: { cpus: cpu.chosen, gpus: gpu.chosen } },
    ...{ devices: [...gpu.devices.values()] },
    groups: [...groups.values()].map(groupRecord),
    terms,
    runs: [...sweeps.values()]
      .flatMap((ids) => [...ids])
      .map((id) => {
        const run = runs.get(id)!;
        const next = run.next === null ? null : placeOf(commonOf(run, run.next));
        return runRecord(run, placeOf(commonOf(run, run)), next);
      }),
    nextOrder,
    boots: [...boots],
    intakes: intakes.map(intakeRecord),
  };
}

/** The part of a submission that is still to be added, with the file's whole order. */
function intakeRecord({ submission, from }: Intake): Intake['submission'] {
  if (from === 0) return submission;
  return { ...submission, order: [...fileOrder(submission)], runs: submission.runs.slice(from) };
}

/** The state of a snapshot: the same further events lead to the same actions as with the original. */
export function restored({
  chosen,
  cpus,
  gpus,
  devices,
  groups,
  terms,
  runs,
  nextOrder,
  boots,
  intakes,
}: Snapshot): SchedulerState {
  const state = emptyState();
  state.cpu.slots = cpus;
  state.cpu.chosen = chosen.cpus;
  state.gpu.chosen = chosen.gpus;
  state.gpu.gpus = gpus;
  state.nextOrder = nextOrder;
  state.boots.push(...boots);
  for (const device of devices) state.gpu.devices.set(device.index, device);
  for (const record of groups) restoreGroup(state, record);
  state.intakes.push(...intakes.map(intakeOf));
  for (const record of runs) restoreRun(state, runOf(record, terms));
  for (const { id, needs } of runs) if (needs !== undefined) restoreNeeds(state, id, needs);
  // Only after every group knows its runs: an empty group would count as complete.
  for (const { id, needs } of groups) setNeeds(state, id, needs);
  return state;
}

function restoreGroup(state: SchedulerState, record: z.infer<typeof GroupRecord>): void {
  const { id, breaker, quickFailed, trips = 0, peakMemory, open = null, start = null, dropped } = record;
  const group = Object.assign(groupOf(state, id), {
    breaker,
    trips,
    peakMemory,
    open,
    start,
    dropped: new Set(dropped),
  });
  if (start !== null) state.scheduled.add(id);
  for (const run of quickFailed) group.quickFailures.add(run);
}

function restoreRun(state: SchedulerState, run: Run): void {
  const group = groupOf(state, run.group);
  state.runs.set(run.id, run);
  group.runs.add(run.id);
  const ids = state.sweeps.get(run.sweep) ?? new Set();
  run.place = ids.size;
  state.sweeps.set(run.sweep, ids.add(run.id));
  file(state, run, group);
}

/** Restores the needs of a run. Called when all runs are known, as an unknown run counts as not done. */
function restoreNeeds(state: SchedulerState, id: RunId, needs: readonly RunId[]): void {
  const run = state.runs.get(id)!;
  setNeededRuns(state, run, needs);
  requeue(state, run);
}

/** The properties are listed one by one, as object spreads take several times as long for ten thousand runs. */
function runOf(own: z.infer<typeof RunRecord>, all: readonly Common[]): Run {
  const terms = all[own.terms]!;
  return {
    id: own.id,
    sweep: terms.sweep,
    group: terms.group,
    order: own.order,
    place: 0,
    needs: [],
    need: terms.need,
    graceMs: terms.graceMs,
    priority: terms.priority,
    timeoutMs: terms.timeoutMs,
    retry: terms.retry,
    retried: own.retried,
    alone: own.alone,
    hold: own.hold,
    early: own.early ?? false,
    next: own.next === null ? null : nextOf(all[own.next]!),
    plan: terms.plan,
    attempt: own.attempt,
    starts: own.starts,
    past: own.past ?? [],
    state: own.state,
  };
}

function isSame(a: Common, b: Common): boolean {
  return (Object.keys(a) as (keyof Common)[]).every((key) => a[key] === b[key]);
}

function groupRecord(group: Group): z.infer<typeof GroupRecord> {
  const { id, needs, breaker, quickFailures, trips, peakMemory, open, start, dropped } = group;
  return {
    ...{ id, needs: [...needs], breaker, peakMemory },
    ...{ quickFailures: quickFailures.size, quickFailed: [...quickFailures] },
    ...(trips === 0 ? {} : { trips }),
    ...(open === null ? {} : { open }),
    ...(start === null ? {} : { start }),
    ...(dropped.size === 0 ? {} : { dropped: [...dropped] }),
  };
}

function nextOf({ plan, need, graceMs, priority, timeoutMs, retry }: Common): Terms {
  return { plan, need, graceMs, priority, timeoutMs, retry };
}

function runRecord(run: Run, terms: number, next: number | null): z.infer<typeof RunRecord> {
  const { id, order, needs, retried, alone, hold, early, attempt, starts, past, state } = run;
  const record = { id, terms, order, retried, alone, next, hold, attempt, starts, state };
  return {
    ...record,
    ...(early ? { early } : {}),
    ...(needs.length === 0 ? {} : { needs: [...needs] }),
    ...(past.length === 0 ? {} : { past: past.map(([since, at]): [number, number] => [since, at]) }),
  };
}

function commonOf({ sweep, group }: Run, { plan, need, graceMs, priority, timeoutMs, retry }: Terms): Common {
  return { sweep, group, plan, need, graceMs, priority, timeoutMs, retry };
}
