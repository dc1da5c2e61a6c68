import type { RunId } from '../../base/ids.js';
import { inQuietTurn } from '../../processes/turn.js';
import { oomKillsOf } from '../../processes/cgroup.js';
import { isAlive } from '../../processes/process-identity.js';
import type { ProcessEntry, ProcessTable } from '../../processes/process-table.js';
import { possibleStrays, treeMembers } from '../../processes/process-tree.js';
import type { Ending, ExecutorListener, LaunchSpec, LeakedProcess } from '../executor.js';
import { attemptDirectory, exitObstacle } from '../attempt/attempt-files.js';
import { type Attempt, isOver, treeOf } from './attempt.js';
import { type CgroupHome, type OomWatch, release } from './cgroup-home.js';
import { explained, isSigkill, provenEnding, type ShimStatus, unprovenEnding } from '../attempt/ending.js';
import { hasOutlived, isBereft, isDue, isLed, lookAround, troubleOfOrphan } from './orphan.js';

/** Between looks at attempts that cannot tell us of their end, ms. */
const LOOK_MS = 100;
/** An exit code that cannot be read is looked for again for so long before it is taken for lost, ms. */
const UNREAD_MS = 3000;
/** A run shorter than this is not worth a search for what it left behind, ms. */
const SHORT_MS = 5000;

type EndWatchTools = {
  /** All that are watched. */
  attempts: ReadonlyMap<RunId, Attempt>;
  table: ProcessTable;
  home: CgroupHome | null;
  oom: OomWatch;
  listener: Pick<ExecutorListener, 'named' | 'troubled'>;
  /** What came up while the rest was being killed. */
  killAgain: (attempt: Attempt) => void;
  /** What is left of a paused attempt would stand still for ever. */
  release: (attempt: Attempt) => void;
  /** It is over, and is not watched any more. */
  over: (attempt: Attempt, ending: Ending, leaked: readonly LeakedProcess[]) => void;
};

/**
 * Learns how attempts end, and when nothing of them is left: from their shims where those are our children, else by looking.
 * An attempt that was asked to end, or whose shim died without a word, is over when its whole tree is gone.
 */
export class EndWatch {
  readonly #tools: EndWatchTools;
  #looking: NodeJS.Timeout | null = null;
  #isLookingNow = false;

  constructor(tools: EndWatchTools) {
    this.#tools = tools;
  }

  close(): void {
    if (this.#looking !== null) clearTimeout(this.#looking);
  }

  /** @param spec Of an attempt that was started here; null: adopted. */
  shimGone(attempt: Attempt, status: ShimStatus, spec: LaunchSpec | null): void {
    const ending = provenEnding(attemptDirectory(attempt.directory, attempt.number), status);
    if (ending !== null) return this.#shimEnded(attempt, spec === null ? ending : explained(ending, spec));
    attempt.orphan = { since: performance.now(), status, witnesses: [], outlived: false };
    this.#lookNow();
  }

  /** To be called when an attempt is watched that cannot tell its end, or is to come to it. */
  look(): void {
    if (this.#looking === null) this.#lookSince(performance.now());
  }

  #lookSince(since: number): void {
    // A thousand adopted runs cost 30 ms a look, so the looks get rarer with them.
    const dueAt = since + Math.max(LOOK_MS, this.#tools.attempts.size);
    this.#looking = setTimeout(() => {
      this.#looking = null;
      // A supervisor that comes up adopts a thousand after it has asked for a look at the first.
      if (this.#tools.attempts.size > dueAt - since) this.#lookSince(since);
      else this.#lookNow();
    }, dueAt - performance.now()).unref();
  }

  /** Ends of one moment share one look. All processes are read for it, so it comes when not much else is done. */
  #lookNow(): void {
    if (this.#isLookingNow) return;
    this.#isLookingNow = true;
    inQuietTurn(() => {
      this.#isLookingNow = false;
      this.#lookAtAll();
    });
  }

  #shimEnded(attempt: Attempt, ending: Ending): void {
    const wasPaused = attempt.paused;
    if (wasPaused) this.#tools.release(attempt);
    this.#endsWith(attempt, ending);
    const isShort = attempt.endedAt - attempt.startedAt < SHORT_MS;
    release(attempt.cgroup, this.#tools.home);
    // One that had the time may have left its cgroup, too.
    if (!attempt.stopped && !wasPaused && isShort) this.#tools.over(attempt, attempt.ending!, []);
    else this.#lookNow();
  }

  #endsWith(attempt: Attempt, ending: Ending): void {
    attempt.ending = this.#withCause(attempt, ending);
    attempt.endedAt = performance.now();
  }

  /** SIGKILL comes from us, from a person, or from a kernel that has run out of memory. Wrappers pass it on as a code. */
  #withCause(attempt: Attempt, ending: Ending): Ending {
    const wasKilled = ending.kind === 'exited' ? ending.code === 137 : isSigkill(ending);
    if (!wasKilled || attempt.stopped) return ending;
    const isCounted = attempt.cgroup !== null && oomKillsOf(attempt.cgroup) > 0;
    if (!isCounted && !this.#tools.oom.take()) return ending;
    return { kind: 'out-of-memory', reason: 'killed by the kernel: out of memory' };
  }

  #lookAtAll(): void {
    const now = performance.now();
    for (const attempt of this.#tools.attempts.values()) {
      if (attempt.child === null && isLed(attempt) && !isAlive(attempt.identity!)) this.shimGone(attempt, null, null);
      if (isOrphaned(attempt, now)) this.#tellTrouble(attempt);
    }
    // To ask of each whether it lives takes as long as to read all processes, where many are adopted.
    inQuietTurn(() => this.#lookAtDue());
  }

  #lookAtDue(): void {
    const { attempts, table } = this.#tools;
    const now = performance.now();
    const due = [...attempts.values()].filter(isDue);
    const processes = due.length > 0 ? table.now() : [];
    for (const attempt of due) this.#lookAt(attempt, processes, now);
    const needLooks = (attempt: Attempt) => attempt.child === null || attempt.orphan !== null || isDue(attempt);
    if ([...attempts.values()].some(needLooks)) this.look();
  }

  #lookAt(attempt: Attempt, processes: readonly ProcessEntry[], now: number): void {
    const { home, over, killAgain } = this.#tools;
    const tree = treeOf(attempt);
    const left = treeMembers(processes, tree);
    if (attempt.orphan !== null && attempt.ending === null) this.#lookAtOrphan(attempt, left);
    if (isOver(attempt, left.length, now)) {
      release(attempt.cgroup, home);
      const ending = attempt.ending ?? { kind: 'signalled', signal: 'SIGKILL' };
      const possible = possibleStrays(processes, tree).map(({ pid, name }) => ({ pid, name, possible: true as const }));
      over(attempt, ending, [...left.map(({ pid, name }) => ({ pid, name })), ...possible]);
    } else if (attempt.killedAt !== null && left.length > 0) killAgain(attempt);
  }

  #lookAtOrphan(attempt: Attempt, left: readonly ProcessEntry[]): void {
    const { status, outlived } = attempt.orphan!;
    lookAround(attempt, left);
    if (!isBereft(attempt.orphan!)) return outlived ? this.#tellTrouble(attempt) : undefined;
    const directory = attemptDirectory(attempt.directory, attempt.number);
    // A shim that is adopted may have told its end since.
    const proven = provenEnding(directory, status);
    if (proven === null && this.#mayYetBeRead(attempt, directory)) return;
    this.#endsWith(attempt, proven ?? unprovenEnding(directory, status, outlived));
  }

  /** A disk or a file server that fails for a moment must not cost a run its end. */
  #mayYetBeRead(attempt: Attempt, directory: string): boolean {
    const obstacle = exitObstacle(directory);
    attempt.unreadSince ??= performance.now();
    if (obstacle === null || performance.now() - attempt.unreadSince > UNREAD_MS) return false;
    this.#tellTrouble(attempt, `it has ended; its exit code will be read again: ${obstacle}`);
    return true;
  }

  #tellTrouble(attempt: Attempt, words = troubleOfOrphan(attempt)): void {
    if (words === attempt.trouble) return;
    attempt.trouble = words;
    this.#tools.listener.troubled(attempt.id, words);
    this.#tools.listener.named(attempt.id);
  }
}

/** Whether others of it live on without its shim. */
function isOrphaned({ orphan, unreadSince }: Attempt, now: number): boolean {
  return orphan !== null && hasOutlived(orphan, now) && unreadSince === null;
}
