import { inWords, isResultName, isSettingName } from '../../../contract/metric-names.js';
import type { WrittenRow } from '../format.js';

/**
 * Distinguishes settings from metrics in a log: a key that occurs once in each attempt, before the first key that is repeated, is a
 * setting (`batch_size = 64`). Until a key is repeated, names decide.
 */
export class PrintedSettings {
  /** Settings of all attempts; those with the name of a setting are known at once. */
  readonly #settings = new Set<string>();
  readonly #byName = new Set<string>();
  readonly #metrics = new Set<string>();
  /** In this attempt: the row in which each key first occurred, and the first row of a repeated key. */
  #firstOf = new Map<string, number>();
  #begun = Infinity;
  #row = 0;

  get names(): ReadonlySet<string> {
    return this.#metrics.size === 0 ? this.#byName : this.#settings;
  }

  /** Starts another attempt, which prints its settings again. */
  begin(): void {
    this.#firstOf = new Map();
    this.#begun = Infinity;
    this.#row = 0;
  }

  take(row: WrittenRow): void {
    const at = this.#row++;
    for (const key in row) {
      // Of millions of rows nearly all contain only known metrics.
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

  /** Adds a key as a setting, unless its name is that of a result, which may be repeated much later. */
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
