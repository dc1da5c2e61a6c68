import type { Objective, PlannedRun } from '../../spec/planned-run.js';

type Row = Readonly<Record<string, number>>;

/**
 * Notices the first run of each group that reaches the target of its objective: from then on, as W&B has it, no more runs
 * of the group need be started, and those that are up may finish.
 */
export class Targets {
  /** Groups, with their targets, that have been told of: whoever lets more runs start then has decided so. */
  readonly #reached = new Set<string>();

  /** Takes in one row. What has been reached, in words; null: nothing, or not for the first time. */
  note({ sweep, group, name, objective }: PlannedRun, row: Row): string | null {
    const { target } = objective ?? {};
    const value = objective === null ? undefined : row[objective.name];
    if (objective === null || target === undefined || value === undefined || !isReached(objective, target, value)) {
      return null;
    }
    const key = JSON.stringify([sweep, group, objective]);
    if (this.#reached.has(key)) return null;
    this.#reached.add(key);
    return `${name} reached the target: ${objective.name} ${value} (${target} is good enough)`;
  }
}

function isReached({ goal }: Objective, target: number, value: number): boolean {
  return goal === 'maximize' ? value >= target : value <= target;
}
