import { Refusal } from './refusal.js';

/** Work of a session. `group`: work of the same group that waits in one session may be done together. */
export type Job<Request> = {
  readonly request: Request;
  readonly group: string | null;
  /** Given to `done` or `failed` of each job: one call may do many. */
  readonly work: (requests: readonly Request[]) => Promise<readonly unknown[]>;
  readonly done: (result: unknown) => void;
  readonly failed: (error: unknown) => void;
};

/** Jobs of one group that are done in one call, at most. */
const MOST_TOGETHER = 64;

/**
 * Does one job at a time, of each session in turn, so that a session with many jobs does not hold up one with few. The
 * jobs of a session are done in their order, but those of a group join the first of them.
 */
export class Turns {
  readonly #queues = new Map<string, Job<unknown>[]>();
  readonly #most: number;
  /** Lets requests in between two jobs; what computes does not yield by itself. */
  readonly #pause: () => Promise<void>;
  #waiting = 0;
  #isWorking = false;

  constructor(most: number, pause: () => Promise<void>) {
    this.#most = most;
    this.#pause = pause;
  }

  get waiting(): number {
    return this.#waiting;
  }

  add<Request>(session: string, job: Job<Request>): void {
    const queue = this.#queues.get(session) ?? [];
    queue.push(job as unknown as Job<unknown>);
    this.#queues.set(session, queue);
    this.#waiting++;
    if (!this.#isWorking) void this.#workOff();
  }

  /** To be asked before a request is accepted. @throws Refusal when too much waits already. */
  requireRoom(): void {
    if (this.#waiting >= this.#most) throw new Refusal(429, `${this.#waiting} requests wait already; try again later.`);
  }

  /** Drops what a session still waits for. */
  drop(session: string, why: unknown): void {
    const queue = this.#queues.get(session) ?? [];
    this.#queues.delete(session);
    this.#waiting -= queue.length;
    for (const job of queue) job.failed(why);
  }

  async #workOff(): Promise<void> {
    this.#isWorking = true;
    for (let jobs = this.#next(); jobs.length > 0; jobs = this.#next()) {
      await this.#pause();
      await doTogether(jobs);
    }
    this.#isWorking = false;
  }

  /** The first job of the session whose turn it is, with those of its group; the session goes to the end of the row. */
  #next(): Job<unknown>[] {
    const [turn] = this.#queues;
    if (turn === undefined) return [];
    const [session, queue] = turn;
    this.#queues.delete(session);
    const jobs = takeGroup(queue);
    if (queue.length > 0) this.#queues.set(session, queue);
    this.#waiting -= jobs.length;
    return jobs;
  }
}

function takeGroup(queue: Job<unknown>[]): Job<unknown>[] {
  const jobs = [queue.shift()!];
  const { group } = jobs[0]!;
  if (group === null) return jobs;
  for (let at = 0; at < queue.length && jobs.length < MOST_TOGETHER;) {
    if (queue[at]!.group === group) jobs.push(...queue.splice(at, 1));
    else at++;
  }
  return jobs;
}

async function doTogether(jobs: readonly Job<unknown>[]): Promise<void> {
  try {
    const results = await jobs[0]!.work(jobs.map(({ request }) => request));
    jobs.forEach((job, at) => job.done(results[at]));
  } catch (error) {
    if (jobs.length === 1) return jobs[0]!.failed(error);
    // One of them may be at fault: each is done alone, so that the others have their results.
    for (const job of jobs) await doTogether([job]);
  }
}
