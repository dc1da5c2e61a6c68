/**
 * Descriptors that are kept for what must not fail for want of one: whether a process lives, and what its exit code is. A supervisor
 * that cannot read these would take runs for lost that are well.
 */
import { closeSync, openSync } from 'node:fs';

/** More than one, as other threads of the process may take one at the moment in which it is free. */
const KEPT = 4;

const kept: number[] = [];
let wanted = 0;

/** Keeps them from now on, for the rest of the process. */
export function keepSpareDescriptors(): void {
  wanted = KEPT;
  refill();
}

/** Does something that opens files and closes them; with the descriptors that are kept where no others are left. */
export function withSpareDescriptors<Result>(use: () => Result): Result {
  if (kept.length < wanted) refill();
  try {
    return use();
  } catch (error) {
    if (kept.length === 0 || !isShortage(error)) throw error;
  }
  for (const descriptor of kept.splice(0)) closeSync(descriptor);
  try {
    return use();
  } finally {
    refill();
  }
}

function isShortage(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EMFILE' || code === 'ENFILE';
}

function refill(): void {
  try {
    while (kept.length < wanted) kept.push(openSync('/dev/null', 'r'));
  } catch {
    // None is left at this moment; the next use of `withSpareDescriptors` tries again.
  }
}
