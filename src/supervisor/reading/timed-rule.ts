import { compileStopRule } from '../../spec/policy/stop-rule.js';
import { type Busy, type ReadRun, ruleIsOff } from './reading-messages.js';

type Row = Readonly<Record<string, number>>;

/** What the rule of a run may take: so many ms, and so many more for each row. One that people write takes some 2 µs. */
const ALLOWED_MS = 1000;
const ALLOWED_ROW_MS = 0.25;

/** The stop rule of one run. It is switched off when it takes too long, and cannot be used when it is no expression. */
export class TimedRule {
  readonly #run: ReadRun;
  readonly #busy: Busy;
  #isMetBy: ((row: Row) => boolean) | null;
  #leftMs = ALLOWED_MS;
  /** Why it is not used, in words; null: it is, or there is none. */
  fault: string | null;

  /** @param busy Says that a rule is being evaluated: the thread cannot end one itself that never returns. */
  constructor(run: ReadRun, busy: Busy) {
    this.#run = run;
    this.#busy = busy;
    this.fault = run.ruleFault ?? null;
    this.#isMetBy = this.#compiled();
  }

  /** Rows come from the first. */
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
    const begun = performance.now();
    this.#busy[1] = 1;
    try {
      return work();
    } catch (error) {
      // Refused where sweep files are read; an older version of this program may have let it through.
      this.#switchOff(ruleIsOff(this.#run, error instanceof Error ? error.message : String(error)));
      return otherwise;
    } finally {
      this.#busy[1] = 0;
      this.#leftMs += Math.min(0, ALLOWED_ROW_MS - (performance.now() - begun));
      if (this.#leftMs < 0) this.#switchOff(ruleIsOff(this.#run, 'it takes too long'));
    }
  }

  #switchOff(fault: string): void {
    this.#isMetBy = null;
    this.fault ??= fault;
  }
}
