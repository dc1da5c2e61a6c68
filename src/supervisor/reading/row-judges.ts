import type { RunId } from '../../base/ids.js';
import type { Objective } from '../../spec/planned-run.js';
import { EarlyStopping } from '../../spec/policy/early-stop/early-stopping.js';
import { earlyStopRule } from '../../spec/policy/early-stop/verdict.js';
import type { ObjectiveValues } from '../../spec/search/trials.js';
import type { EndedSummary } from './ended-summaries.js';
import type { EndedFacts, MetricsCallbacks } from './metrics-monitor.js';
import type { ReadRun } from './reading-messages.js';

type Row = Readonly<Record<string, number>>;
type Contest = { stopping: EarlyStopping; runs: Set<RunId> };

/** Compares the runs of each group by its early-termination rule, as their rows arrive. */
class EarlyStops {
  /** Contests by group and rule: a launch with another rule starts a new one. */
  readonly #contests = new Map<string, Contest>();
  readonly #contestOf = new Map<RunId, string>();

  /** Forgets the rows of a run, which come again from the first. */
  restart(run: ReadRun): void {
    this.forget(run.id);
    this.#enter(run);
  }

  /** Adds one row. Returns the rule by which the run should end now; null: it may continue. */
  judge(run: ReadRun, row: Row): string | null {
    const why = this.#enter(run)?.note(run.id, row[run.objective!.name] ?? NaN) ?? null;
    return why === null ? null : earlyStopRule(why);
  }

  /** Adds one row from before this supervisor, with which siblings are compared. */
  remember(run: ReadRun, row: Row): void {
    this.#enter(run)?.remember(run.id, row[run.objective!.name] ?? NaN);
  }

  /** The values of the run with which siblings are compared, one for each rung that it has passed; null: it has no such rule. */
  passed(run: ReadRun): readonly number[] | null {
    return this.#enter(run)?.passed(run.id) ?? null;
  }

  /** Takes what `passed` gave of a run that has ended, in place of its rows. */
  recall(run: ReadRun, passed: readonly number[]): void {
    this.#enter(run)?.recall(run.id, passed);
  }

  /** The rule by which the run should have ended at a rung beyond the first `judged`; null: at none. */
  judgeMissed(run: ReadRun, judged: number): string | null {
    const why = this.#enter(run)?.judgeMissed(run.id, judged) ?? null;
    return why === null ? null : earlyStopRule(why);
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

  #enter({ id, sweep, group, objective, earlyTerminate }: ReadRun): EarlyStopping | null {
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

/** The values of their objectives that runs have written. */
class ObjectiveBook {
  readonly #values = new Map<RunId, { -readonly [Key in keyof ObjectiveValues]: ObjectiveValues[Key] }>();

  /** The present values of a run, and the best of them by its objective; null: it has no objective, or no value. */
  told({ id, objective }: ReadRun): { readonly objective: ObjectiveValues | null; readonly best: number | null } {
    const values = this.#values.get(id);
    if (values === undefined || objective === null) return { objective: null, best: null };
    return { objective: { ...values }, best: objective.goal === 'maximize' ? values.max : values.min };
  }

  /** Adds one row; a value that is not finite is ignored. In place, as a file may have millions of rows. */
  take({ id, objective }: ReadRun, row: Row): void {
    const last = objective === null ? undefined : row[objective.name];
    if (last === undefined || !Number.isFinite(last)) return;
    const known = this.#values.get(id);
    if (known === undefined) {
      this.#values.set(id, { min: last, max: last, last });
      return;
    }
    if (last < known.min) known.min = last;
    if (last > known.max) known.max = last;
    known.last = last;
  }

  forget(id: RunId): void {
    this.#values.delete(id);
  }
}

/**
 * Notices the first run of each group that reaches the target of its objective: from then on, as in W&B, no more runs of the group
 * are started, and those that are up may finish.
 */
class Targets {
  /** Groups, with their targets, that have been reported: if a user then releases runs, they are not held again. */
  readonly #reached = new Set<string>();

  /** Adds one row. Returns what has been reached, in words; null: nothing, or not for the first time. */
  note({ sweep, group, name, objective }: ReadRun, row: Row): string | null {
    const { target } = objective ?? {};
    const value = objective === null ? undefined : row[objective.name];
    if (objective === null || target === undefined || value === undefined || !isReached(objective, target, value)) {
      return null;
    }
    const key = JSON.stringify([sweep, group, objective]);
    if (this.#reached.has(key)) return null;
    this.#reached.add(key);
    return `${name} reached the target: ${objective.name} ${value} (target ${target})`;
  }
}

function isReached({ goal }: Objective, target: number, value: number): boolean {
  return goal === 'maximize' ? value >= target : value <= target;
}

/** Whatever takes the rows of runs as they are read, to compare them with siblings or with a target. */
export class RowJudges {
  readonly earlyStops = new EarlyStops();
  readonly objectives = new ObjectiveBook();
  readonly #targets = new Targets();

  /** @param reached Called when the run is the first of its group to reach the target, with how in words. */
  callbacksOf(run: ReadRun, reached: (words: string) => void): MetricsCallbacks {
    return {
      restart: () => {
        this.objectives.forget(run.id);
        this.earlyStops.restart(run);
      },
      remember: (row) => {
        this.objectives.take(run, row);
        this.earlyStops.remember(run, row);
      },
      note: (row) => {
        this.objectives.take(run, row);
        const words = this.#targets.note(run, row);
        if (words !== null) reached(words);
      },
      judge: (row) => this.earlyStops.judge(run, row),
    };
  }

  forget(id: RunId): void {
    this.earlyStops.forget(id);
    this.objectives.forget(id);
  }

  /** What the rows of a run came to, beside what else its files say. */
  summaryWith({ vitals, ...facts }: EndedFacts, run: ReadRun): EndedSummary {
    const { best, objective } = this.objectives.told(run);
    const passed = this.earlyStops.passed(run);
    return { ...facts, vitals: vitals && { ...vitals, best }, objective, passed };
  }

  /** Takes such a summary in place of the rows of a past run. */
  recall(run: ReadRun, { passed }: EndedSummary): void {
    if (passed !== null) this.earlyStops.recall(run, passed);
  }
}
