import { groupBy } from '../../base/group-by.js';

type Pool = 'cpu' | 'gpu';

/** A run that takes room for a time: it is up or waits. */
export type Job = {
  /** Number of its group. */
  readonly group: number;
  readonly pool: Pool;
  /** Slots or GPUs that it takes. */
  readonly room: number;
  readonly isUp: boolean;
  /** Jobs of a higher priority start first, then those earlier in the list. */
  readonly priority: number;
  /** Earliest start, in seconds from now. */
  readonly notBefore: number;
};

/** Groups are numbered. `needs`: for each group, those that have to be done first. `blocked`: groups with a run that will not be done. */
type JobGroups = { readonly needs: readonly (readonly number[])[]; readonly blocked: ReadonlySet<number> };

/**
 * The jobs that are up or wait, and the room for them. Simulates when they end, for any number of cases of their durations:
 * whenever there is room, the first job that may start takes it, as in the scheduler (list scheduling).
 */
export class Schedule {
  readonly jobs: readonly Job[];
  readonly groups: JobGroups;
  /** Room that is free now. */
  readonly free: Readonly<Record<Pool, number>>;
  readonly lines: readonly Line[];
  /** Number of jobs of each group that have yet to end. */
  readonly open: Int32Array;
  /** Every `notBefore` above 0, the next one last. */
  readonly wakes: readonly number[];

  constructor(jobs: readonly Job[], room: Readonly<Record<Pool, number>>, groups: JobGroups) {
    this.jobs = jobs;
    this.groups = groups;
    const free = { ...room };
    for (const job of jobs) if (job.isUp) free[job.pool] -= job.room;
    // Where runs share a GPU, more may be up than there are GPUs; then as one ends, another takes its place.
    this.free = { cpu: Math.max(0, free.cpu), gpu: Math.max(0, free.gpu) };
    this.lines = linesOf(jobs);
    this.open = new Int32Array(groups.needs.length);
    for (const { group } of jobs) this.open[group]! += 1;
    const later = jobs.filter(({ notBefore }) => notBefore > 0);
    this.wakes = later.map(({ notBefore }) => notBefore).sort((a, b) => b - a);
  }

  /**
   * When each job ends, seconds from now; NaN: never.
   *
   * @param seconds How long each job takes, counted from now where it is up, else from its start. Infinity: it never frees its
   * room.
   */
  ends(seconds: Float64Array): Float64Array {
    // Nothing waits, so no job depends on another.
    if (this.lines.length === 0) return seconds.map((each) => (each === Infinity ? NaN : each));
    return new Simulation(this, seconds).run();
  }
}

/** Jobs of one group that start one after another. */
type Line = { readonly group: number; readonly jobs: readonly number[]; readonly ranks: readonly number[] };

/** Groups jobs that wait for the same groups into lines. A job with a later earliest start has a line of its own. */
function linesOf(jobs: readonly Job[]): Line[] {
  const waiting = [...jobs.keys()].filter((job) => !jobs[job]!.isUp);
  const inOrder = waiting.sort((a, b) => jobs[b]!.priority - jobs[a]!.priority || a - b);
  const ranks = new Map(inOrder.map((job, rank) => [job, rank]));
  const lines = groupBy(inOrder, (job) => (jobs[job]!.notBefore > 0 ? -1 - job : jobs[job]!.group));
  return [...lines.values()].map((members) => ({
    ...{ group: jobs[members[0]!]!.group, jobs: members, ranks: members.map((job) => ranks.get(job)!) },
  }));
}

/** Simulates one case: one duration for each job, from now until no job starts or ends any more. */
class Simulation {
  readonly #schedule: Schedule;
  readonly #seconds: Float64Array;
  readonly #ends: Float64Array;
  readonly #free: Record<Pool, number>;
  /** How many jobs of each line have started. */
  readonly #started: Int32Array;
  /** Jobs of each group that have yet to end. */
  readonly #open: Int32Array;
  /** Whether what the jobs of each line need is done. */
  #ready: boolean[] = [];
  /** Jobs that are up, the next to end last. A sorted list suffices, as there are no more than slots. */
  readonly #up: number[] = [];
  /** Every `notBefore` that has yet to pass, the next one last. */
  readonly #wakes: number[];

  constructor(schedule: Schedule, seconds: Float64Array) {
    const { jobs, open, free, lines, wakes } = schedule;
    this.#schedule = schedule;
    this.#seconds = seconds;
    this.#ends = new Float64Array(jobs.length).fill(NaN);
    this.#free = { ...free };
    this.#started = new Int32Array(lines.length);
    this.#open = open.slice();
    this.#wakes = [...wakes];
    this.#updateReady();
    for (let job = 0; job < jobs.length; job++) {
      if (!jobs[job]!.isUp || seconds[job] === Infinity) continue;
      this.#ends[job] = seconds[job]!;
      this.#up.push(job);
    }
    this.#up.sort((a, b) => this.#ends[b]! - this.#ends[a]! || b - a);
  }

  run(): Float64Array {
    for (let now = 0; now < Infinity; now = this.#advance()) this.#startAll(now);
    return this.#ends;
  }

  #startAll(now: number): void {
    for (let line = this.#first(now); line >= 0; line = this.#first(now)) {
      const job = this.#schedule.lines[line]!.jobs[this.#started[line]!]!;
      this.#started[line]! += 1;
      const { pool, room } = this.#schedule.jobs[job]!;
      this.#free[pool] -= room;
      this.#begin(job, now);
    }
  }

  /** The line whose first waiting job comes first among those that may start; below 0: none may. */
  #first(now: number): number {
    const { lines, jobs } = this.#schedule;
    let [best, bestRank] = [-1, Infinity];
    if (this.#free.cpu <= 0 && this.#free.gpu <= 0) return best;
    for (let line = 0; line < lines.length; line++) {
      const { jobs: members, ranks } = lines[line]!;
      const at = this.#started[line]!;
      if (!this.#ready[line] || at === members.length || ranks[at]! > bestRank) continue;
      const { pool, room, notBefore } = jobs[members[at]!]!;
      if (room <= this.#free[pool] && notBefore <= now) [best, bestRank] = [line, ranks[at]!];
    }
    return best;
  }

  #updateReady(): void {
    const { needs, blocked } = this.#schedule.groups;
    const isDone = (group: number) => this.#open[group] === 0 && !blocked.has(group);
    this.#ready = this.#schedule.lines.map(({ group }) => needs[group]!.every(isDone));
  }

  #begin(job: number, now: number): void {
    const at = now + this.#seconds[job]!;
    if (at === Infinity) return;
    this.#ends[job] = at;
    let [low, high] = [0, this.#up.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#ends[this.#up[middle]!]! > at) low = middle + 1;
      else high = middle;
    }
    this.#up.splice(low, 0, job);
  }

  /** Ends the next run, or passes the next `notBefore`. Returns the new time; Infinity: nothing is left to happen. */
  #advance(): number {
    const job = this.#up.at(-1);
    const wake = this.#wakes.at(-1) ?? Infinity;
    const end = job === undefined ? Infinity : this.#ends[job]!;
    if (wake <= end) return this.#wakes.pop() ?? Infinity;
    this.#up.pop();
    const { group, pool, room } = this.#schedule.jobs[job!]!;
    this.#free[pool] += room;
    this.#open[group]! -= 1;
    if (this.#open[group] === 0) this.#updateReady();
    return end;
  }
}
