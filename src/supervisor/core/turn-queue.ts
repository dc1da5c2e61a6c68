import { inQuietTurn, isTurnOver } from '../../processes/turn.js';

/**
 * Processes items one after another, in order, until the present turn of the event loop has lasted long enough; then other work
 * gets its turn. An item that is added while there is little to do is processed at once.
 */
export class TurnQueue<Thing> {
  readonly #perform: (thing: Thing) => void;
  readonly #waiting: Thing[] = [];

  /** @param perform Must not throw. */
  constructor(perform: (thing: Thing) => void) {
    this.#perform = perform;
  }

  give(thing: Thing): void {
    this.#waiting.push(thing);
    // An item that is added while another is processed waits behind the earlier ones.
    if (this.#waiting.length === 1) this.#performSome();
  }

  /** Drops all waiting items. */
  close(): void {
    this.#waiting.length = 0;
  }

  #performSome(): void {
    while (this.#waiting.length > 0 && !isTurnOver()) this.#performNext();
    if (this.#waiting.length > 0) inQuietTurn(() => this.#continue());
  }

  /** Continues with at least one item, however long the turn has lasted. */
  #continue(): void {
    if (this.#waiting.length > 0) this.#performNext();
    this.#performSome();
  }

  #performNext(): void {
    this.#perform(this.#waiting[0]!);
    this.#waiting.shift();
  }
}
