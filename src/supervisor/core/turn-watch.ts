/**
 * Measures how long one turn of the event loop has delayed everything else: clients, ends of runs, deadlines.
 *
 * A turn is the work between two polls. An immediate that does not keep the process alive (`unref`) is called once in every turn
 * and starts none, so an idle supervisor is not woken for the measurement; it costs 1 µs per turn.
 *
 * The load of other processes is not counted: the time that the thread spent in the run queue (`/proc/self/schedstat`) is
 * subtracted from a long turn. The rest is our own computation, or blocking system calls.
 */
import { appendFileSync, closeSync, openSync, readSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { pid } from 'node:process';

/** Minimum length of a turn that is reported, ms. */
export const LONG_TURN_MS = 50;
/** Pause between lines in the log, ms. */
const QUIET_MS = 10_000;
/** Pause between readings of the kernel scheduler's data, ms: up to that much time before a turn may be counted with it. */
const READING_MS = 5;

/**
 * One turn. `ms`: its length without the time in the run queue. `computedMs`: CPU time in it; the rest was spent in blocking system
 * calls. Null: the system does not report it, and `ms` includes the time in the run queue.
 */
export type Turn = { ms: number; computedMs: number | null };

/** Times of the main thread since its start, ms: on a CPU, and waiting for one. */
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

  /** The longest reported turn so far, ms; 0: there was none. */
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
 * A turn in which the loop was active for so long, ms, corrected by the kernel scheduler's data.
 *
 * CPU time counts. Time in the run queue does not, but some of it may have been spent before the turn, so the result is at least
 * the CPU time.
 */
export function turnOf(active: number, before: Share | null, after: Share | null): Turn {
  if (before === null || after === null) return { ms: active, computedMs: null };
  const computedMs = Math.min(active, after.computed - before.computed);
  return { ms: Math.max(computedMs, active - (after.queued - before.queued)), computedMs };
}

/**
 * Logs long turns, with at most one line in ten seconds.
 *
 * @param file Also gets a line `PID MS COMPUTED_MS` for every long turn, and for every one that is longer than all before; null: no
 * file.
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

/** Describes long turns, at least one. */
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
    // The user asked for the file and will notice that it is missing.
  }
}

/** How long the event loop has been active since its start, ms. */
function activeMs(): number {
  return performance.eventLoopUtilization().active;
}

/** Opens the kernel scheduler's data; null: the system has none. One reading takes 2 µs. */
function openShare(): { read: () => Share | null; close: () => void } | null {
  try {
    // The data of the first thread of the process, which is the main thread.
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

/** Parses `COMPUTED QUEUED SLICES`, with times in ns. All are zero if the kernel does not count them. */
function shareIn(text: string): Share | null {
  const [computed = 0, queued = NaN] = text.split(' ').map(Number);
  return computed > 0 && queued >= 0 ? { computed: computed / 1e6, queued: queued / 1e6 } : null;
}
