import { commonValues, type Condition, hasValues } from '../../analysis/failures/failure-causes.js';
import { troubleOf } from '../../analysis/failures/failure-kinds.js';
import { groupBy } from '../../base/group-by.js';
import { onlyGroupName } from '../../base/ids.js';
import { errorOf, isUnhealthy, waitOf } from '../../base/run-words.js';
import { cleanText } from '../../text/display-text.js';
import type { RunSummary } from '../state/port.js';
import { errorText, waitsForInput } from './state-look.js';

/** What needs the user, because it does not resolve by itself. */
export type Attention = {
  /** Groups whose waiting runs are held because others failed. */
  readonly held: readonly HeldGroup[];
  /** Failed runs, except those of the held groups. */
  readonly failed: { readonly count: number; readonly kinds: readonly Kind[] };
  /** Runs that cannot start because a run they need failed. */
  readonly blocked: { readonly count: number; readonly reason: string } | null;
  /** Runs that somebody holds while nothing else is left to run. */
  readonly waitsForPerson: number;
  /** Runs that wait for a line to be typed. */
  readonly asking: number;
  /** Whether anything went wrong with any run. */
  readonly hasTrouble: boolean;
};

export type HeldGroup = {
  readonly sweep: string;
  readonly group: string;
  readonly runs: readonly RunSummary[];
  /** What the breaker saw: `3 runs in a row failed within 10 s of starting`. */
  readonly reason: string;
  /** Parameter values that all failed runs of the group share and no done run has; empty while no run is done. */
  readonly shared: readonly Condition[];
  /** The most frequent kind of error; null: no run of the group has one. */
  readonly error: string | null;
};

type Kind = { readonly words: string; readonly count: number };

/** Whether a run is held until the user looks at the failures of its group. */
export function isHeldByBreaker({ state, heldBy }: RunSummary): boolean {
  return state === 'held' && heldBy === 'breaker';
}

export function attentionOf(runs: readonly RunSummary[]): Attention {
  const { broken, erred, blocked, holds, asking, isLive, hasTrouble } = sorted(runs);
  const held = [...groupBy(broken, groupKey).values()].map((own) => heldGroup(own, runs));
  const isOfHeld = new Set(held.map(({ runs: [run] }) => groupKey(run!)));
  const failed = erred.filter((run) => !isOfHeld.has(groupKey(run)));
  return {
    held,
    failed: { count: failed.length, kinds: kindsOf(failed) },
    blocked: blocked.length === 0 ? null : { count: blocked.length, reason: cleanText(waitOf(blocked[0]!)!) },
    waitsForPerson: isLive ? 0 : holds,
    asking,
    hasTrouble,
  };
}

/** The runs that may need the user, found in one look at each, since there can be thousands at each publication. */
function sorted(runs: readonly RunSummary[]) {
  const [broken, erred, blocked]: RunSummary[][] = [[], [], []];
  const found = { holds: 0, asking: 0, isLive: false, hasTrouble: false };
  for (const run of runs) {
    if (live.has(run.state)) found.isLive = true;
    if (isHeldByBreaker(run)) broken!.push(run);
    else if (run.state === 'held') found.holds++;
    if (errorOf(run) !== null) erred!.push(run);
    if (isBlocked(run)) blocked!.push(run);
    if (waitsForInput(run)) found.asking++;
    found.hasTrouble ||= hasTroubleOf(run);
  }
  return { broken: broken!, erred: erred!, blocked: blocked!, ...found };
}

const live: ReadonlySet<RunSummary['state']> = new Set(['queued', 'starting', 'running', 'paused', 'stopping']);

function groupKey({ sweep, group }: RunSummary): string {
  return `${sweep}/${group}`;
}

function heldGroup(own: readonly RunSummary[], all: readonly RunSummary[]): HeldGroup {
  const [first] = own;
  const { sweep, group } = first!;
  const members = all.filter((run) => run.group === group && run.sweep === sweep);
  const reason = cleanText(first!.reason ?? '').replace(/^held: |; [^]*$/g, '');
  const failed = members.filter((run) => errorOf(run) !== null);
  const error = kindsOf(failed)[0]?.words ?? null;
  // Where the breaker has found the values, its reason names them.
  const shared = reason.includes(', all with ') ? [] : sharedByFailures(failed, members);
  return { sweep, group: onlyGroupName(sweep, group), runs: own, reason, shared, error };
}

/** Returns at most two conditions. While no run is done, failed runs may share a value only because runs start in file order. */
function sharedByFailures(failed: readonly RunSummary[], members: readonly RunSummary[]): Condition[] {
  const done = members.filter(({ state }) => state === 'done');
  if (done.length === 0) return [];
  const parametersOf = ({ parameters }: RunSummary) => parameters;
  return commonValues(failed.map(parametersOf), members.map(parametersOf))
    .filter((value) => !done.some(({ parameters }) => hasValues(parameters, [value])))
    .slice(0, 2);
}

/** The kinds of error, most frequent first. A kind with a single run shows that run's own message. */
function kindsOf(failed: readonly RunSummary[]): Kind[] {
  return [...groupBy(failed, (run) => troubleOf(run)!)]
    .map(([kind, own]) => ({ words: errorText(own.length === 1 ? own[0]!.reason! : kind), count: own.length }))
    .sort((a, b) => b.count - a.count);
}

/** Whether a run cannot start before somebody does something: a run that it needs failed, or Slurm's nodes take no jobs. */
function isBlocked(run: RunSummary): boolean {
  const { state } = run;
  return (
    (state === 'queued' || state === 'starting') && /^needs .*, which |^nodes take no jobs/.test(waitOf(run) ?? '')
  );
}

function hasTroubleOf(run: RunSummary): boolean {
  return errorOf(run) !== null || isUnhealthy(run);
}

/** Minimum time between two rings, in ms, so that twelve runs that fail together ring once. */
const PAUSE_MS = 10_000;

/**
 * Rings when a run fails or the sweep has ended; tmux and most terminals then mark the window for a user who is looking elsewhere.
 */
export class Bell {
  /** Number of failed runs at the last call; null before the first, so that earlier failures do not ring. */
  #failed: number | null = null;
  #wasOver = false;
  #rungAt = -Infinity;

  /** Whether to ring now. `now`: Unix ms. */
  hear(runs: Iterable<RunSummary>, isOver: boolean, now: number): boolean {
    let failed = 0;
    for (const { state } of runs) if (state === 'failed' || state === 'lost') failed += 1;
    const isNews = this.#failed !== null && (failed > this.#failed || (isOver && !this.#wasOver));
    this.#failed = failed;
    this.#wasOver = isOver;
    if (!isNews || now - this.#rungAt < PAUSE_MS) return false;
    this.#rungAt = now;
    return true;
  }
}
