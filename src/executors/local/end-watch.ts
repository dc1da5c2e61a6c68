import type { RunId } from '../../base/ids.js';
import { inQuietTurn } from '../../processes/turn.js';
import { oomKillsOf } from '../../processes/cgroup.js';
import { isAlive } from '../../processes/process-identity.js';
import type { ProcessEntry, ProcessTable } from '../../processes/process-table.js';
import { possibleStrays, treeMembers } from '../../processes/process-tree.js';
import type { Ending, ExecutorListener, LaunchSpec, LeakedProcess } from '../executor.js';
import { attemptDirectory, exitObstacle } from '../attempt/attempt-files.js';
import {
  type Attempt,
  hasOutlived,
  isDue,
  isGone,
  isLed,
  isOver,
  lookAround,
  treeOf,
  troubleOfOrphan,
} from './attempt.js';
import { type CgroupHome, type OomWatch, release } from './cgroup-home.js';
import { explained, isSigkill, provenEnding, type ShimStatus, unprovenEnding } from '../attempt/ending.js';

/** Interval of looks at attempts whose end is not notified, ms. */
const LOOK_MS = 100;
/** Time for which an unreadable exit code is tried again before it counts as lost, ms. */
const UNREAD_MS = 3000;
/** A shorter run's leftovers are not searched for, ms. */
const SHORT_MS = 5000;

type EndWatchTools = {
  /** All watched attempts. */
  attempts: ReadonlyMap<RunId, Attempt>;
  table: ProcessTable;
  home: CgroupHome | null;
  oom: OomWatch;
  listener: Pick<ExecutorListener, 'changed' | 'troubled'>;
  /** Kills processes that appeared while the others were being killed. */
  killAgain: (attempt: Attempt) => void;
  /** Continues the rest of a paused attempt, which would be suspended for ever. */
  release: (attempt: Attempt) => void;
  /** Called when an attempt is over and no longer watched. */
  over: (attempt: Attempt, ending: Ending, leaked: readonly LeakedProcess[]) => void;
};

/**
 * Notices how attempts end, and when none of their processes is left: from their shims if those are our children, else by looking.
 * An attempt that was told to end, or whose shim died without a report, is over when its whole tree is gone.
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

  /** @param spec The launch of an attempt that was started here; null: it was adopted. */
  shimGone(attempt: Attempt, status: ShimStatus, spec: LaunchSpec | null): void {
    const ending = provenEnding(attemptDirectory(attempt.directory, attempt.number), status);
    if (ending !== null) return this.#shimEnded(attempt, spec === null ? ending : explained(ending, spec));
    attempt.orphan = { since: performance.now(), status, survivors: [], outlived: false };
    this.#lookNow();
  }

  /** Schedules a look; call it when an attempt is watched whose end is not notified, or is expected. */
  look(): void {
    if (this.#looking === null) this.#lookSince(performance.now());
  }

  #lookSince(since: number): void {
    // A thousand adopted runs take 30 ms per look, so the interval grows with their number.
    const dueAt = since + Math.max(LOOK_MS, this.#tools.attempts.size);
    this.#looking = setTimeout(() => {
      this.#looking = null;
      // A starting supervisor may adopt a thousand attempts after it has scheduled the first look.
      if (this.#tools.attempts.size > dueAt - since) this.#lookSince(since);
      else this.#lookNow();
    }, dueAt - performance.now()).unref();
  }

  /** Looks soon; ends at the same time share one look. It reads all processes, so it happens in a quiet turn. */
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
    // A longer run had time to start processes outside its cgroup.
    if (!attempt.stopped && !wasPaused && isShort) this.#tools.over(attempt, attempt.ending!, []);
    else this.#lookNow();
  }

  #endsWith(attempt: Attempt, ending: Ending): void {
    attempt.ending = this.#withCause(attempt, ending);
    attempt.endedAt = performance.now();
  }

  /**
   * Adds the cause of a SIGKILL: it comes from us, from a user, or from a kernel that is out of memory. Wrappers pass it on as a
   * code.
   */
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
    // Checking each of many adopted attempts takes as long as reading all processes.
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
      const ending = attempt.ending ?? killed;
      const possible = possibleStrays(processes, tree).map(({ pid, name }) => ({ pid, name, possible: true as const }));
      over(attempt, ending, [...left.map(({ pid, name }) => ({ pid, name })), ...possible]);
    } else if (attempt.killedAt !== null && left.length > 0) killAgain(attempt);
  }

  #lookAtOrphan(attempt: Attempt, left: readonly ProcessEntry[]): void {
    const { status, outlived } = attempt.orphan!;
    lookAround(attempt, left);
    if (!isGone(attempt.orphan!)) return outlived ? this.#tellTrouble(attempt) : undefined;
    const directory = attemptDirectory(attempt.directory, attempt.number);
    // An adopted shim may have reported its end meanwhile.
    const proven = provenEnding(directory, status);
    if (proven === null && this.#mayYetBeRead(attempt, directory)) return;
    // The shim of a terminal is not our child, but we have killed all of it.
    const isOurDoing = attempt.input === 'terminal' && attempt.killedAt !== null && !outlived;
    const unproven = isOurDoing ? killed : unprovenEnding(directory, status, outlived);
    this.#endsWith(attempt, proven ?? unproven);
  }

  /** Whether an unreadable file may become readable: a disk or file server that fails for a moment must not cost a run its end. */
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
    this.#tools.listener.changed(attempt.id);
  }
}

const killed: Ending = { kind: 'signalled', signal: 'SIGKILL' };

/** Whether other processes of the attempt live without its shim. Those that were killed with it take a while on a busy machine. */
function isOrphaned({ orphan, unreadSince, killedAt }: Attempt, now: number): boolean {
  return orphan !== null && killedAt === null && hasOutlived(orphan, now) && unreadSince === null;
}
