import type { GpuIndex, RunId } from '../../base/ids.js';
import type { StepContext } from '../action.js';
import { move } from '../lifecycle/move.js';
import { stop } from '../lifecycle/stop.js';
import { inLine, isActive, type Run } from '../run-state.js';
import { demandOf, hasShare, spareCpu } from './placement.js';
import { type Slot, slotName } from './slot.js';

/** Puts a run that is not up after all back to where it waits; one that was to be stopped has ended. */
export function takeBack(turn: StepContext, run: Run): void {
  const cause = 'stop' in run.state ? run.state.stop : null;
  if (run.next !== null) Object.assign(run, run.next, { next: null });
  move(turn, run, inLine);
  if (cause !== null) stop(turn, run, cause);
}

/**
 * Clears a slot for a run that is known to be there. A launch that was decided for the same room cannot have been made, and
 * is undone, with its number: what the journal says of that attempt is still to come.
 */
export function makeRoom(turn: StepContext, run: Run, slot: Slot): void {
  if (isActive(run.state) && slotName(run.state.slot) === slotName(slot)) return;
  if (slot.kind === 'cpu') clearCpu(turn, slot.index);
  else slot.gpus.forEach((gpu) => clearGpu(turn, run, gpu));
}

function clearCpu(turn: StepContext, index: number): void {
  const { cpu, runs } = turn.state;
  const holder = cpu.holders.get(index);
  const other = holder === undefined ? undefined : runs.get(holder)!;
  if (other?.state.phase === 'starting') undo(turn, other);
  // Where that one is was a guess.
  else if (other !== undefined && isActive(other.state)) move(turn, other, { ...other.state, slot: spareCpu(cpu) });
}

function clearGpu(turn: StepContext, run: Run, gpu: GpuIndex): void {
  const { state } = turn;
  const { perGpu } = demandOf(state, run);
  const holders = state.gpu.shares.get(gpu) ?? new Map<RunId, number>();
  for (const id of [...holders.keys()].reverse()) {
    if (hasShare(holders, perGpu)) return;
    const other = state.runs.get(id)!;
    if (other.state.phase === 'starting' && other !== run) undo(turn, other);
  }
}

function undo(turn: StepContext, run: Run): void {
  run.attempt -= 1;
  takeBack(turn, run);
}
