/** A source that is read in parts. */
export type Reading = {
  /** Reads a part of at most about `maxBytes`. `bytes`: number of bytes read; `more`: a further part could be read at once. */
  readPart: (maxBytes: number) => { bytes: number; more: boolean };
};

/** Priority: an ended run whose end is waited for, a live one, a past one. */
export type Rank = 'ended' | 'live' | 'past';

/** Limits on the bytes read in one turn, and of one file in a row. Some 8 ms, and 1.5 ms, of work. */
const TURN_BYTES = 384 << 10;
const PART_BYTES = 64 << 10;
/** A turn ends after this time with the part being read, ms. */
const TURN_MS = 4;
/** Pause between turns, ms, as the start of a run needs several turns of the event loop in a row. */
const PAUSE_MS = 2;
/** One turn in so many starts with past runs, so that a run that writes faster than it is read does not block them for ever. */
const TURN_OF_THE_PAST = 4;

/**
 * Reads files in turns, so that a long one does not block this process: a few ms of work, then other work gets its turn. All
 * readings of a rank take turns, so a long file does not delay a short one.
 *
 * An added reading starts at once as far as the turn allows: for short files, which are nearly all, there is no delay.
 */
export class ReadingQueue {
  readonly #waiting: Readonly<Record<Rank, Set<Reading>>> = { ended: new Set(), live: new Set(), past: new Set() };
  readonly #clock: () => number;
  #bytes = 0;
  #ms = 0;
  #turns = 0;
  #pause: NodeJS.Timeout | null = null;
  #isReading = false;

  /** @param clock ms, any zero. */
  constructor(clock = () => performance.now()) {
    this.#clock = clock;
  }

  /** Reads a source to its end, beginning now. Adding it again changes its rank. */
  add(reading: Reading, rank: Rank): void {
    this.remove(reading);
    this.#waiting[rank].add(reading);
    // Reading a part may add others, which come after it.
    if (!this.#isReading) this.#read();
  }

  remove(reading: Reading): void {
    for (const waiting of Object.values(this.#waiting)) waiting.delete(reading);
  }

  close(): void {
    for (const waiting of Object.values(this.#waiting)) waiting.clear();
    if (this.#pause !== null) clearTimeout(this.#pause);
    this.#pause = null;
  }

  #read(): void {
    this.#isReading = true;
    for (let next = this.#next(); next !== null && !this.#isOver; next = this.#next()) this.#readPart(next);
    this.#isReading = false;
    // The pause begins here, not before, as other work takes place in it.
    this.#pause ??= setTimeout(() => this.#nextTurn(), PAUSE_MS);
  }

  get #isOver(): boolean {
    return this.#bytes >= TURN_BYTES || this.#ms >= TURN_MS;
  }

  #nextTurn(): void {
    this.#pause = null;
    this.#bytes = 0;
    this.#ms = 0;
    this.#turns += 1;
    if (this.#next() !== null) this.#read();
  }

  #next(): { reading: Reading; rank: Rank } | null {
    const isOfThePast = this.#bytes === 0 && this.#turns % TURN_OF_THE_PAST === TURN_OF_THE_PAST - 1;
    for (const rank of isOfThePast ? fromThePast : inOrder) {
      for (const reading of this.#waiting[rank]) return { reading, rank };
    }
    return null;
  }

  #readPart({ reading, rank }: { reading: Reading; rank: Rank }): void {
    // Moves to the end of the line.
    this.#waiting[rank].delete(reading);
    const begun = this.#clock();
    const { bytes, more } = reading.readPart(Math.min(PART_BYTES, TURN_BYTES - this.#bytes));
    this.#bytes += bytes;
    this.#ms += this.#clock() - begun;
    if (more) this.#waiting[rank].add(reading);
  }
}

const inOrder: readonly Rank[] = ['ended', 'live', 'past'];
const fromThePast: readonly Rank[] = ['past', 'ended', 'live'];
