import * as z from 'zod';
import { GpuIndex, GroupId, RunId } from '../base/ids.js';
import { Outcome } from '../base/outcome.js';
import { Breaker, Chosen, Retry, RunsSubmitted, SeenGpu } from './event.js';
import { file } from './lifecycle/move.js';
import { fileOrder, intakeOf } from './lifecycle/submit.js';
import { Need, Slot } from './placement/slot.js';
import { groupOf, setNeeds } from './queue/groups.js';
import { setNeededRuns } from './queue/needed-runs.js';
import { requeue } from './queue/queues.js';
import type { Run, RunState, Terms } from './run-state.js';
import { Boot, emptyState, type Group, type Intake, OpenGroup, type SchedulerState } from './state.js';

const time = z.number();

const StopCause = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('asked') }),
  z.object({ kind: z.literal('rule'), rule: z.string() }),
  z.object({ kind: z.literal('timeout'), seconds: z.number() }),
]);

const Ending = z.object({ outcome: Outcome, since: time.nullable(), at: time });

const up = { slot: Slot, pid: z.int(), since: time };

/** The state of a run as it is written down. */
const RunStateSchema: z.ZodType<RunState> = z.discriminatedUnion('phase', [
  z.object({
    phase: z.literal('waiting'),
    notBefore: time.nullable(),
    last: Ending.nullable(),
  }),
  z.object({ phase: z.literal('starting'), slot: Slot, stop: StopCause.nullable() }),
  z.object({ phase: z.literal('running'), ...up, pausedAt: time.nullable(), pausedMs: time }),
  z.object({ phase: z.literal('stopping'), ...up, stop: StopCause, killAt: time }),
  z.object({ phase: z.literal('killing'), ...up, stop: StopCause }),
  z.object({ phase: z.literal('ended'), ...Ending.shape }),
]);

/** What runs of a sweep mostly have in common. */
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
  z.object({ by: z.literal('breaker'), reason: z.string() }),
  z.object({ by: z.literal('target'), reason: z.string() }),
]);

const RunRecord = z.object({
  id: RunId,
  /** Place of its terms in the list of them. */
  terms: z.int().nonnegative(),
  order: z.int().nonnegative(),
  /** Absent: none. */
  needs: z.array(RunId).optional(),
  retried: z.int().nonnegative(),
  alone: z.boolean(),
  /** Place of the terms it goes on by; null: none. Version 2 had none. */
  next: z.int().nonnegative().nullable().default(null),
  hold: Hold.nullable(),
  attempt: z.int().nonnegative(),
  starts: z.int().nonnegative(),
  /** Absent: none. */
  past: z.array(z.tuple([z.number(), z.number()])).optional(),
  state: RunStateSchema,
});

const GroupRecord = z.object({
  id: GroupId,
  needs: z.array(GroupId),
  breaker: Breaker.nullable(),
  /** How many of them there are; older versions counted attempts, and knew no more. */
  quickFailures: z.int().nonnegative(),
  quickFailed: z.array(RunId).default([]),
  /** Absent: never. */
  trips: z.int().positive().optional(),
  peakMemory: z.number().nullable(),
  /** Absent: all its runs are known. */
  open: OpenGroup.optional(),
});

const DeviceRecord = SeenGpu.extend({ uuid: z.string().nullable(), drained: z.boolean(), present: z.boolean() });

/** All that the scheduler knows, as plain JSON: the events so far in short. Runs of a sweep in the order of its file. */
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
    /** Version 2 had none. */
    boots: z.array(Boot).default([]),
    /** Submissions that are being taken in, with the runs that are still to come. Version 3 had none. */
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

/** What is to be kept of a state. Shares parts with it: to be written down before the next step. */
export function snapshotOf(state: SchedulerState): Snapshot {
  const { cpu, gpu, groups, sweeps, runs, nextOrder, boots, intakes } = state;
  const table = new Map<string, number>();
  const terms: Common[] = [];
  const byNeed = new Map<Need, number>();
  const placeOf = (own: Common): number => {
    // Runs of one submission share it: only the first of them is put in words.
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

/** What is left to be taken in; the file's order is that of all. */
function intakeRecord({ submission, from }: Intake): Intake['submission'] {
  if (from === 0) return submission;
  return { ...submission, order: [...fileOrder(submission)], runs: submission.runs.slice(from) };
}

/** The state that a snapshot was taken of: the same events bring it to the same actions. */
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
  for (const { id, breaker, quickFailed, trips = 0, peakMemory, open = null } of groups) {
    const group = Object.assign(groupOf(state, id), { breaker, trips, peakMemory, open });
    for (const run of quickFailed) group.quickFailures.add(run);
  }
  state.intakes.push(...intakes.map(intakeOf));
  for (const record of runs) restoreRun(state, runOf(record, terms));
  for (const { id, needs } of runs) if (needs !== undefined) restoreNeeds(state, id, needs);
  // Only now, when every group knows its runs: an empty group would look complete.
  for (const { id, needs } of groups) setNeeds(state, id, needs);
  return state;
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

/** When all runs are known: one that is not counts as not done. */
function restoreNeeds(state: SchedulerState, id: RunId, needs: readonly RunId[]): void {
  const run = state.runs.get(id)!;
  setNeededRuns(state, run, needs);
  requeue(state, run);
}

/** Written out: putting it together from parts costs several times as much, ten thousand times over. */
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
  const { id, needs, breaker, quickFailures, trips, peakMemory, open } = group;
  return {
    ...{ id, needs: [...needs], breaker, peakMemory },
    ...{ quickFailures: quickFailures.size, quickFailed: [...quickFailures] },
    ...(trips === 0 ? {} : { trips }),
    ...(open === null ? {} : { open }),
  };
}

function nextOf({ plan, need, graceMs, priority, timeoutMs, retry }: Common): Terms {
  return { plan, need, graceMs, priority, timeoutMs, retry };
}

function runRecord(run: Run, terms: number, next: number | null): z.infer<typeof RunRecord> {
  const { id, order, needs, retried, alone, hold, attempt, starts, past, state } = run;
  const record = { id, terms, order, retried, alone, next, hold, attempt, starts, state };
  return {
    ...record,
    ...(needs.length === 0 ? {} : { needs: [...needs] }),
    ...(past.length === 0 ? {} : { past: past.map(([since, at]): [number, number] => [since, at]) }),
  };
}

function commonOf({ sweep, group }: Run, { plan, need, graceMs, priority, timeoutMs, retry }: Terms): Common {
  return { sweep, group, plan, need, graceMs, priority, timeoutMs, retry };
}
