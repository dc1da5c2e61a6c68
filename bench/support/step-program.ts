import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Mean milliseconds of the parts of a step, and of the processor's time on all of them. */
export type Parts = { readonly sample: number; readonly train: number; readonly adam: number; readonly cpu: number };

/** A program that takes training steps when it is told to, and waits otherwise. */
export class StepProgram {
  /** What it computes with, in its own words. */
  readonly on: string;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, on: string) {
    this.#child = child;
    this.#lines = lines;
    this.on = on;
  }

  /** Null when it cannot run here. `quiet` hides why. */
  static async start(words: readonly string[], quiet = false): Promise<StepProgram | null> {
    const child = spawn(words[0]!, words.slice(1), { stdio: ['pipe', 'pipe', quiet ? 'ignore' : 'inherit'] });
    // What could not be started, or has ended, writes no line: that is how it is noticed.
    child.on('error', () => {});
    child.stdin.on('error', () => {});
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const first = await lines.next();
    if (first.done === true) return null;
    return new StepProgram(child, lines, (JSON.parse(first.value) as { on: string }).on);
  }

  async take(workload: string, steps: number): Promise<Parts> {
    this.#child.stdin!.write(`${workload} ${steps}\n`);
    const line = await this.#lines.next();
    if (line.done === true) throw new Error(`${this.on}: ended in the middle of ${workload}`);
    return JSON.parse(line.value) as Parts;
  }

  async end(): Promise<void> {
    this.#child.stdin!.end();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }
}
