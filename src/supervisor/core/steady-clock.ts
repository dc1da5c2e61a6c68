/**
 * The clock of the scheduler, and its relation to wall time.
 *
 * Timeouts, grace periods and backoffs are measured by a clock that follows the machine's boot clock: it runs evenly when the wall
 * clock is set, and continues from one supervisor to the next, which resumes it at the journal's last time. While the machine is
 * suspended it stops (CLOCK_MONOTONIC), as no run could do anything. After a reboot, and where boots cannot be told apart (no
 * /proc), it continues with the wall clock, but never backwards.
 *
 * Users see wall time: `at` plus the offset of the wall clock in that boot, as last read. So setting the clock right also corrects
 * the shown times of events before, and durations are always true.
 */
import { hrtime } from 'node:process';
import { untilWholeSecond } from '../../base/lazy.js';
import { bootId } from '../../processes/process-identity.js';
import type { EventOf } from '../../scheduler/event.js';
import type { Boot } from '../../scheduler/state.js';

/** `bootMs`: ms since the boot, equal in all processes; `bootId`: empty if boots cannot be told apart. */
export type Clocks = { wallMs: () => number; bootMs: () => number; bootId: string };

/** Least change of the wall clock's offset that is recorded, ms, as reading two clocks takes time itself. */
const TOLERANCE_MS = 250;

function systemClocks(): Clocks {
  // Not performance.now(), which counts from the start of the process.
  return { wallMs: Date.now, bootMs: () => Number(hrtime.bigint()) / 1e6, bootId: bootId() };
}

export class SteadyClock {
  readonly #boots: readonly Boot[];
  readonly #clocks: Clocks;
  /** Difference between this clock and the boot clock, ms. */
  readonly #lead: number;

  /** @param boots The boots in the scheduler's state; later additions are seen as well. */
  constructor(boots: readonly Boot[], clocks: Clocks = systemClocks()) {
    this.#boots = boots;
    this.#clocks = clocks;
    const last = boots.at(-1);
    const bootMs = clocks.bootMs();
    const continues =
      last !== undefined && clocks.bootId !== '' && last.bootId === clocks.bootId && last.bootMs <= bootMs;
    this.#lead = continues ? last.from - last.bootMs : Math.max(clocks.wallMs(), last?.from ?? 0) - bootMs;
  }

  /** The present time by this clock: ms that never jump, near Unix ms unless the wall clock was set since the boot. */
  now(): number {
    return Math.round(this.#lead + this.#clocks.bootMs());
  }

  /** The wall time of a time by this clock. Unix ms. */
  wallTime(at: number): number {
    const boot = this.#boots.findLast(({ from }) => from <= at);
    return Math.round(at + (boot?.wallAhead ?? 0));
  }

  /** The event that records the clocks; null: the journal has them already. */
  reading(): EventOf<'clock-read'> | null {
    const { wallMs, bootMs, bootId: boot } = this.#clocks;
    const at = this.now();
    const wall = wallMs();
    const last = this.#boots.at(-1);
    const isKnown = last?.bootId === boot && last.from <= at && Math.abs(wall - at - last.wallAhead) < TOLERANCE_MS;
    return isKnown ? null : { type: 'clock-read', at, bootId: boot, bootMs: bootMs(), wallMs: wall };
  }
}

/** Pause between checks whether the wall clock was set, ms. */
const LOOK_MS = 5000;

/** Reports when the wall clock was set, so that shown times follow it. Keeps no process alive. */
export class ClockWatch {
  readonly #clock: Pick<SteadyClock, 'reading'>;
  readonly #tell: (event: EventOf<'clock-read'>) => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(clock: Pick<SteadyClock, 'reading'>, tell: (event: EventOf<'clock-read'>) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  start(): void {
    this.#timer = setTimeout(
      () => {
        const reading = this.#clock.reading();
        if (reading !== null) this.#tell(reading);
        this.start();
      },
      LOOK_MS - 1000 + untilWholeSecond(performance.now()),
    ).unref();
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

/** Calls back once at a set time. A new time replaces the old one. Keeps no process alive. */
export class DeadlineClock {
  readonly #now: () => number;
  readonly #ring: () => void;
  #timer: NodeJS.Timeout | null = null;
  #at: number | null = null;

  /** @param now Unix ms; must not jump. */
  constructor(now: () => number, ring: () => void) {
    this.#now = now;
    this.#ring = ring;
  }

  /** @param at Unix ms; null: no call. */
  set(at: number | null): void {
    if (at === this.#at) return;
    this.clear();
    this.#at = at;
    if (at !== null) this.#wait(at);
  }

  clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#at = null;
  }

  #wait(at: number): void {
    const left = Math.max(0, at - this.#now());
    this.#timer = setTimeout(() => this.#reach(at), Math.min(left, LONGEST_MS)).unref();
  }

  #reach(at: number): void {
    if (this.#now() < at) return this.#wait(at);
    this.clear();
    this.#ring();
  }
}

/** Node fires a timer of more than 24.8 days at once. */
const LONGEST_MS = 2 ** 31 - 1;
