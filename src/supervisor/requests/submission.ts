import { readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { existsSync } from 'node:fs';
import { after, type Eventually } from '../../base/eventually.js';
import { GpuIndex, GroupId, RunId } from '../../base/ids.js';
import type { RunFacts } from '../../base/outcome.js';
import { UserError } from '../../base/user-error.js';
import { checkSweepFolder } from '../../files/private-folder.js';
import { unknownRun } from '../../files/run-directory/completion-facts.js';
import { type GpuView, sharesAllowed } from '../../gpu/gpu.js';
import type { VisibleGpus } from '../../gpu/visible-gpus.js';
import { startTimes } from '../../launch/demand.js';
import { refuseNiceness } from '../../launch/niceness.js';
import { refuseTooManyCores } from '../../launch/slot-choice.js';
import { isOnPath } from '../../processes/program-file.js';
import { isTurnOver, nextTurn } from '../../processes/turn.js';
import type { Ack } from '../../protocol/message.js';
import type { Breaker, EventOf, GrantedGpu, SubmittedRun } from '../../scheduler/event.js';
import type { Need } from '../../scheduler/placement/slot.js';
import type { StartTimes } from '../../scheduler/start/start-times.js';
import { isActive, type RunState, type SchedulerState } from '../../scheduler/state.js';
import { SharedParts } from '../../spec/plan-text.js';
import type { Plan, PlannedGroup, PlannedRun } from '../../spec/planned-run.js';
import { growth } from '../../spec/policy/completion.js';
import type { EventLoop } from '../core/event-loop.js';
import { enlargeHeap, MANY_RUNS } from '../core/large-heap.js';
import type { Request } from '../publish/socket-server.js';
import { type AskDone, type CompletionOf, factsOf } from '../runs/endings.js';
import type { Environment, SubmissionStore } from '../runs/submission-store.js';
import type { Slots } from './slots.js';

type Submit = Extract<Request, { type: 'submit' }>;
/** The runs of a submission so far, with their shared parts. `first`: the first page, if every page repeats the submission. */
type Pages = { request: number; first: Submit | null; runs: PlannedRun[]; parts: SharedParts };

/** Number of runs that are added at once: some 10 ms of work. */
const PORTION = 1000;

type SubmitPorts = {
  loop: Pick<EventLoop, 'state' | 'now' | 'ask'>;
  slots: Slots;
  store: Pick<SubmissionStore, 'add'>;
  /** Determines what of a plan is left to do; `environment`: of the launch. */
  reconcile: (plan: Plan, room: GpuRoom, environment: Environment) => Promise<SubmittedRun[]>;
  /** Determines the code of the runs, in the background. @param gpus Names of the GPUs of the machine. */
  capture: (plan: Plan, environment: Environment, gpus: readonly string[]) => void;
  /** The name of what has the runs. */
  executorName: string;
};

/** Collects the pages of submissions, by client, and submits complete ones. */
export class Submissions {
  readonly #ports: SubmitPorts;
  /** Submissions whose last page has not arrived. */
  readonly #unfinished = new WeakMap<object, Pages>();

  constructor(ports: SubmitPorts) {
    this.#ports = ports;
  }

  /** Adds a page. Null: the answer comes with a later page. Rejects with a UserError for what cannot be done. */
  async take(request: Exclude<Request, { type: 'command' }>, client: object): Promise<Ack | null> {
    const pages = this.#pagesBefore(request, client);
    if (request.type === 'page') {
      if (request.of > MANY_RUNS) enlargeHeap();
      const runs = pages.parts.take(request.page);
      if (runs === undefined) throw incomplete();
      for (const run of runs) pages.runs.push(run);
    } else {
      for (const run of request.plan.runs) pages.runs.push(pages.parts.share(run));
      pages.first ??= request;
      const { first, runs } = pages;
      if (runs.length > MANY_RUNS) enlargeHeap();
      if (!request.more) return submit({ ...first, plan: { ...first.plan, runs } }, this.#ports);
    }
    this.#unfinished.set(client, pages);
    return null;
  }

  /** The pages of this submission so far. */
  #pagesBefore({ request }: Request, client: object): Pages {
    const pages = this.#unfinished.get(client) ?? { request, first: null, runs: [], parts: new SharedParts() };
    this.#unfinished.delete(client);
    if (pages.request !== request) throw interleaved();
    return pages;
  }
}

async function submit({ plan, environment, slots: wish, order }: Submit, ports: SubmitPorts): Promise<Ack> {
  const { loop, store, reconcile, capture } = ports;
  const [first] = plan.runs;
  if (first !== undefined) checkSweepFolder(dirname(first.directory));
  refuseOtherExecutor(plan, ports.executorName);
  const placed = ports.slots.arePlaced;
  if (placed) await refuseNiceness(plan.runs, environment);
  const { slots, view, visible } = await ports.slots.grant(wish, environment);
  capture(
    plan,
    environment,
    view.gpus.map(({ name }) => name),
  );
  const sharing = mostSharing(slots.gpus, view, environment);
  if (placed) refuseTooManyCores(plan.runs, slots);
  const within = visible === null || hidesNothing(visible, view) ? undefined : visible.indexes.map(toIndex);
  const gpus = slots.gpus.filter(({ index }) => within?.includes(index) ?? true).length;
  const room = { placed, gpus, within, perGpu: wish.perGpu, sharing };
  const runs = await reconcile(plan, room, environment);
  const key = await store.add(plan, environment);
  const portion = runs.length > PORTION ? { portion: PORTION } : {};
  const whole = order === undefined ? {} : { order };
  const groups = groupNeeds(plan, order?.length !== 0);
  const submission = { sweep: plan.sweep, plan: key, groups, runs, ...whole, ...portion };
  refuseWithoutCode(plan.runs);
  await loop.ask({ type: 'runs-submitted', at: loop.now(), ...submission });
  await takenIn(plan.sweep, loop);
  return { ok: true, message: submitWords(runs) };
}

/** Refuses a plan for another executor, as a supervisor has only one. */
function refuseOtherExecutor({ executor: wanted, sweep }: Plan, present: string): void {
  if (wanted === undefined || wanted === present) return;
  throw new UserError(
    `${sweep} is to run ${placeWords[wanted]}, and the supervisor of this runs directory runs everything ${placeWords[present] ?? present}.`,
    'Launch it in a runs directory of its own with `--runs DIR`, or when all runs here have ended and their windows are closed.',
  );
}

const placeWords: Readonly<Record<string, string>> = { local: 'on this machine', slurm: 'on Slurm' };

/** Refuses runs whose code snapshot was deleted since it was chosen. */
function refuseWithoutCode(runs: readonly PlannedRun[]): void {
  const paths = new Set(runs.flatMap(({ snapshot }) => (snapshot === undefined ? [] : [snapshot.path])));
  for (const path of paths) {
    if (path !== null && existsSync(path)) continue;
    throw new UserError(
      `The snapshot of the code is not there: ${path ?? 'none was made'}.`,
      'Launch the sweep again.',
    );
  }
}

/** Whether a variable names all GPUs, and so hides none. */
function hidesNothing({ indexes }: VisibleGpus, { gpus, at }: GpuView): boolean {
  return at !== null && gpus.every(({ index }) => indexes.includes(index));
}

function toIndex(index: number): GpuIndex {
  return GpuIndex.parse(index);
}

/**
 * Waits until all runs are added, so that a client with the answer finds them. If the disk refuses, they are added later: they are
 * recorded already.
 */
async function takenIn(sweep: string, loop: SubmitPorts['loop']): Promise<void> {
  const isUnderWay = () => loop.state.intakes.some(({ submission }) => submission.sweep === sweep);
  try {
    while (isUnderWay()) await loop.ask({ type: 'time-passed', at: loop.now() });
  } catch {
    // The deadline clock will add the rest.
  }
}

function submitWords(runs: readonly SubmittedRun[]): string {
  const count = (...wishes: SubmittedRun['wish'][]) => runs.filter(({ wish }) => wishes.includes(wish)).length;
  const kept = count('keep', 'extend', 'unextend', 'adopt');
  const [extended, unextended, adopted] = [count('extend'), count('unextend'), count('adopt')];
  const remarks = [
    ...(extended === 0
      ? []
      : [
          `${extended} ${extended === 1 ? 'continues' : 'continue'} with ${extended === 1 ? 'its' : 'their'} larger budget`,
        ]),
    ...(unextended === 0
      ? []
      : [`${unextended} no longer to continue after ${unextended === 1 ? 'its' : 'their'} present attempt`]),
    ...(adopted === 0 ? [] : [`${adopted} found running and taken over`]),
  ];
  const underWay = kept === 0 ? '' : `, ${kept} in progress${remarks.length === 0 ? '' : ` (${remarks.join('; ')})`}`;
  return `${count('run')} runs to do${underWay}, ${count('done')} already done`;
}

function incomplete(): UserError {
  return new UserError('A page of the submission is missing.', 'Submit the sweep again.');
}

function interleaved(): UserError {
  return new UserError('A submission was begun before the last one was complete.', 'Submit one sweep at a time.');
}

/**
 * The GPUs that these runs may use, and how many runs share each, by option or by limit of the driver. `placed`: runs are placed on
 * them; otherwise the executor finds GPUs, and each run takes one slot here. `within`: the GPUs that the launching shell leaves
 * visible; absent: all.
 */
export type GpuRoom = {
  placed: boolean;
  gpus: number;
  within?: GpuIndex[] | undefined;
  perGpu: number | undefined;
  sharing: Sharing;
};

/** The known facts about runs: their states, their plans, and live attempts. */
type Known = {
  state: SchedulerState;
  planned: (id: RunId) => PlannedRun | null;
  /** Same as `Executor.orphanedAttemptOf`. */
  orphanedAttemptOf: (directory: string, attempt: number) => Eventually<number | null>;
  askDone: AskDone;
};

/** Determines what of a plan is left to do, for the scheduler: reads each run's directory, which takes 50 µs per run. */
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

/** The priority of a run: one that a user set stays, unless the file's priority has changed. */
function priorityOf(run: PlannedRun, { state, planned }: Known): number {
  const was = state.runs.get(run.id);
  if (was === undefined || was.priority === run.priority || was.state.phase === 'ended') return run.priority;
  return planned(run.id)?.priority === run.priority ? was.priority : run.priority;
}

/** Calls the commands of done rules, several at a time, as they take long. */
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
    // An error is handled when its turn comes.
    if (wish instanceof Promise) wish.catch(() => undefined);
  }
  return begun;
}

function neededRuns({ sweep }: PlannedRun, names: readonly string[]): RunId[] {
  return names.map((name) => RunId.parse(`${sweep}/${name}`));
}

type Terms = Omit<SubmittedRun, 'id' | 'wish' | 'attempts' | 'needs'>;

/** The terms of runs. Equal terms are one object, so that they are written once. */
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
      // Not 0, so that a client that polls sees the end of an attempt before its retry starts.
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

/**
 * The plan's groups with their needs; a run may need more than its group says.
 *
 * @param isOfFile Whether the plan is that of a sweep file, so that a run that is not named is not in the file.
 */
function groupNeeds({ sweep, groups, runs }: Plan, isOfFile: boolean): EventOf<'runs-submitted'>['groups'] {
  const breakers = new Map(groups.map(({ name, breaker }) => [name, breaker]));
  const starts = new Map(runs.map(({ group, start }) => [group, start]));
  const needs = new Map(groups.map(({ name, needs: needed }) => [name, new Set(needed)]));
  for (const run of runs) {
    const known = needs.get(run.group) ?? new Set();
    needs.set(run.group, known);
    run.needs.forEach((needed) => known.add(needed));
  }
  const waitedFor = new Set(isOfFile ? [...needs.values()].flatMap((needed) => [...needed]) : []);
  return [...needs].map(([name, needed]) => {
    const group = groups.find((each) => each.name === name);
    return {
      id: groupId(sweep, name),
      needs: [...needed].map((other) => groupId(sweep, other)),
      breaker: breakerOf(breakers.get(name) ?? null),
      ...openOf(group),
      ...(waitedFor.has(name) && group?.open === undefined ? { whole: true as const } : {}),
      ...startOf(starts.get(name)),
    };
  });
}

function openOf(group: PlannedGroup | undefined): { open?: { cap: number } } {
  return group?.open === undefined ? {} : { open: { cap: group.open.cap } };
}

function startOf(rule: PlannedRun['start']): { start?: StartTimes } {
  return rule === undefined ? {} : { start: startTimes(rule) };
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

/**
 * Returns a test for missing run directories: listing a sweep's folder once takes less time than checking fifty thousand
 * directories.
 */
async function missing({ runs }: Plan): Promise<Seen['isMissing']> {
  const folder = dirname(runs[0]?.directory ?? '.');
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? [] : null));
  if (names === null) return () => false;
  // Some file systems ignore case.
  const known = new Set(names.map((name) => name.toLowerCase()));
  return (directory) => dirname(directory) === folder && !known.has(basename(directory).toLowerCase());
}

type Wish = Pick<SubmittedRun, 'wish' | 'attempts'>;

/** The wish for a run: at once, unless a long file has to be read. */
function wishFor(
  run: PlannedRun,
  { state, planned, orphanedAttemptOf, askDone, isMissing }: Seen,
  completionOf: CompletionOf,
): Eventually<Wish> {
  // Read before the directory, as files are written before events about them arrive.
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
  // Its files are not readable now, so the remembered state counts.
  return facts.obstacle !== undefined && was?.phase === 'ended' && was.outcome.kind === 'done';
}

function isGrown({ parameters, identity }: PlannedRun, present: PlannedRun | null): boolean {
  return present?.identity === identity && growth(present.parameters, parameters) !== null;
}

/** Whether an attempt lives that this supervisor does not know, as its records were lost. */
function isUp(
  { directory }: PlannedRun,
  { attempts, exitCode }: RunFacts,
  orphanedAttemptOf: Known['orphanedAttemptOf'],
): Eventually<boolean> {
  if (attempts === 0 || exitCode !== null) return false;
  return after(orphanedAttemptOf(directory, attempts + 1), (orphan) => orphan !== null);
}

/** Whether the remembered end is more reliable: a killed program may well end with code 0, which its exit file then contains. */
function isKnownBetter({ done }: PlannedRun, was: RunState | null): boolean {
  return 'exit' in done && was?.phase === 'ended' && was.outcome.kind !== 'done';
}

function groupId(sweep: string, group: string): GroupId {
  return GroupId.parse(`${sweep}/${group}`);
}

function twice({ sweep, name }: PlannedRun): UserError {
  return new UserError(`Sweep ${sweep} has two runs called ${name}.`, 'Make `name` unique.');
}

/** Returns how many runs may share each of these GPUs at most. */
type Sharing = (run: Pick<PlannedRun, 'resources'>) => number;

/** In exclusive mode several runs may share a GPU only through the MPS daemon. */
export function mostSharing(granted: readonly GrantedGpu[], view: GpuView, environment: Environment): Sharing {
  const gpus = view.gpus.filter(({ index }) => granted.some((gpu) => gpu.index === index));
  const isThere = isOnPath('nvidia-cuda-mps-control', environment);
  const most = (hasMps: boolean) => Math.max(1, Math.min(...gpus.map((gpu) => sharesAllowed(gpu, hasMps))));
  const [through, without] = [most(isThere), most(false)];
  return ({ resources }) => (resources.mps === 'auto' ? through : without);
}
