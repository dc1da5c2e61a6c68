import { closeSync } from 'node:fs';
import { openRegular } from '../../files/regular-file.js';
import type { RowPicker } from './format.js';

/** A place in a file of `size` bytes. `share`: 0 is its first row, 1 its last. */
export type Place = { readonly size: number; readonly share: number };

type PickTaker = Parameters<RowPicker['pick']>[1];

/** Reads the rows at one place of an open file. */
export type PickAt = (descriptor: number, place: Place, take: PickTaker) => void;

/** Rows at evenly spaced places of a file as it was when opened, its end included, in file order. */
export class PlacesPicker implements RowPicker {
  readonly #path: string;
  readonly #places: number;
  readonly #pickAt: PickAt;
  #next = 0;
  #size: number | null = null;

  /** @param places Number of places; at least two. */
  constructor(path: string, places: number, pickAt: PickAt) {
    this.#path = path;
    this.#places = places;
    this.#pickAt = pickAt;
  }

  get isComplete(): boolean {
    return this.#next >= this.#places;
  }

  pick(count: number, take: PickTaker): void {
    const opened = openRegular(this.#path);
    if (opened.kind !== 'file') {
      this.#giveUp();
      return;
    }
    try {
      const size = (this.#size ??= opened.stat.size);
      const end = Math.min(this.#places, this.#next + count);
      for (; this.#next < end; this.#next++)
        this.#pickAt(opened.descriptor, { size, share: this.#next / (this.#places - 1) }, take);
    } catch {
      // A read of the disk or the network failed: the chart is drawn after everything has been read.
      this.#giveUp();
    } finally {
      closeSync(opened.descriptor);
    }
  }

  #giveUp(): void {
    this.#next = this.#places;
  }
}
