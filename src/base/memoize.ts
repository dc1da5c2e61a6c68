/** Keeps the last result and the inputs it was computed from; computes it again only when an input has changed. */
export class Memoized<T> {
  #inputs: readonly unknown[] | null = null;
  #value: T | undefined;

  get current(): T | undefined {
    return this.#value;
  }

  /** Keeps a result that has been computed before it is asked for. */
  keep(inputs: readonly unknown[], value: T): void {
    this.#inputs = inputs;
    this.#value = value;
  }

  value(inputs: readonly unknown[], compute: () => T): T {
    const known = this.#inputs;
    if (known === null || inputs.some((input, index) => !Object.is(input, known[index]))) {
      this.keep(inputs, compute());
    }
    return this.#value!;
  }
}
