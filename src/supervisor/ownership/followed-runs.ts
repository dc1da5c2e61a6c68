import type { RunId } from '../../base/ids.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { Life } from './owner-of-file.js';

/** A run that is up, or whose end has not been examined yet. */
export type Followed = {
  readonly run: PlannedRun;
  readonly life: Life;
  /** Its working directory. */
  readonly root: string;
  /** Folders in which it writes by its sweep file, as other runs do. */
  readonly shared: readonly string[];
  readonly isUp: boolean;
};

/**
 * `since`, `next`: its start, and the time of its next look, by `performance.now()`. `whole`: that look is made even if none of its
 * processes that are known to be its own has done anything.
 */
type Entry = { -readonly [Key in keyof Followed]: Followed[Key] } & { since: number; next: number; whole: boolean };

/**
 * Times after the start at which the processes of a run are examined, ms. Programs that import PyTorch take ten seconds to open a
 * file.
 */
const looksAt = [
  ...[500, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10_000, 12_000, 14_000, 16_000, 18_000, 20_000],
  ...[25_000, 30_000, 40_000, 60_000, 120_000, 300_000],
];
/** Those of these times at which a run is examined in any case: a process that has left its family may write, too. */
const wholeAt: ReadonlySet<number> = new Set([500, 3000, 10_000, 30_000, 60_000, 120_000, 300_000]);
/** Interval of later looks, ms. */
const EVERY_MS = 300_000;
/** Delay until a file that was seen open for the first time is checked again, ms. */
const AGAIN_MS = 700;
/** A run whose look is due within this share of its age is examined with the others. */
const NEAR = 0.2;

/** The followed runs, and the lives of runs that were up at the same time. */
export class FollowedRuns {
  readonly #entries = new Map<RunId, Entry>();
  /** Lives in the order of their ends, running ones included. */
  #lives: { life: Life; places: readonly string[] }[] = [];
  readonly #left = new Set<RunId>();

  /** @param shared Folders in which it writes outside its working directory. */
  start(run: PlannedRun, life: Life, shared: readonly string[]): void {
    const now = performance.now();
    const since = now - Math.max(0, Date.now() - life.from);
    const next = Math.max(now, since + looksAt[0]!);
    const entry: Entry = { run, life, root: run.cwd, shared, isUp: true, since, next, whole: true };
    this.#entries.set(run.id, entry);
    this.#lives.push({ life, places: [run.cwd, ...shared] });
  }

  /** Records the end of a run; null: it was not followed. */
  end(id: RunId, to: number): Followed | null {
    const entry = this.#entries.get(id);
    if (entry === undefined) return null;
    const known = this.#lives.find(({ life }) => life === entry.life);
    entry.life = { ...entry.life, to };
    if (known !== undefined) known.life = entry.life;
    entry.isUp = false;
    entry.next = 0;
    return entry;
  }

  forget(id: RunId): void {
    this.#entries.delete(id);
  }

  get size(): number {
    return this.#entries.size;
  }

  get hasEnded(): boolean {
    for (const { isUp } of this.#entries.values()) if (!isUp) return true;
    return false;
  }

  /** The runs whose end has not been examined. */
  ended(): Followed[] {
    return [...this.#entries.values()].filter(({ isUp }) => !isUp);
  }

  /** When the next look is due, by `performance.now()`. */
  get nextLook(): number {
    return [...this.#entries.values()].reduce((first, { next }) => Math.min(first, next), Infinity);
  }

  /** The earliest start of all runs. Unix ms. */
  get oldest(): number {
    return [...this.#entries.values()].reduce((first, { life }) => Math.min(first, life.since), Infinity);
  }

  get roots(): string[] {
    return [...new Set(this.#lives.flatMap(({ places }) => places))];
  }

  /** The runs whose look is due. */
  due(): Followed[] {
    const now = performance.now();
    return [...this.#entries.values()].filter(({ next, since }) => next <= now + NEAR * (now - since));
  }

  /** Whether its next look is made in any case. */
  needsLook({ run, isUp }: Followed): boolean {
    return !isUp || this.#entries.get(run.id)?.whole !== false;
  }

  in(root: string): Followed[] {
    return [...this.#entries.values()].filter((entry) => entry.root === root);
  }

  /** The lives of runs that work in a folder above the file, or write there. */
  livesAbove(path: string): Life[] {
    const above = ({ places }: { places: readonly string[] }) => places.some((place) => path.startsWith(`${place}/`));
    return this.#lives.filter(above).map(({ life }) => life);
  }

  livesOf(id: RunId): Life[] {
    return this.#lives.flatMap(({ life }) => (life.id === id ? [life] : []));
  }

  /** Schedules the next look at a run. `isWaiting`: a file has to be seen once more. */
  lookedAt(id: RunId, isWaiting: boolean): void {
    const now = performance.now();
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    if (!entry.isUp) {
      this.#entries.delete(id);
      this.#left.add(id);
      return;
    }
    const planned = looksAt.find((at) => entry.since + at > now);
    const next = planned === undefined ? now + EVERY_MS : entry.since + planned;
    entry.next = isWaiting ? Math.min(next, now + AGAIN_MS) : next;
    entry.whole = isWaiting || planned === undefined || wholeAt.has(planned);
  }

  /** The runs that are no longer followed since the last call. Lives that ended before all others began are dropped. */
  takeLeft(): RunId[] {
    const left = [...this.#left];
    this.#left.clear();
    const { oldest } = this;
    this.#lives = this.#lives.filter(({ life: { to } }) => to === null || to >= oldest);
    return left;
  }
}
