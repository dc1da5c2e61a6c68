import { blockRows } from '../kernels/matrices.js';

/** A computation that can be left after each of its steps and continued later. Its result does not depend on the pauses. */
export type Steps<T> = Generator<void, T, void>;

/** Called between two steps. @returns null to go on at once; a promise that rejects ends the computation. */
export type Pause = () => Promise<void> | null;

export const noPause: Pause = () => null;

/** Consecutive rows of activations. */
export type RowRange = { readonly first: number; readonly rows: number };

/** Multiplications of one step: some tens of milliseconds. */
export const STEP = 2 ** 30;

/** How many rows one step computes: a multiple of the rows that `addProduct` sums at a time, so that the order of sums stays. */
export function rowsOfStep(multiplicationsPerRow: number): number {
  return Math.max(1, Math.floor(STEP / multiplicationsPerRow / blockRows)) * blockRows;
}

export function partsOf({ first, rows }: RowRange, most: number): RowRange[] {
  const parts: RowRange[] = [];
  for (let done = 0; done < rows; done += most) parts.push({ first: first + done, rows: Math.min(most, rows - done) });
  return parts;
}

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

export async function withPauses<T>(steps: Steps<T>, pause: Pause): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    const rest = pause();
    if (rest === null) continue;
    try {
      await rest;
    } catch (error) {
      // Frees what the computation holds.
      steps.return(undefined as never);
      throw error;
    }
  }
}
