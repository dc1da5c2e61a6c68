/**
 * How long one turn of the event loop has kept everything else waiting: clients, ends of runs, deadlines.
 *
 * A turn is all that the loop does between two waits for news. An immediate that holds nothing up (`unref`) is called once in
 * every turn and makes none by itself, so an idle supervisor is not woken to be measured; a turn costs 1 µs more.
 *
 * What the machine's other load did is no fault of ours: of a long turn, the time that the thread stood in the run queue is
 * taken off (`/proc/self/schedstat`). What is left is what we computed, or what a system call made us wait for.
 */
import { appendFileSync, closeSync, openSync, readSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { pid } from 'node:process';

/** A turn long enough to be noticed, ms. */
export const LONG_TURN_MS = 50;
/** Between lines in the log, ms. */
const QUIET_MS = 10_000;
/** Between readings of what the system's scheduler says, ms: so much of the time before a turn may be counted with it. */
const READING_MS = 5;

/**
 * One turn. `ms`: its length without the time in the run queue. `computedMs`: what of that the processor did for us; the rest
 * was waiting inside of a system call. Null: the system does not say, and `ms` has the time in the run queue in it.
 */
export type Turn = { ms: number; computedMs: number | null };

/** Of the main thread since it began, ms: on a processor, and ready to run without getting one. */
type Share = { computed: number; queued: number };

/** Calls back after every turn of the event loop that took at least so long, ms, until `close`. */
export class TurnWatch {
  readonly #atLeastMs: number;
  readonly #tell: (turn: Turn) => void;
  readonly #scheduler = openShare();
  #share: Share | null;
  #readAt: number;
  #active: number;
  #longest = 0;
  #isClosed = false;

  constructor(atLeastMs: number, tell: (turn: Turn) => void) {
    this.#atLeastMs = atLeastMs;
    this.#tell = tell;
    this.#share = this.#scheduler?.read() ?? null;
    this.#readAt = performance.now();
    this.#active = activeMs();
    this.#await();
  }

  /** The longest so far, of those that were told; 0: none was, ms. */
  get longest(): number {
    return this.#longest;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#scheduler?.close();
  }

  #await(): void {
    setImmediate(() => this.#take()).unref();
  }

  #take(): void {
    if (this.#isClosed) return;
    const took = activeMs() - this.#active;
    if (took >= this.#atLeastMs || performance.now() - this.#readAt > READING_MS) this.#weigh(took);
    this.#active = activeMs();
    this.#await();
  }

  #weigh(took: number): void {
    const share = this.#scheduler?.read() ?? null;
    const turn = turnOf(took, this.#share, share);
    this.#share = share;
    this.#readAt = performance.now();
    if (turn.ms < this.#atLeastMs) return;
    this.#longest = Math.max(this.#longest, turn.ms);
    this.#tell(turn);
  }
}

/**
 * A turn in which the loop was active for so long, ms, as the scheduler of the system saw it.
 *
 * What was computed is ours. What was spent in the run queue is not, but some of it may have been spent before the turn, so
 * it does not make the turn shorter than what was computed in it.
 */
export function turnOf(active: number, before: Share | null, after: Share | null): Turn {
  if (before === null || after === null) return { ms: active, computedMs: null };
  const computedMs = Math.min(active, after.computed - before.computed);
  return { ms: Math.max(computedMs, active - (after.queued - before.queued)), computedMs };
}

/**
 * Says in the log which turns were long, with a line in ten seconds at most.
 *
 * @param file Also gets a line `PID MS COMPUTED_MS` for every long turn, and every one that was longer than all before; null: there is none.
 */
export function watchTurns(log: (line: string) => void, file: string | null): TurnWatch {
  let unsaid: Turn[] = [];
  let quietUntil = -Infinity;
  const watch = new TurnWatch(file === null ? LONG_TURN_MS : 1, (turn) => {
    if (file !== null && (turn.ms >= watch.longest || turn.ms > LONG_TURN_MS)) note(file, turn);
    if (turn.ms <= LONG_TURN_MS) return;
    unsaid.push(turn);
    if (performance.now() < quietUntil) return;
    log(longTurnWords(unsaid));
    unsaid = [];
    quietUntil = performance.now() + QUIET_MS;
  });
  return watch;
}

/** At least one turn. */
export function longTurnWords(turns: readonly Turn[]): string {
  const { ms, computedMs } = turns.reduce((longest, turn) => (turn.ms > longest.ms ? turn : longest));
  const parts =
    computedMs === null
      ? 'other load of the machine included'
      : `${computedMs.toFixed(0)} ms of computing, ${(ms - computedMs).toFixed(0)} ms of waiting for the system`;
  const others = turns.length === 1 ? '' : `; ${turns.length} such turns since the last such message`;
  return `the event loop was blocked for ${ms.toFixed(0)} ms (${parts})${others}`;
}

function note(file: string, { ms, computedMs }: Turn): void {
  try {
    appendFileSync(file, `${pid} ${ms.toFixed(1)} ${computedMs?.toFixed(1) ?? '-'}\n`);
  } catch {
    // It was asked for by whoever can see that it is missing.
  }
}

/** How long the event loop has done anything but wait, since it began, ms. */
function activeMs(): number {
  return performance.eventLoopUtilization().active;
}

/** Null where the system does not say. One reading costs 2 µs. */
function openShare(): { read: () => Share | null; close: () => void } | null {
  try {
    // Of the first thread of the process, which is ours.
    const file = openSync('/proc/self/schedstat', 'r');
    const bytes = Buffer.alloc(96);
    return {
      read: () => shareIn(bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0))),
      close: () => closeSync(file),
    };
  } catch {
    return null;
  }
}

/** `COMPUTED QUEUED SLICES`, the times in ns. All zero where the kernel was told not to count. */
function shareIn(text: string): Share | null {
  const [computed = 0, queued = NaN] = text.split(' ').map(Number);
  return computed > 0 && queued >= 0 ? { computed: computed / 1e6, queued: queued / 1e6 } : null;
}
