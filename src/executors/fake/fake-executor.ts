/**
 * Simulated runs, for tests of the code above an executor: they start no processes and follow commands.
 *
 * The command of a run is its script: `exit CODE` ends at once, `wait` runs until it is told to end, `deaf` does so too but ignores
 * SIGTERM; anything else cannot be started. Nothing depends on a clock, so the same test always sees the same events.
 */
import type { RunId } from '../../base/ids.js';
import type {
  Ending,
  Executor,
  ExecutorListener,
  ExecutorResources,
  Found,
  LaunchSpec,
  OpenExecutor,
  Start,
  TakenOver,
} from '../executor.js';

/** The machine of the simulated runs. It outlives its executors, so that one finds what an earlier one has started. */
export class FakeMachine {
  /** All starts and attempted starts, oldest first. */
  readonly starts: LaunchSpec[] = [];
  /** What the machine lacks, in words, so that no run can start now. Null: nothing. */
  shortage: string | null = null;
  readonly resources: ExecutorResources;
  readonly #attempts = new Map<string, FakeAttempt | 'withdrawn'>();
  #held: { until: Promise<void>; release: () => void } | null = null;
  #pids = 1000;

  constructor(resources: ExecutorResources = { slots: 2, gpus: 'requested' }) {
    this.resources = resources;
  }

  /** Opens an executor, like an entry of the registry. */
  readonly open: OpenExecutor = (_setting, listener) => new FakeExecutor(this, listener);

  /** Delays the answers to starts, like a busy cluster, until the returned function is called. */
  holdStarts(): () => void {
    let release!: () => void;
    const until = new Promise<void>((resolve) => (release = resolve));
    this.#held = { until, release };
    return () => {
      this.#held = null;
      release();
    };
  }

  /** Resolves when starts are answered. */
  get answering(): Promise<void> {
    return this.#held?.until ?? Promise.resolve();
  }

  /** An attempt; null: none of that number has begun. */
  attempt(directory: string, number: number): FakeAttempt | null {
    const known = this.#attempts.get(keyOf(directory, number));
    return known === undefined || known === 'withdrawn' ? null : known;
  }

  /** Begins an attempt, unless it was claimed before. */
  begin(spec: LaunchSpec): FakeAttempt {
    const key = keyOf(spec.directory, spec.attempt);
    const pid = this.#pids++;
    if (this.#attempts.has(key)) return new FakeAttempt(pid, false, { kind: 'not-claimed' });
    const [program, code] = spec.argv;
    const ending = program === 'exit' ? ({ kind: 'exited', code: Number(code ?? 0) } as const) : null;
    const attempt = new FakeAttempt(pid, program === 'deaf', ending);
    this.#attempts.set(key, attempt);
    return attempt;
  }

  /** Claims an attempt, which then never begins if it has not. */
  claim(directory: string, number: number): FakeAttempt | null {
    const key = keyOf(directory, number);
    if (!this.#attempts.has(key)) this.#attempts.set(key, 'withdrawn');
    return this.attempt(directory, number);
  }

  /** Gives an attempt a later number, too. */
  rename(directory: string, { orphan, attempt }: TakenOver): void {
    const known = this.attempt(directory, orphan);
    if (known !== null) this.#attempts.set(keyOf(directory, attempt), known);
  }
}

/** A simulated run. */
class FakeAttempt {
  readonly pid: number;
  readonly #isDeaf: boolean;
  readonly #ended: (() => void)[] = [];
  #ending: Ending | null;
  #isPaused = false;
  /** The ending that takes effect when it continues. */
  #due: Ending | null = null;

  /** @param ending Null: it runs on. */
  constructor(pid: number, isDeaf: boolean, ending: Ending | null) {
    this.pid = pid;
    this.#isDeaf = isDeaf;
    this.#ending = ending;
  }

  /** How it ended; null: it has not. */
  get ending(): Ending | null {
    return this.#ending;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Calls back when it has ended: once, and asynchronously. */
  onceEnded(tell: () => void): void {
    if (this.#ending === null) this.#ended.push(tell);
    else setImmediate(tell);
  }

  /** Ends a run; a suspended one ends when it continues. */
  end(ending: Ending): void {
    if (this.#ending !== null) return;
    if (this.#isPaused) this.#due ??= ending;
    else this.#over(ending);
  }

  terminate(): void {
    this.continue();
    if (!this.#isDeaf) this.end({ kind: 'signalled', signal: 'SIGTERM' });
  }

  kill(): void {
    this.#isPaused = false;
    this.end({ kind: 'signalled', signal: 'SIGKILL' });
  }

  pause(): void {
    this.#isPaused = this.#ending === null;
  }

  continue(): void {
    this.#isPaused = false;
    if (this.#due !== null) this.end(this.#due);
  }

  #over(ending: Ending): void {
    this.#ending = ending;
    for (const tell of this.#ended.splice(0)) setImmediate(tell);
  }
}

function keyOf(directory: string, number: number): string {
  return `${number} ${directory}`;
}

type Watched = { number: number; attempt: FakeAttempt };

const programs = ['exit', 'wait', 'deaf'];

class FakeExecutor implements Executor {
  readonly #machine: FakeMachine;
  readonly #listener: ExecutorListener;
  readonly #watched = new Map<RunId, Watched>();
  #isClosed = false;

  constructor(machine: FakeMachine, listener: ExecutorListener) {
    this.#machine = machine;
    this.#listener = listener;
  }

  resources(): ExecutorResources {
    return this.#machine.resources;
  }

  async start(id: RunId, spec: LaunchSpec): Promise<Start> {
    this.#machine.starts.push(spec);
    await this.#machine.answering;
    const { shortage } = this.#machine;
    if (shortage !== null) return { kind: 'refused', reason: shortage, transient: true };
    const [program = ''] = spec.argv;
    if (!programs.includes(program))
      return { kind: 'refused', reason: `command not found: ${program}`, transient: false };
    const attempt = this.#machine.begin(spec);
    this.#watch(id, { number: spec.attempt, attempt });
    return { kind: 'started', pid: attempt.pid };
  }

  async adopt(id: RunId, directory: string, number: number): Promise<Found> {
    const attempt = this.#machine.claim(directory, number);
    if (attempt === null) return { kind: 'withdrawn', neverRan: true };
    const { pid, ending } = attempt;
    if (ending !== null) return { kind: 'ended', pid, ending };
    this.#watch(id, { number, attempt });
    return { kind: 'alive', pid };
  }

  async orphanedAttemptOf(directory: string, attempt: number): Promise<number | null> {
    for (let number = attempt - 1; number >= 1; number--) {
      if (this.#machine.attempt(directory, number)?.ending === null) return number;
    }
    return null;
  }

  async takeOver(id: RunId, directory: string, numbers: TakenOver): Promise<Found> {
    this.#machine.rename(directory, numbers);
    return this.adopt(id, directory, numbers.attempt);
  }

  terminate(id: RunId): void {
    this.#watched.get(id)?.attempt.terminate();
  }

  kill(id: RunId): void {
    this.#watched.get(id)?.attempt.kill();
  }

  pause(id: RunId): void {
    this.#watched.get(id)?.attempt.pause();
  }

  continue(id: RunId): void {
    this.#watched.get(id)?.attempt.continue();
  }

  type(): string {
    return 'has no standard input to type into';
  }

  awaitsInput(): boolean {
    return false;
  }

  pidOf(id: RunId): number | null {
    return this.#watched.get(id)?.attempt.pid ?? null;
  }

  rootOf(): null {
    return null;
  }

  placeOf(): null {
    return null;
  }

  nodes(): null {
    return null;
  }

  close(): void {
    this.#isClosed = true;
    this.#watched.clear();
  }

  #watch(id: RunId, watched: Watched): void {
    if (this.#isClosed) return;
    this.#watched.set(id, watched);
    const { number, attempt } = watched;
    setImmediate(() => {
      if (this.#watched.get(id) === watched) this.#listener.changed(id);
    });
    attempt.onceEnded(() => {
      if (this.#watched.get(id) !== watched) return;
      this.#watched.delete(id);
      this.#listener.ended(id, number, attempt.ending!, []);
    });
  }
}
