import { inWords, isResultName, isSettingName } from '../../../contract/metric-names.js';
import type { WrittenRow } from '../format.js';

/**
 * Tells settings from metrics in what a program prints: what came once in each attempt, before the first value that came again
 * later (`batch_size = 64`), is a setting. Until a value comes again, only names tell them apart.
 */
export class PrintedSettings {
  /** Of all attempts; those with the name of a setting are known at once. */
  readonly #settings = new Set<string>();
  readonly #byName = new Set<string>();
  readonly #metrics = new Set<string>();
  /** Of this attempt: in which row a key came first, and the first row of one that came again. */
  #firstOf = new Map<string, number>();
  #begun = Infinity;
  #row = 0;

  get names(): ReadonlySet<string> {
    return this.#metrics.size === 0 ? this.#byName : this.#settings;
  }

  /** Another attempt prints its settings again. */
  begin(): void {
    this.#firstOf = new Map();
    this.#begun = Infinity;
    this.#row = 0;
  }

  take(row: WrittenRow): void {
    const at = this.#row++;
    for (const key in row) {
      // Of millions of rows nearly all hold nothing else.
      if (this.#metrics.has(key)) {
        if (!this.#firstOf.has(key)) this.#firstOf.set(key, at);
        continue;
      }
      const first = this.#firstOf.get(key);
      if (first !== undefined) this.#cameAgain(first);
      else {
        this.#firstOf.set(key, at);
        if (at >= this.#begun) this.#isMetric(key);
        else this.#isSetting(key);
      }
    }
  }

  #cameAgain(first: number): void {
    this.#begun = Math.min(this.#begun, first);
    for (const [key, at] of this.#firstOf) if (at >= this.#begun) this.#isMetric(key);
  }

  /** The result of an evaluation may be long in coming again. */
  #isSetting(key: string): void {
    const words = inWords(key);
    const isNamed = isSettingName(words);
    if (isNamed || !isResultName(words)) this.#settings.add(key);
    if (isNamed) this.#byName.add(key);
  }

  #isMetric(key: string): void {
    this.#metrics.add(key);
    this.#settings.delete(key);
    this.#byName.delete(key);
  }
}
