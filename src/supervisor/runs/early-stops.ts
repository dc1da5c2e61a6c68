import type { RunId } from '../../base/ids.js';
import { EarlyStopping } from '../../spec/policy/early-stop/early-stopping.js';
import { earlyStopRule } from '../../spec/policy/early-stop/rule-name.js';
import type { PlannedRun } from '../../spec/planned-run.js';

type Row = Readonly<Record<string, number>>;
type Contest = { stopping: EarlyStopping; runs: Set<RunId> };

/** Compares the runs of each group by its early-termination rule, as their rows come in. */
export class EarlyStops {
  /** By group and rule: a file that was changed and launched again begins a new contest. */
  readonly #contests = new Map<string, Contest>();
  readonly #contestOf = new Map<RunId, string>();

  /** The rows of the run come from the first: what they said before is forgotten. */
  restart(run: PlannedRun): void {
    this.forget(run.id);
    this.#enter(run);
  }

  /** Takes in one row. The rule by which the run should end now; null when it may go on. */
  judge(run: PlannedRun, row: Row): string | null {
    const why = this.#enter(run)?.note(run.id, row[run.objective!.name] ?? NaN) ?? null;
    return why === null ? null : earlyStopRule(why);
  }

  /** Takes in one row that was written before we were there: its siblings are held against it. */
  remember(run: PlannedRun, row: Row): void {
    this.#enter(run)?.remember(run.id, row[run.objective!.name] ?? NaN);
  }

  forget(id: RunId): void {
    const key = this.#contestOf.get(id);
    if (key === undefined) return;
    this.#contestOf.delete(id);
    const { stopping, runs } = this.#contests.get(key)!;
    stopping.forget(id);
    runs.delete(id);
    if (runs.size === 0) this.#contests.delete(key);
  }

  #enter({ id, sweep, group, objective, earlyTerminate }: PlannedRun): EarlyStopping | null {
    if (objective === null || earlyTerminate === null) return null;
    const key = this.#contestOf.get(id) ?? JSON.stringify([sweep, group, earlyTerminate, objective]);
    const contest = this.#contests.get(key) ?? {
      stopping: new EarlyStopping(earlyTerminate, objective),
      runs: new Set(),
    };
    this.#contests.set(key, contest);
    this.#contestOf.set(id, key);
    contest.runs.add(id);
    return contest.stopping;
  }
}
