import { connect } from '../../client/ensure-supervisor.js';
import type { Fleet } from '../../client/fleet.js';
import { definedEnvironment, type SlotOptions } from '../options.js';
import { requestedSlots } from '../slot-options.js';
import type { ReadPlan } from '../read-plan.js';
import { type Difference, differenceOf, isKnown } from './difference.js';
import { differenceLines, differenceSummary } from './difference-lines.js';
import { type Estimate, estimateAtRest, estimateLive, estimateWords, type Room } from './estimate.js';
import { withoutSecrets } from './hidden-secrets.js';

/** Time limit for a supervisor's answer when a command only reads, ms. */
const PATIENCE_MS = 2000;

/**
 * The fleet of a running supervisor with its complete state; null: none is up, or it does not answer. Starts none. The caller
 * closes it.
 */
export async function fleetIfUp(runsDirectory: string): Promise<Fleet | null> {
  const fleet = await connect(runsDirectory, PATIENCE_MS);
  if (fleet === null) return null;
  await fleet.ready();
  return fleet;
}

/** A plan compared with the existing runs. `fleet` null: no supervisor is up. */
export function differenceFrom(read: ReadPlan, fleet: Pick<Fleet, 'runs'> | null): Difference {
  const planned = withoutSecrets(read.planned, definedEnvironment());
  return differenceOf({ ...read, planned }, fleet?.runs.values() ?? []);
}

/** The estimated duration. `room`: of the machine, if there is no supervisor. `now`: Unix ms. */
export function estimateOf(
  difference: Difference,
  { plan }: Pick<ReadPlan, 'plan'>,
  fleet: Fleet | null,
  { room, now }: { room: Room; now: number },
): Estimate {
  if (fleet === null) return estimateAtRest(difference, plan, { room, now });
  return estimateLive(difference, plan, fleet, { room, leavesBroken: false, now });
}

/** The estimate in words: what an edit adds to a running sweep, else the total. */
export function timeOf(estimate: Estimate, difference: Difference): string | null {
  return estimateWords(estimate, isKnown(difference) && difference.changes.some(({ row }) => isUnderWay(row?.state)));
}

function isUnderWay(state: string | undefined): boolean {
  return state !== undefined && ['queued', 'starting', 'running', 'paused'].includes(state);
}

/** The changes of a known sweep, for the user's confirmation. */
export function editLines(
  difference: Difference,
  read: ReadPlan,
  fleet: Fleet,
  { width, slots }: { width: number; slots: SlotOptions },
): string[] {
  const room = roomOf(fleet, slots);
  const time = timeOf(estimateOf(difference, read, fleet, { room, now: Date.now() }), difference);
  const head = `${read.plan.sweep}: ${differenceSummary(difference)}${time === null ? '' : `; ${time}`}`;
  return [head, ...differenceLines(difference, { width: width - 2, leavesBroken: false }).map((line) => `  ${line}`)];
}

/** The slots that the supervisor uses, with the requested changes. */
function roomOf({ status }: Pick<Fleet, 'status'>, options: SlotOptions): Room {
  const { slots, gpus } = requestedSlots(options);
  const free = status.gpus.filter(({ drained, leasedBy }) => !drained && leasedBy === null).length;
  return { cpuSlots: slots ?? status.cpu.slots, gpus: gpus === undefined ? free : gpus === 'none' ? 0 : gpus.length };
}
