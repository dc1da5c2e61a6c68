import type { Row } from './metrics-file.js';

/** Runs a part of a step's work, and counts its time under a name: `time/<part>`. */
export type CountTime = <T>(part: string, work: () => Promise<T>) => Promise<T>;

/** Number and durations of a part since the last row; milliseconds. */
type PartTimes = { count: number; total: number; longest: number };

/** Durations of the steps since the last row. Times differ from run to run, so they are kept apart from the metrics. */
export class StepTimes {
  readonly #now: () => number;
  #since: number;
  #spent = new Map<string, PartTimes>();
  #lasted = new Map<string, number[]>();

  /** @param now Milliseconds, monotonic. */
  constructor(now: () => number) {
    this.#now = now;
    this.#since = now();
  }

  /** `train` is the whole of a step; parts that are counted during it are included in it. */
  readonly count: CountTime = async (part, work) => {
    const start = this.#now();
    const result = await work();
    const spent = this.#of(part);
    const lasted = this.#now() - start;
    spent.count++;
    spent.total += lasted;
    spent.longest = Math.max(spent.longest, lasted);
    return result;
  };

  /** Adds parts that ran side by side. @param milliseconds Duration of each. */
  spread(part: string, milliseconds: readonly number[]): void {
    this.#lasted.set(part, [...(this.#lasted.get(part) ?? []), ...milliseconds]);
  }

  /**
   * Returns the times in seconds by the names of tinker-cookbook, and resets them. `time/total` is that of a step,
   * including all that lies between steps. A part that occurs at most once a step is `time/<part>`, its mean; one that
   * occurs several times has `:total` and `:count` per step, and `:mean` and `:max` of one occurrence. Parts that ran
   * side by side have `_max`, `_min` and `_mean`.
   */
  row(): Row {
    const total = this.#now() - this.#since;
    const steps = Math.max(1, this.#spent.get('train')?.count ?? 0);
    const row: Record<string, number> = { 'time/total': total / steps / 1000 };
    for (const [part, spent] of this.#spent) Object.assign(row, rowOf(`time/${part}`, spent, steps));
    for (const [part, lasted] of this.#lasted) {
      if (lasted.length === 0) continue;
      row[`time/${part}_max`] = Math.max(...lasted) / 1000;
      row[`time/${part}_min`] = Math.min(...lasted) / 1000;
      row[`time/${part}_mean`] = lasted.reduce((sum, each) => sum + each, 0) / lasted.length / 1000;
    }
    this.#since += total;
    this.#spent = new Map();
    this.#lasted = new Map();
    return row;
  }

  #of(part: string): PartTimes {
    const known = this.#spent.get(part);
    if (known !== undefined) return known;
    const spent = { count: 0, total: 0, longest: 0 };
    this.#spent.set(part, spent);
    return spent;
  }
}

function rowOf(name: string, { count, total, longest }: PartTimes, steps: number): Row {
  const mean = total / count / 1000;
  if (count <= steps) return { [name]: mean };
  return {
    [`${name}:total`]: total / steps / 1000,
    [`${name}:count`]: count / steps,
    [`${name}:mean`]: mean,
    [`${name}:max`]: longest / 1000,
  };
}
