/**
 * Does one thing after another, in the order in which they were given, but only so many in one turn of the event loop: in
 * between, clients are heard and ends are noticed. What is given while there is little to do is done at once.
 */
export class TurnQueue<Thing> {
  readonly #atOnceMs: number;
  readonly #perform: (thing: Thing) => void;
  readonly #waiting: Thing[] = [];
  /** What this turn has been used for so far, ms. */
  #usedMs = 0;
  #next: NodeJS.Immediate | null = null;

  /** @param atOnceMs When it has taken so long, the rest waits for the next turn. @param perform Must not throw. */
  constructor(atOnceMs: number, perform: (thing: Thing) => void) {
    this.#atOnceMs = atOnceMs;
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
    if (this.#next !== null) clearImmediate(this.#next);
  }

  #performSome(): void {
    while (this.#waiting.length > 0 && this.#usedMs < this.#atOnceMs) {
      const begin = performance.now();
      this.#perform(this.#waiting[0]!);
      this.#waiting.shift();
      this.#usedMs += performance.now() - begin;
    }
    this.#next ??= setImmediate(() => {
      this.#next = null;
      this.#usedMs = 0;
      if (this.#waiting.length > 0) this.#performSome();
    });
  }
}
