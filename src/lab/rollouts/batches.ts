/** The examples or tasks of each training step. No step depends on those before it, so a resumed run has the same. */
import { UserError } from '../../base/user-error.js';
import { counted } from '../../text/numbers.js';
import type { Environment, Task } from '../environments/environment.js';
import { rng, shuffle } from '../rng.js';

/** Number of whole batches of `size` in one pass over the examples; an incomplete one is not used. */
export function batchesPerEpoch(examples: number, size: number): number {
  return Math.floor(examples / size);
}

/**
 * `batchesPerEpoch`, for training that needs at least one.
 *
 * @param source Origin of the examples, for the error.
 * @throws UserError when there are fewer than a batch.
 */
export function someBatches(source: string, examples: number, size: number, fix = 'give more examples'): number {
  const batches = batchesPerEpoch(examples, size);
  if (batches > 0) return batches;
  throw new UserError(
    `${source} has ${counted(examples, 'example')}, less than one batch of ${size}.`,
    `Set a smaller batch_size, or ${fix}.`,
  );
}

/**
 * The examples of each step, epoch by epoch; each epoch is shuffled anew.
 *
 * @param name Name of the random stream that shuffles an epoch.
 */
export function epochBatches<T>(
  examples: readonly T[],
  size: number,
  { seed, name }: { readonly seed: number; readonly name: string },
): (step: number) => T[] {
  const perEpoch = batchesPerEpoch(examples.length, size);
  let known = { epoch: -1, order: [] as readonly number[] };
  return (step) => {
    const epoch = Math.floor(step / perEpoch);
    if (known.epoch !== epoch) {
      known = { epoch, order: shuffle([...examples.keys()], rng(seed, `${name}/${epoch}`)) };
    }
    const from = (step % perEpoch) * size;
    return known.order.slice(from, from + size).map((index) => examples[index]!);
  };
}

/**
 * The tasks of each step: epoch by epoch, shuffled anew; in order when there are fewer than a step takes; and drawn
 * when their number is unlimited.
 */
export function taskBatches(environment: Environment, size: number, seed: number): (step: number) => Task[] {
  const { size: known } = environment;
  if (known === Infinity) {
    return (step) =>
      Array.from({ length: size }, (_, at) => taskOf(environment, step * size + at, { seed, name: 'task' }));
  }
  const tasks = Array.from({ length: known }, (_, index) => taskOf(environment, index, { seed, name: 'task' }));
  if (known === 1) return () => Array.from({ length: size }, () => tasks[0]!);
  if (known >= size) return epochBatches(tasks, size, { seed, name: 'prompts' });
  return (step) => Array.from({ length: size }, (_, at) => tasks[(step * size + at) % known]!);
}

/** @param name Name of the random stream that the environment may draw the task from. */
export function taskOf(
  environment: Environment,
  index: number,
  { seed, name }: { readonly seed: number; readonly name: string },
): Task {
  return environment.task(index, rng(seed, `${name}/${index}`));
}

/** Cuts a list into consecutive groups of `size`. */
export function inGroups<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}
