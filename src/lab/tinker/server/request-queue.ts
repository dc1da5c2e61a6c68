/** Work of a session. Jobs of the same `group` that wait in one session may be done together. */
type Job<Request> = {
  readonly request: Request;
  readonly group: string | null;
  /** Does several jobs of a group in one call; its results go to their `done`, its error to their `failed`. */
  readonly work: (requests: readonly Request[]) => Promise<readonly unknown[]>;
  readonly done: (result: unknown) => void;
  readonly failed: (error: unknown) => void;
};

/** Limit of the jobs that are done in one call. */
const MOST_TOGETHER = 64;
/** A job of a group waits while others of its session keep arriving: so long for the next, and for so many times. */
const GATHERING_MS = 1;
const MOST_GATHERINGS = 20;

/**
 * Does one job at a time, session by session, so that a session with many jobs does not hold up one with few. The
 * jobs of a session are done in their order, but those of a group join the first of them.
 *
 * Clients send the requests of a batch one by one. Without the short wait the first of them would be computed alone, which takes
 * nearly as long as all of them together.
 */
export class RequestQueue {
  readonly #queues = new Map<string, Job<unknown>[]>();
  #isWorking = false;

  add<Request>(session: string, job: Job<Request>): void {
    const queue = this.#queues.get(session) ?? [];
    queue.push(job as unknown as Job<unknown>);
    this.#queues.set(session, queue);
    if (!this.#isWorking) void this.#workOff();
  }

  /** Fails the jobs of a session that have not begun. */
  drop(session: string, why: unknown): void {
    const queue = this.#queues.get(session) ?? [];
    this.#queues.delete(session);
    for (const job of queue) job.failed(why);
  }

  async #workOff(): Promise<void> {
    this.#isWorking = true;
    for (;;) {
      await this.#gather();
      const jobs = this.#next();
      if (jobs.length === 0) break;
      await doTogether(jobs);
    }
    this.#isWorking = false;
  }

  async #gather(): Promise<void> {
    for (let times = 0; times < MOST_GATHERINGS; times++) {
      const [queue = []] = this.#queues.values();
      const { length } = queue;
      if (length === 0 || length >= MOST_TOGETHER || queue[0]!.group === null) return;
      await new Promise((resolve) => setTimeout(resolve, GATHERING_MS));
      if (queue.length === length) return;
    }
  }

  /** Takes the first job of the next session and the jobs of its group; that session then goes to the end of the queue. */
  #next(): Job<unknown>[] {
    const [first] = this.#queues;
    if (first === undefined) return [];
    const [session, queue] = first;
    this.#queues.delete(session);
    const jobs = takeGroup(queue);
    if (queue.length > 0) this.#queues.set(session, queue);
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
    // A single job may be at fault. Each is done alone, so that the others get their results.
    for (const job of jobs) await doTogether([job]);
  }
}
