/** What is read in parts. */
export type Reading = {
  /** Reads a part, about so many bytes at most. `bytes`: read in it; `more`: a further part could be read at once. */
  readPart: (maxBytes: number) => { bytes: number; more: boolean };
};

/** Who comes first: a run that has ended and whose end is waited for, one that lives, one of the past. */
export type Rank = 'ended' | 'live' | 'past';

/** Read in one turn at most, and of one file in a row, bytes. Some 8 ms, and 1.5 ms, of work. */
const TURN_BYTES = 384 << 10;
const PART_BYTES = 64 << 10;
/** A turn that has taken so long ends with the part it is at, ms. */
const TURN_MS = 4;
/** Between turns, ms: a run that is being started needs several turns of the event loop in a row, and should not wait in each. */
const PAUSE_MS = 2;
/** One turn in so many begins with the past, so that a run that writes faster than one can read does not keep it for ever. */
const TURN_OF_THE_PAST = 4;

/**
 * Reads files in turns, so that nothing else in this process waits for a long one: a few ms of work, then others have their
 * turn. All readings of a rank are gone on with in turns, so no long file holds up a short one.
 *
 * What is added is read at once as far as the turn allows: for short files, which is nearly all, it is as if there were no queue.
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

  /** Reads it to its end, beginning now. Adding what is there already changes its rank. */
  add(reading: Reading, rank: Rank): void {
    this.remove(reading);
    this.#waiting[rank].add(reading);
    // A part may add others: they come after it.
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
    // Begun here, not before: it is others' time.
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
    // To the end of the line.
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
