/**
 * The time line of the scheduler, and what of it people are shown.
 *
 * Timeouts, graces and backoffs are measured along a line that runs with the machine's boot clock: it goes on evenly whoever
 * sets the wall clock, and from one supervisor to the next, which takes it up where the journal says it was. While the machine
 * is suspended the line stops (CLOCK_MONOTONIC): no run could do anything in that time. After a reboot, and where boots
 * cannot be told apart (no /proc), the line goes on with the wall clock, but never backwards.
 *
 * People are shown wall time: `at` and how far the wall clock is ahead of the line in that boot, as it was read last. So a
 * clock that is set right after an hour sets right what is shown of that hour, too, and what is shown as elapsed is true.
 */
import { hrtime } from 'node:process';
import { bootId } from '../../processes/process-identity.js';
import type { EventOf } from '../../scheduler/event.js';
import type { Boot } from '../../scheduler/state.js';

/** `bootMs`: ms since the boot, for all processes alike; `bootId`: empty where boots cannot be told apart. */
export type Clocks = { wallMs: () => number; bootMs: () => number; bootId: string };

/** The wall clock is off by no less before it is worth writing down, ms: a look at two clocks takes time itself. */
const TOLERANCE_MS = 250;

function systemClocks(): Clocks {
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
    const continues =
      last !== undefined && clocks.bootId !== '' && last.bootId === clocks.bootId && last.bootMs <= bootMs;
    this.#lead = continues ? last.from - last.bootMs : Math.max(clocks.wallMs(), last?.from ?? 0) - bootMs;
  }

  /** Where the line is: ms that never jump, near Unix ms unless the wall clock was set since the boot. */
  now(): number {
    return Math.round(this.#lead + this.#clocks.bootMs());
  }

  /** The wall clock at a time of the line. Unix ms. */
  wallTime(at: number): number {
    const boot = this.#boots.findLast(({ from }) => from <= at);
    return Math.round(at + (boot?.wallAhead ?? 0));
  }

  /** How the clocks stand, to be written down; null when the journal knows it already. */
  reading(): EventOf<'clock-read'> | null {
    const { wallMs, bootMs, bootId: boot } = this.#clocks;
    const at = this.now();
    const wall = wallMs();
    const last = this.#boots.at(-1);
    const isKnown = last?.bootId === boot && last.from <= at && Math.abs(wall - at - last.wallAhead) < TOLERANCE_MS;
    return isKnown ? null : { type: 'clock-read', at, bootId: boot, bootMs: bootMs(), wallMs: wall };
  }
}

/** Between checks whether the wall clock was set, ms. */
const LOOK_MS = 5000;

/** Tells when the wall clock was set: what people are shown follows it. Keeps no process alive. */
export class ClockWatch {
  readonly #clock: SteadyClock;
  readonly #tell: (event: EventOf<'clock-read'>) => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(clock: SteadyClock, tell: (event: EventOf<'clock-read'>) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  start(): void {
    this.#timer = setInterval(() => {
      const reading = this.#clock.reading();
      if (reading !== null) this.#tell(reading);
    }, LOOK_MS).unref();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }
}

/** Rings once when a moment has come. A new moment takes the place of the old one. Keeps no process alive. */
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

  /** @param at Unix ms; null: there is none. */
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

/** Node rings at once when it is told to wait for longer than 24.8 days. */
const LONGEST_MS = 2 ** 31 - 1;
