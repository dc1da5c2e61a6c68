/** Numbers in ascending order; the same number may be there several times. */
export class SortedValues {
  readonly #values: number[] = [];

  get count(): number {
    return this.#values.length;
  }

  /** @param index Below `count`. */
  at(index: number): number {
    return this.#values[index]!;
  }

  add(value: number): void {
    this.#values.splice(this.below(value), 0, value);
  }

  /** Removes one of the values that equal this one, which must be there. */
  remove(value: number): void {
    this.#values.splice(this.below(value), 1);
  }

  /** How many are below a value. */
  below(value: number): number {
    let low = 0;
    let high = this.#values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#values[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The middle one, or the mean of the two in the middle; of nothing NaN. */
  median(): number {
    const { length } = this.#values;
    const middle = length >> 1;
    if (length === 0) return NaN;
    return length % 2 === 1 ? this.#values[middle]! : (this.#values[middle - 1]! + this.#values[middle]!) / 2;
  }
}
