import { gpuName, nameOf, type RunId, sweepOf } from '../../base/ids.js';
import type { Outcome } from '../../base/outcome.js';
import { nextRunDeadline } from '../lifecycle/move.js';
import { brokenInFile, groupOf, growingGroups, unmetNeed } from '../queue/groups.js';
import { firstBefore, queueHeads, unmetRuns } from '../queue/queues.js';
import { isFarFromStart, openingText } from '../start/group-start.js';
import {
  type Ending,
  type GpuDevice,
  type Group,
  isActive,
  isInBackoff,
  type Run,
  type SchedulerState,
} from '../state.js';
import {
  type Demand,
  demandOf,
  freeMemory,
  freeSlot,
  hasCoresLater,
  isLargeEnough,
  isPossibleLater,
  type Machine,
  type Obstacle,
  obstacleNow,
  usableGpus,
} from './placement.js';

/**
 * Why a run waits, or is paused at the end of its window, in words; null for others. The time of a retry is left out, as `notBefore` of its state holds
 * it.
 */
export function waitingReason(state: SchedulerState, id: RunId): string | null {
  const run = state.runs.get(id);
  if (run?.state.phase === 'running' && run.state.pausedBy === 'window')
    return `continues at ${openingText(state, run)}`;
  if (run?.state.phase !== 'waiting') return null;
  if (run.hold !== null) return holdReason(run.hold);
  if (isInBackoff(run.state)) return backoffReason(run, run.state.last);
  const needed = unmetNeed(state, groupOf(state, run.group));
  if (needed !== null) return needReason(state, needed);
  const runs = unmetRuns(state, run);
  if (runs.length > 0) return neededRunsReason(state, run, runs);
  return roomReason(state, run);
}

/** Whether nothing runs, nothing that waits can start without a request, and no group grows. */
export function isSettled(state: SchedulerState): boolean {
  return isStill(state) && startable(state).length === 0;
}

/** Whether nothing runs, and whatever can start without a request waits for a start time that is not near. */
export function isAsleep(state: SchedulerState): boolean {
  return isStill(state) && startable(state).every((run) => isFarFromStart(state, run));
}

function isStill(state: SchedulerState): boolean {
  const isBusy = state.active.size > 0 || state.intakes.length > 0;
  return !isBusy && nextRunDeadline(state) === null && growingGroups(state).length === 0;
}

/** The first runs of each queue that need no user to start. */
function startable(state: SchedulerState): Run[] {
  return queueHeads(state).filter((run) => isPossibleLater(state, demandOf(state, run)));
}

function holdReason(hold: NonNullable<Run['hold']>): string {
  if (hold.by === 'person') return 'held';
  const then = hold.by === 'target' ? '`release` it to run it anyway' : '`release` them once the cause is fixed';
  return `held: ${hold.reason}; ${then}`;
}

function backoffReason({ retry, retried }: Run, last: Ending): string {
  if (last.outcome.kind === 'done') return 'continues with its larger budget';
  return `${endingWords(last.outcome)}, retry ${retried} of ${retry.max}`;
}

/** How it ended, in a few words. */
function endingWords(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'failed':
      return outcome.line ?? `failed (exit code ${outcome.code})`;
    case 'signal':
      return outcome.line ?? `failed (${outcome.signal})`;
    default:
      return endings[outcome.kind];
  }
}

function needReason(state: SchedulerState, needed: Group): string {
  const name = nameOf(needed.id);
  const [broken] = brokenInFile(needed);
  if (broken === undefined) {
    const count = needed.runs.size - needed.broken.size;
    return `waiting for ${name} (${needed.done.size} of ${count} done)`;
  }
  return `needs ${name}, which ${howEnded(state.runs.get(broken)!)}`;
}

function neededRunsReason({ runs }: SchedulerState, { needs }: Run, unmet: readonly RunId[]): string {
  const broken = unmet.find((id) => runs.get(id)?.state.phase === 'ended');
  if (broken !== undefined) return `needs ${nameOf(broken)}, which ${howEnded(runs.get(broken)!)}`;
  const count = needs.length === 1 ? '' : ` (${needs.length - unmet.length} of ${needs.length} done)`;
  return `waiting for ${nameOf(unmet[0]!)}${count}`;
}

function howEnded({ state }: Run): string {
  return state.phase === 'ended' ? endings[state.outcome.kind] : 'failed';
}

const endings = {
  done: 'is done',
  failed: 'failed',
  signal: 'failed',
  oom: 'ran out of memory',
  timeout: 'timed out',
  killed: 'was killed',
  lost: 'was lost',
} as const;

function roomReason(state: SchedulerState, run: Run): string {
  const demand = demandOf(state, run);
  if (!hasCoresLater(state, demand)) return coresNeverReason(state, demand);
  if (!isPossibleLater(state, demand)) return neverReason(state, demand);
  const opening = openingText(state, run);
  if (opening !== null) return `starts at ${opening}`;
  if (freeSlot(state, demand) !== null) return turnReason(state, run);
  const isShortOfGpus = demand.gpus > 0 && freeSlot(state, { ...demand, cores: 0 }) === null;
  return isShortOfGpus ? waitReason(state, demand) : coresReason(state, demand);
}

function coresNeverReason({ cpu }: SchedulerState, { cores }: Demand): string {
  if (cpu.slots === 0) return 'needs a CPU slot, and there are none';
  return `needs ${cores} CPU slots, and there are ${cpu.slots}`;
}

function coresReason({ cpu }: SchedulerState, { cores }: Demand): string {
  return `waiting for ${cores === 1 ? 'a slot' : `${cores} slots`} (${cpu.busy} of ${cpu.slots} busy)`;
}

function turnReason(state: SchedulerState, run: Run): string {
  const first = firstBefore(state, run);
  return first === null ? 'about to start' : `waiting behind ${nameOf(first.id)}`;
}

/** Why a run can never get its GPUs with the present settings. */
function neverReason(machine: Machine, demand: Demand): string {
  const granted = usableGpus(machine, demand);
  if (granted.length < demand.gpus) {
    return `needs ${gpuCount(demand.gpus)}, and ${granted.length} may be used${limitWords(demand)}`;
  }
  const large = granted.filter((device) => isLargeEnough(device, demand));
  if (large.length >= demand.gpus) return waitReason(machine, demand);
  const most = Math.max(...granted.map(({ memory }) => memory ?? 0));
  const where = demand.gpus === 1 ? 'on a GPU' : `on ${demand.gpus} GPUs`;
  const there = large.length > 0 ? `${large.length} of that size may be used` : `the largest has ${thousands(most)}`;
  return `needs ${mebibytes(demand)} ${where}, and ${there}`;
}

/** The limit that the shell of its launch sets, in words. */
function limitWords({ within }: Demand): string {
  if (within === null) return '';
  const which = within.length === 0 ? 'no GPU' : `GPU ${within.map(gpuName).join(', ')}`;
  return ` (the shell of its launch showed it ${which})`;
}

/** Why a run does not get its GPUs now. */
function waitReason(machine: Machine, demand: Demand): string {
  const granted = usableGpus(machine, demand);
  const met = granted.map((device) => ({ device, obstacle: obstacleNow(machine, device, demand) }));
  const stuck = (kind: Obstacle) => met.filter(({ obstacle }) => obstacle === kind).map(({ device }) => device);
  if (stuck('leased').length === granted.length) return leasedReason(granted);
  if (stuck('memory').length > 0) return memoryReason(machine, demand, stuck('memory'));
  const what = demand.gpus === 1 ? 'a GPU' : gpuCount(demand.gpus);
  const parts = [
    `${stuck('busy').length} of ${granted.length} busy`,
    ...count(stuck('drained'), 'drained'),
    ...goneWords(stuck('gone')),
    ...count(stuck('foreign'), `used by ${names(stuck('foreign').flatMap(({ foreign }) => foreign))}`),
    ...count(stuck('leased'), `taken by runs in ${names(stuck('leased').map(({ leasedBy }) => leasedBy!))}`),
  ];
  return `waiting for ${what} (${parts.join(', ')})`;
}

/** Those that the driver does not report, by name: they are looked for by whoever waits for them. */
function goneWords(devices: readonly GpuDevice[]): string[] {
  const which = devices.map(({ index }) => gpuName(index)).join(', ');
  return devices.length === 0 ? [] : [`GPU${devices.length === 1 ? '' : 's'} ${which} gone`];
}

function leasedReason(devices: readonly GpuDevice[]): string {
  const whose = names(devices.map(({ leasedBy }) => leasedBy!));
  const which = devices.map(({ index }) => gpuName(index)).join(', ');
  return devices.length === 1 ? `GPU ${which} belongs to runs in ${whose}` : `GPUs ${which} belong to runs in ${whose}`;
}

function memoryReason(machine: Machine, demand: Demand, devices: readonly GpuDevice[]): string {
  const most = Math.max(0, ...devices.map((device) => freeMemory(machine, device)!));
  const where = demand.gpus === 1 ? 'a GPU' : `${demand.gpus} GPUs`;
  return `waiting for ${mebibytes(demand)} on ${where} (most free: ${thousands(most)})`;
}

function mebibytes({ memory }: Demand): string {
  return `${thousands(memory!)} MiB`;
}

function gpuCount(gpus: number): string {
  return `${gpus} GPU${gpus === 1 ? '' : 's'}`;
}

function count(devices: readonly GpuDevice[], what: string): string[] {
  return devices.length === 0 ? [] : [`${devices.length} ${what}`];
}

/** The first two names, which is enough for a row of a table. */
function names(all: readonly string[]): string {
  const [first, second, ...others] = new Set(all);
  const shown = [first, second].filter((name) => name !== undefined).join(', ');
  return others.length === 0 ? shown : `${shown} and ${others.length} more`;
}

function thousands(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

/**
 * Whether none of these runs is up, and none will be unless a user acts: the rest is held, needs a run that failed, or needs
 * another machine. False while runs are being added. Call it with all runs of a sweep, as runs need others of their sweep.
 */
export function isIdle(state: SchedulerState, ids: Iterable<RunId>): boolean {
  if (state.intakes.length > 0) return false;
  for (const id of ids) if (canMove(state, state.runs.get(id)!)) return false;
  return true;
}

/** The sweeps of which runs wait, none is up, and none will be unless a user acts. None while runs are being added. */
export function stuckSweeps(state: SchedulerState): string[] {
  const waiting = [...state.groups.values()].filter((group) => group.waiting.size > 0);
  return [...new Set(waiting.map(({ id }) => sweepOf(id)))].filter((sweep) => isSweepOver(state, sweep));
}

/** Whether no run of a sweep is up, and none will be unless a user acts. False while runs are being added. */
export function isSweepOver(state: SchedulerState, sweep: string): boolean {
  if (state.intakes.length > 0) return false;
  for (const id of state.active) if (sweepOf(id) === sweep) return false;
  if (growingGroups(state).some(({ id }) => sweepOf(id) === sweep)) return false;
  const own = [...state.groups.values()].filter(({ id }) => sweepOf(id) === sweep);
  return own.every(({ waiting }) => isIdle(state, waiting));
}

function canMove(state: SchedulerState, run: Run): boolean {
  if (isActive(run.state)) return true;
  if (run.state.phase === 'ended' || run.hold !== null) return false;
  return isInBackoff(run.state) || (state.queued.has(run.id) && isPossibleLater(state, demandOf(state, run)));
}
