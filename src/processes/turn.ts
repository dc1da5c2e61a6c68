/**
 * Turns of the event loop: the work between two of its immediate phases. Signals, clients and the ends of runs wait for the end of
 * a turn, so long work is spread over several, and work that cannot be spread has a turn to itself.
 */
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A turn that has been active for this long should end, ms. */
const TURN_MS = 10;

/** How often quiet work is deferred, as other work may keep the loop busy for good. */
const DEFERRALS = 3;

/** The engine's own: a clock that a test puts in its place would end the chain of turns for whatever shares the process. */
const realImmediate = globalThis.setImmediate;

/** Active time of the loop at the start of the present turn, ms; null: it has not been asked for yet. */
let began: number | null = null;

export { nextTurn };

/**
 * Whether the present turn has been active for so long that further work should wait. Idle time does not count. Call it before
 * `await nextTurn()` where even a short wait would let other work come between; otherwise `passTurn` does both.
 */
export function isTurnOver(): boolean {
  if (began === null) beginTurn();
  return activeMs() - began! >= TURN_MS;
}

/** Ends a long turn: called after each small piece of long work, so that other work gets its turn. */
export async function passTurn(): Promise<void> {
  if (isTurnOver()) await nextTurn();
}

/** Does work in a coming turn that has been active for a short time only; at the latest in the fourth. */
export function inQuietTurn(work: () => void): void {
  if (began === null) beginTurn();
  defer(work, DEFERRALS);
}

function defer(work: () => void, deferrals: number): void {
  setImmediate(() => {
    if (deferrals === 0 || !isTurnOver()) work();
    else defer(work, deferrals - 1);
  });
}

/**
 * An immediate that does not keep the process alive (`unref`) is called once in every turn, before later ones, and starts no turn
 * by itself.
 */
function beginTurn(): void {
  began = activeMs();
  realImmediate(beginTurn).unref();
}

function activeMs(): number {
  return performance.eventLoopUtilization().active;
}
