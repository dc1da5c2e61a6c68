/**
 * Turns of the event loop: all that it does between two visits to its immediates. Signals, clients and the ends of runs wait
 * for the end of a turn, so what is long is spread over several, and what cannot be spread has one to itself.
 */
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A turn that has been at work for so long is left to end, ms. */
const TURN_MS = 10;

/** So often others go first. They may keep the loop busy for good. */
const DEFERRALS = 3;

/** What the loop had been at work for when the present turn began, ms; null: nobody has asked yet. */
let began: number | null = null;

export { nextTurn };

/**
 * Whether the present turn has been at work for so long that what can wait should. Waiting for news is no work. To be asked
 * before `await nextTurn()` where even a moment's wait would let something else come between; else `passTurn` does both.
 */
export function isTurnOver(): boolean {
  if (began === null) beginTurn();
  return activeMs() - began! >= TURN_MS;
}

/** For long work in small pieces, after each: others get their turn when this one has lasted long enough. */
export async function passTurn(): Promise<void> {
  if (isTurnOver()) await nextTurn();
}

/** Does it in a coming turn that has not done much yet; at the latest in the fourth. */
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

/** An immediate that keeps no process up (`unref`) is called once in every turn, before those that came later, and makes none by itself. */
function beginTurn(): void {
  began = activeMs();
  setImmediate(beginTurn).unref();
}

function activeMs(): number {
  return performance.eventLoopUtilization().active;
}
