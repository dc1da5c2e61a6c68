import type { Row } from './metrics-file.js';

/** What a training step spends its time on, by the names of the source system. */
type Part = 'run_evals' | 'train' | 'save_checkpoint';

/** How long the steps since the last row took. Times differ from run to run, so they are kept apart from what is measured. */
export class StepTimes {
  readonly #now: () => number;
  #since: number;
  #steps = 0;
  #spent = new Map<Part, number>();

  /** @param now Milliseconds, monotonic. */
  constructor(now: () => number) {
    this.#now = now;
    this.#since = now();
  }

  /** Does the work, and counts its time. */
  async count<T>(part: Part, work: () => Promise<T>): Promise<T> {
    const start = this.#now();
    const result = await work();
    this.#spent.set(part, (this.#spent.get(part) ?? 0) + this.#now() - start);
    if (part === 'train') this.#steps++;
    return result;
  }

  /**
   * Seconds, and begins anew: of a step, `time/total` with all that lies between steps, `time/train` (playing and updating); of the
   * evaluation and the checkpoint, if there were any.
   */
  row(): Row {
    const total = this.#now() - this.#since;
    const [evaluating, training, saving] = (['run_evals', 'train', 'save_checkpoint'] as const).map((part) =>
      this.#spent.get(part),
    );
    const steps = Math.max(1, this.#steps);
    this.#since += total;
    this.#steps = 0;
    this.#spent = new Map();
    return {
      'time/total': total / steps / 1000,
      ...(training !== undefined && { 'time/train': training / steps / 1000 }),
      ...(evaluating !== undefined && { 'time/run_evals': evaluating / 1000 }),
      ...(saving !== undefined && { 'time/save_checkpoint': saving / 1000 }),
    };
  }
}
