import { inQuietTurn, isTurnOver } from '../../processes/turn.js';

/**
 * Does one thing after another, in the order in which they were given, until the turn of the event loop has lasted long enough:
 * in between, clients are heard and ends are noticed. What is given while there is little to do is done at once.
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
    // One that leads to another by being done gives it its place behind those that wait.
    if (this.#waiting.length === 1) this.#performSome();
  }

  /** Does nothing any more. */
  close(): void {
    this.#waiting.length = 0;
  }

  #performSome(): void {
    while (this.#waiting.length > 0 && !isTurnOver()) this.#performNext();
    if (this.#waiting.length > 0) inQuietTurn(() => this.#goOn());
  }

  /** With one at least, however long the turn is already. */
  #goOn(): void {
    if (this.#waiting.length > 0) this.#performNext();
    this.#performSome();
  }

  #performNext(): void {
    this.#perform(this.#waiting[0]!);
    this.#waiting.shift();
  }
}
