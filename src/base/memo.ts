/**
 * The last few results computed from an immutable object, by question. They are freed with the object: a run that writes more gets
 * a new series, and the old one takes its results with it.
 */
export class Memo<Of extends object, Result> {
  readonly #kept: number;
  readonly #known = new WeakMap<Of, readonly (readonly [question: string, result: Result])[]>();

  /** @param kept How many results are kept per object. */
  constructor(kept: number) {
    this.#kept = kept;
  }

  value(of: Of, question: string, compute: () => Result): Result {
    const entries = this.#known.get(of) ?? [];
    const known = entries.find(([asked]) => asked === question);
    if (known !== undefined) return known[1];
    const result = compute();
    this.#known.set(of, [[question, result] as const, ...entries].slice(0, this.#kept));
    return result;
  }
}

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
