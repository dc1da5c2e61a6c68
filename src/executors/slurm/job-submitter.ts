import type { LaunchSpec } from '../executor.js';
import { jobName, jobOptions, logOption } from './job-options.js';
import { jobScript } from './job-script.js';
import { commentFor, type SlurmCalls, type Submitted } from './slurm-calls.js';

/** Calls of `sbatch` at a time. */
const AT_ONCE = 3;

/** Submits attempts as jobs. */
export class JobSubmitter {
  readonly #calls: SlurmCalls;
  readonly #waiting: (() => void)[] = [];
  #calling = 0;

  constructor(calls: SlurmCalls) {
    this.#calls = calls;
  }

  /** @param note Writes the key down, before anything is submitted by it. */
  async submit(spec: LaunchSpec, key: string, note: (key: string) => void): Promise<Submitted> {
    await this.#turn();
    try {
      note(key);
      const args = [
        ...jobOptions(spec, 0),
        ...logOption(spec),
        '-J',
        jobName(spec),
        '--comment',
        commentFor(key),
        '--no-requeue',
      ];
      return await this.#calls.submit(args, jobScript(spec, key), spec.environment);
    } finally {
      this.#calling -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #turn(): Promise<void> {
    if (this.#calling >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#calling += 1;
  }
}
