/**
 * The time line of the scheduler, and what of it people are shown.
 *
 * Timeouts, graces and backoffs are measured along a line that runs with the machine's boot clock: it goes on evenly whoever
 * sets the wall clock, and from one supervisor to the next, which takes it up where the journal says it was. While the machine
 * is suspended the line stands still (CLOCK_MONOTONIC): no run could do anything in that time. After a reboot, and where boots
 * cannot be told apart (no /proc), the line goes on with the wall clock, but never backwards.
 *
 * People are shown wall time: `at` and how far the wall clock is ahead of the line in that boot, as it was read last. So a
 * clock that is set right after an hour sets right what is shown of that hour, too, and what is shown as elapsed is true.
 */
import { hrtime } from 'node:process';
import { bootId } from '../../processes/process-identity.js';
import type { Boot } from '../../scheduler/lifecycle/boots.js';
import type { EventOf } from '../../scheduler/event.js';

/** `bootMs`: ms since the boot, for all processes alike; `bootId`: empty where boots cannot be told apart. */
export type Clocks = { wallMs: () => number; bootMs: () => number; bootId: string };

/** The wall clock is off by no less before it is worth writing down, ms: a look at two clocks takes time itself. */
const TOLERANCE_MS = 250;

export function systemClocks(): Clocks {
  // Not performance.now(), which counts from the start of the process.
  return { wallMs: Date.now, bootMs: () => Number(hrtime.bigint()) / 1e6, bootId: bootId() };
}

export class SteadyClock {
  readonly #boots: readonly Boot[];
  readonly #clocks: Clocks;
  /** The line less the boot clock, ms. */
  readonly #lead: number;

  /** @param boots Of the scheduler's state; what is added to it later is looked at. */
  constructor(boots: readonly Boot[], clocks: Clocks = systemClocks()) {
    this.#boots = boots;
    this.#clocks = clocks;
    const last = boots.at(-1);
    const bootMs = clocks.bootMs();
    const goesOn = last !== undefined && clocks.bootId !== '' && last.bootId === clocks.bootId && last.bootMs <= bootMs;
    this.#lead = goesOn ? last.from - last.bootMs : Math.max(clocks.wallMs(), last?.from ?? 0) - bootMs;
  }

  /** Where the line is: ms that never jump, near Unix ms unless somebody set the wall clock since the boot. */
  now(): number {
    return Math.round(this.#lead + this.#clocks.bootMs());
  }

  /** The wall clock at a time of the line. Unix ms. */
  shown(at: number): number {
    const boot = this.#boots.findLast(({ from }) => from <= at);
    return Math.round(at + (boot?.wallAhead ?? 0));
  }

  /** How the clocks stand, to be written down; null when the journal knows it already. */
  news(): EventOf<'clock-read'> | null {
    const { wallMs, bootMs, bootId: boot } = this.#clocks;
    const at = this.now();
    const wall = wallMs();
    const last = this.#boots.at(-1);
    const isKnown = last?.bootId === boot && last.from <= at && Math.abs(wall - at - last.wallAhead) < TOLERANCE_MS;
    return isKnown ? null : { type: 'clock-read', at, bootId: boot, bootMs: bootMs(), wallMs: wall };
  }
}
