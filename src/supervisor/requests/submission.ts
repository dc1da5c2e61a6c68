import { readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { after, type Eventually } from '../../base/eventually.js';
import { type GpuIndex, GroupId, RunId } from '../../base/ids.js';
import type { RunFacts } from '../../base/outcome.js';
import { UserError } from '../../base/user-error.js';
import { unknownRun } from '../../files/completion-facts.js';
import { isOnPath } from '../../processes/program-file.js';
import { type GpuView, sharesAllowed } from '../../gpu/gpu.js';
import type { Breaker, EventOf, GrantedGpu, SubmittedRun } from '../../scheduler/event.js';
import type { Need } from '../../scheduler/placement/slot.js';
import { isActive, type RunState } from '../../scheduler/run-state.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { Plan, PlannedGroup, PlannedRun } from '../../spec/planned-run.js';
import { growth } from '../../spec/policy/completion.js';
import { isTurnOver, nextTurn } from '../../processes/turn.js';
import type { AskDone } from '../runs/done-commands.js';
import { type CompletionOf, factsOf } from '../runs/exit-classification.js';
import type { Environment } from '../runs/submission-store.js';

/**
 * GPUs that are granted and not hidden from these runs, runs that are to share each whatever the sweep file says, and how many may.
 * `placed`: runs are put on them; else whoever starts a run finds it its GPUs, and it takes one slot here. `within`: the GPUs that
 * the shell of their launch leaves them; absent: all.
 */
type GpuRoom = {
  placed: boolean;
  gpus: number;
  within?: GpuIndex[] | undefined;
  perGpu: number | undefined;
  sharing: Sharing;
};

/** What is known of runs so far: their states, what each of them is, and which attempts of it live. */
export type Known = {
  state: SchedulerState;
  planned: (id: RunId) => PlannedRun | null;
  /** As `Executor.orphanedAttemptOf`. */
  orphanedAttemptOf: (directory: string, attempt: number) => Eventually<number | null>;
  askDone: AskDone;
};

/** What of a plan there is left to do, for the scheduler: looks into each run's directory, which costs 50 µs a run. */
export async function reconcile(
  plan: Plan,
  known: Known,
  completionOf: CompletionOf,
  room: GpuRoom,
): Promise<SubmittedRun[]> {
  const seen = { ...known, isMissing: await missing(plan) };
  const runs: SubmittedRun[] = [];
  const ids = new Set<RunId>();
  const terms = new TermsBook(room);
  const begun = await askedAhead(plan, (run) => wishFor(run, seen, completionOf));
  for (const run of plan.runs) {
    if (isTurnOver()) await nextTurn();
    if (ids.size === ids.add(run.id).size) throw twice(run);
    const wish = begun.get(run.id) ?? wishFor(run, seen, completionOf);
    const { group, need, graceMs, timeoutMs, retry } = terms.of(run);
    const priority = priorityOf(run, known);
    const { wish: wanted, attempts } = wish instanceof Promise ? await wish : wish;
    const submitted = { id: run.id, group, need, graceMs, priority, timeoutMs, retry, wish: wanted, attempts };
    runs.push(run.neededRuns === undefined ? submitted : { ...submitted, needs: neededRuns(run, run.neededRuns) });
  }
  return runs;
}

/** A priority that a person gave it while it was known stays, unless the file now says another one than before. */
function priorityOf(run: PlannedRun, { state, planned }: Known): number {
  const was = state.runs.get(run.id);
  if (was === undefined || was.priority === run.priority || was.state.phase === 'ended') return run.priority;
  return planned(run.id)?.priority === run.priority ? was.priority : run.priority;
}

/** Commands of done rules take their time, and are asked several at a time. */
async function askedAhead(
  { runs }: Plan,
  wishOf: (run: PlannedRun) => Eventually<Wish>,
): Promise<ReadonlyMap<RunId, Eventually<Wish>>> {
  const begun = new Map<RunId, Eventually<Wish>>();
  for (const run of runs) {
    if (!('command' in run.done) || begun.has(run.id)) continue;
    if (isTurnOver()) await nextTurn();
    const wish = wishOf(run);
    begun.set(run.id, wish);
    // Heard when its turn comes.
    if (wish instanceof Promise) wish.catch(() => undefined);
  }
  return begun;
}

function neededRuns({ sweep }: PlannedRun, names: readonly string[]): RunId[] {
  return names.map((name) => RunId.parse(`${sweep}/${name}`));
}

type Terms = Omit<SubmittedRun, 'id' | 'wish' | 'attempts' | 'needs'>;

/** The terms of runs. Those that have them in common share one object, so that whoever writes them down sees it. */
class TermsBook {
  readonly #room: GpuRoom;
  readonly #known = new Map<PlannedRun['metrics'], { like: PlannedRun; terms: Terms }>();

  constructor(room: GpuRoom) {
    this.#room = room;
  }

  of(run: PlannedRun): Terms {
    const known = this.#known.get(run.metrics);
    if (known !== undefined && isAlike(known.like, run)) return known.terms;
    const terms: Terms = {
      group: groupId(run.sweep, run.group),
      need: needOf(run, this.#room),
      graceMs: run.grace * 1000,
      priority: run.priority,
      timeoutMs: run.timeout === null ? null : run.timeout * 1000,
      // Not 0: a retry comes after the end of what it retries, also for those who only look now and then.
      retry: { max: run.retry.max, backoffMs: Math.max(1, run.retry.backoff * 1000), on: run.retry.on },
    };
    this.#known.set(run.metrics, { like: run, terms });
    return terms;
  }
}

const alike = ['sweep', 'group', 'resources', 'grace', 'priority', 'timeout', 'retry'] as const;

function isAlike(a: PlannedRun, b: PlannedRun): boolean {
  return alike.every((key) => a[key] === b[key]);
}

/** The plan's groups with what they need; a run may need more than its group's heading says. */
export function groupNeeds({ sweep, groups, runs }: Plan): EventOf<'runs-submitted'>['groups'] {
  const breakers = new Map(groups.map(({ name, breaker }) => [name, breaker]));
  const needs = new Map(groups.map(({ name, needs: needed }) => [name, new Set(needed)]));
  for (const run of runs) {
    const known = needs.get(run.group) ?? new Set();
    needs.set(run.group, known);
    run.needs.forEach((needed) => known.add(needed));
  }
  return [...needs].map(([name, needed]) => ({
    id: groupId(sweep, name),
    needs: [...needed].map((other) => groupId(sweep, other)),
    breaker: breakerOf(breakers.get(name) ?? null),
    ...openOf(groups.find((group) => group.name === name)),
  }));
}

function openOf(group: PlannedGroup | undefined): { open?: { cap: number } } {
  return group?.open === undefined ? {} : { open: { cap: group.open.cap } };
}

function needOf({ resources }: PlannedRun, room: GpuRoom): Need {
  const { gpus: wanted, per_gpu: perGpu, gpu_memory: memory, cpus } = resources;
  if (!room.placed) return { gpus: 0, perGpu: room.perGpu ?? perGpu, memory: null };
  const gpus = wanted === 'auto' ? Math.min(1, room.gpus) : wanted;
  return {
    ...{ gpus, perGpu: Math.min(room.perGpu ?? perGpu, room.sharing({ resources })), memory },
    ...(cpus === undefined ? {} : { cpus }),
    ...(gpus === 0 || room.within === undefined ? {} : { within: room.within }),
  };
}

function breakerOf(breaker: PlannedGroup['breaker']): Breaker | null {
  return breaker === null ? null : { failures: breaker.failures, withinMs: breaker.within * 1000 };
}

type Seen = Known & { isMissing: (directory: string) => boolean };

/** Tells directories of runs that are not there: to list a sweep's folder once costs less than to ask for fifty thousand of them. */
async function missing({ runs }: Plan): Promise<Seen['isMissing']> {
  const folder = dirname(runs[0]?.directory ?? '.');
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? [] : null));
  if (names === null) return () => false;
  // Some file systems take large letters for small ones.
  const known = new Set(names.map((name) => name.toLowerCase()));
  return (directory) => dirname(directory) === folder && !known.has(basename(directory).toLowerCase());
}

type Wish = Pick<SubmittedRun, 'wish' | 'attempts'>;

/** At once, unless a long file has to be looked through. */
function wishFor(
  run: PlannedRun,
  { state, planned, orphanedAttemptOf, askDone, isMissing }: Seen,
  completionOf: CompletionOf,
): Eventually<Wish> {
  // Taken before the directory is looked at, which is written to before we are told of it.
  const { attempt, state: was, next } = state.runs.get(run.id) ?? { attempt: 0, state: null, next: null };
  if (was !== null && isActive(was)) {
    const rest = next === null ? 'keep' : 'unextend';
    return { wish: isGrown(run, planned(run.id)) ? 'extend' : rest, attempts: attempt };
  }
  return after(
    was === null && isMissing(run.directory) ? unknownRun : factsOf(run, askDone),
    (facts): Eventually<Wish> => {
      const attempts = Math.max(attempt, facts.attempts);
      if (isDone(run, was, { facts, completionOf })) return { wish: 'done', attempts };
      return after(isUp(run, facts, orphanedAttemptOf), (isAdopted) => {
        if (isAdopted) return { wish: 'adopt', attempts };
        return { wish: was?.phase === 'waiting' ? 'keep' : 'run', attempts };
      });
    },
  );
}

function isDone(
  run: PlannedRun,
  was: RunState | null,
  { facts, completionOf }: { facts: RunFacts; completionOf: CompletionOf },
): boolean {
  if (completionOf(run, facts).state === 'done') return !isKnownBetter(run, was);
  // Its files cannot say it just now: what is remembered does.
  return facts.obstacle !== undefined && was?.phase === 'ended' && was.outcome.kind === 'done';
}

function isGrown({ parameters, identity }: PlannedRun, present: PlannedRun | null): boolean {
  return present?.identity === identity && growth(present.parameters, parameters) !== null;
}

/** Whether an attempt lives that nobody here knows of: what was known of it was lost. */
function isUp(
  { directory }: PlannedRun,
  { attempts, exitCode }: RunFacts,
  orphanedAttemptOf: Known['orphanedAttemptOf'],
): Eventually<boolean> {
  if (attempts === 0 || exitCode !== null) return false;
  return after(orphanedAttemptOf(directory, attempts + 1), (orphan) => orphan !== null);
}

/** A program that was killed may well end with code 0, which its exit file then says. */
function isKnownBetter({ done }: PlannedRun, was: RunState | null): boolean {
  return 'exit' in done && was?.phase === 'ended' && was.outcome.kind !== 'done';
}

function groupId(sweep: string, group: string): GroupId {
  return GroupId.parse(`${sweep}/${group}`);
}

function twice({ sweep, name }: PlannedRun): UserError {
  return new UserError(`Sweep ${sweep} has two runs called ${name}.`, 'Make `name` unique.');
}

/** How many runs may share each of these GPUs, whatever is asked for. */
type Sharing = (run: Pick<PlannedRun, 'resources'>) => number;

/** A driver set to one process a GPU lets several runs on it only through the MPS daemon. */
export function mostSharing(granted: readonly GrantedGpu[], view: GpuView, environment: Environment): Sharing {
  const gpus = view.gpus.filter(({ index }) => granted.some((gpu) => gpu.index === index));
  const isThere = isOnPath('nvidia-cuda-mps-control', environment);
  const most = (hasMps: boolean) => Math.max(1, Math.min(...gpus.map((gpu) => sharesAllowed(gpu, hasMps))));
  const [through, without] = [most(isThere), most(false)];
  return ({ resources }) => (resources.mps === 'auto' ? through : without);
}
