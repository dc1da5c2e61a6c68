import { cpuUsage } from 'node:process';
import { compileStopRule } from '../../spec/policy/stop-rule.js';
import { type Busy, type ReadRun, ruleIsOff } from './reading-messages.js';

type Row = Readonly<Record<string, number>>;

/** Limit on what a run's rule computes: a constant part, and a part per row, in ms. A typical rule takes some 2 µs per row. */
const ALLOWED_MS = 1000;
const ALLOWED_ROW_MS = 0.25;

/** The stop rule of one run. It is switched off when it takes too long, or is not a valid expression. */
export class TimedRule {
  readonly #run: ReadRun;
  readonly #busy: Busy;
  #isMetBy: ((row: Row) => boolean) | null;
  #leftMs = ALLOWED_MS;
  /** Why it is not applied, in words; null: it is, or there is none. */
  fault: string | null;

  /** @param busy Shows that a rule is being evaluated, as the thread cannot interrupt one that never returns. */
  constructor(run: ReadRun, busy: Busy) {
    this.#run = run;
    this.#busy = busy;
    this.fault = run.ruleFault ?? null;
    this.#isMetBy = this.#compiled();
  }

  /** Starts over, as rows come again from the first. */
  restart(): void {
    if (this.fault === null) this.#isMetBy = this.#compiled();
  }

  isMetBy(row: Row): boolean {
    return this.#isMetBy !== null && this.#timed(() => this.#isMetBy!(row), false);
  }

  #compiled(): ((row: Row) => boolean) | null {
    const { stopWhen, parameters } = this.#run;
    if (stopWhen === null || this.fault !== null) return null;
    return this.#timed(() => compileStopRule(stopWhen, parameters), null);
  }

  #timed<Result>(work: () => Result, otherwise: Result): Result {
    const [begun, used] = [performance.now(), cpuUsage()];
    this.#busy[1] = 1;
    try {
      return work();
    } catch (error) {
      // Invalid rules are refused when sweep files are parsed, but an older version of this program may have accepted it.
      this.#switchOff(ruleIsOff(this.#run, error instanceof Error ? error.message : String(error)));
      return otherwise;
    } finally {
      this.#busy[1] = 0;
      const ms = performance.now() - begun;
      if (ms > ALLOWED_ROW_MS) this.#leftMs -= Math.max(0, Math.min(ms, computedMs(used)) - ALLOWED_ROW_MS);
      if (this.#leftMs < 0) this.#switchOff(ruleIsOff(this.#run, 'it takes too long'));
    }
  }

  #switchOff(fault: string): void {
    this.#isMetBy = null;
    this.fault ??= fault;
  }
}

/** What this process computed since then, ms: a busy machine gives the rest of the time to others, which is no fault of a rule. */
function computedMs(before: NodeJS.CpuUsage): number {
  const { user, system } = cpuUsage(before);
  return (user + system) / 1000;
}
