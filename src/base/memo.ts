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
