/**
 * Runs that are no processes, for tests of what stands above an executor: they cost nothing and do as they are told.
 *
 * What a run is to do stands in its command: `exit CODE` ends at once, `wait` goes on until it is told otherwise, `deaf` does so
 * too and does not listen to a polite request; anything else cannot be started. Nothing waits for a clock, so whoever plays the
 * same story twice is told the same twice.
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

/** Where the runs are. It outlives its executors, so that one finds what an earlier one has started. */
export class FakeMachine {
  /** What was started, or tried to be, oldest first. */
  readonly starts: LaunchSpec[] = [];
  /** What it is short of, in words: no run can be started just now. Null: nothing. */
  shortage: string | null = null;
  readonly resources: ExecutorResources;
  readonly #attempts = new Map<string, FakeAttempt | 'withdrawn'>();
  #held: { until: Promise<void>; release: () => void } | null = null;
  #pids = 1000;

  constructor(resources: ExecutorResources = { slots: 2, gpus: 'requested' }) {
    this.resources = resources;
  }

  /** As the registry has it of other kinds. */
  readonly open: OpenExecutor = (_setting, listener) => new FakeExecutor(this, listener);

  /** Starts are answered late, as by a cluster that is busy: when the returned function is called. */
  holdStarts(): () => void {
    let release!: () => void;
    const until = new Promise<void>((resolve) => (release = resolve));
    this.#held = { until, release };
    return () => {
      this.#held = null;
      release();
    };
  }

  /** When starts are answered. */
  get answering(): Promise<void> {
    return this.#held?.until ?? Promise.resolve();
  }

  /** The attempt; null where none of that number has begun. */
  attempt(directory: string, number: number): FakeAttempt | null {
    const known = this.#attempts.get(keyOf(directory, number));
    return known === undefined || known === 'withdrawn' ? null : known;
  }

  /** Begins an attempt, unless somebody was there before. */
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

  /** The attempt, which will never begin now if it has not. */
  claim(directory: string, number: number): FakeAttempt | null {
    const key = keyOf(directory, number);
    if (!this.#attempts.has(key)) this.#attempts.set(key, 'withdrawn');
    return this.attempt(directory, number);
  }

  /** The attempt goes by a later number, too. */
  rename(directory: string, { orphan, attempt }: TakenOver): void {
    const known = this.attempt(directory, orphan);
    if (known !== null) this.#attempts.set(keyOf(directory, attempt), known);
  }
}

/** One run that is none. */
class FakeAttempt {
  readonly pid: number;
  readonly #isDeaf: boolean;
  readonly #ended: (() => void)[] = [];
  #ending: Ending | null;
  #isPaused = false;
  /** How it would have ended meanwhile, but it stands still. */
  #due: Ending | null = null;

  /** @param ending Null: it goes on. */
  constructor(pid: number, isDeaf: boolean, ending: Ending | null) {
    this.pid = pid;
    this.#isDeaf = isDeaf;
    this.#ending = ending;
  }

  /** Null: it goes on. */
  get ending(): Ending | null {
    return this.#ending;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Calls back when it has ended: once, and not at once. */
  onceEnded(tell: () => void): void {
    if (this.#ending === null) this.#ended.push(tell);
    else setImmediate(tell);
  }

  /** It ends by itself; where it stands still, as soon as it goes on. */
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

  pidOf(id: RunId): number | null {
    return this.#watched.get(id)?.attempt.pid ?? null;
  }

  rootOf(): null {
    return null;
  }

  placeOf(): null {
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
      if (this.#watched.get(id) === watched) this.#listener.named(id);
    });
    attempt.onceEnded(() => {
      if (this.#watched.get(id) !== watched) return;
      this.#watched.delete(id);
      this.#listener.ended(id, number, attempt.ending!, []);
    });
  }
}
