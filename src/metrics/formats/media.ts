/** Limit on the names that are remembered. */
const MOST = 2000;
/** Limit on the names in a sentence. */
const MOST_NAMED = 24;

/** Counts what a program has written that is no number: images, histograms, tables. */
export class Media {
  readonly #known = new Map<string, { readonly kind: string; count: number; step: number }>();

  /** @param step NaN: it is not known. */
  take(name: string, kind: string, step: number): void {
    const known = this.#known.get(name);
    if (known !== undefined) {
      known.count += 1;
      if (!(step < known.step)) known.step = step;
    } else if (this.#known.size < MOST) this.#known.set(name, { kind, count: 1, step });
  }

  forget(): void {
    this.#known.clear();
  }

  /** The same of several files, in words; none where there is nothing. */
  static wordsOf(all: readonly Media[]): readonly string[] {
    const sum = new Media();
    for (const { name, kind, count, step } of all.flatMap((media) => media.#all())) {
      sum.take(name, kind, step);
      sum.#known.get(name)!.count += count - 1;
    }
    const words = sum.#all().map(({ name, kind, count, step }) => {
      return `${name} (${kind}, ${count}×${Number.isNaN(step) ? '' : `, the last at step ${step}`})`;
    });
    const rest = words.length - MOST_NAMED;
    const named = words.slice(0, MOST_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
    return words.length === 0 ? [] : [`no numbers, and without a curve: ${named}`];
  }

  #all() {
    return [...this.#known].map(([name, known]) => ({ name, ...known }));
  }
}
