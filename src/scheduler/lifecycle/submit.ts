import type { GroupId, RunId } from '../../base/ids.js';
import type { EventOf, SubmittedRun } from '../event.js';
import { spareCpu } from '../placement/placement.js';
import { completionChanged, groupOf, isOpen, setDropped, setNeededRuns, setNeeds } from '../queue/groups.js';
import { leaveQueue } from '../queue/queues.js';
import {
  inLine,
  type Intake,
  isActive,
  type Run,
  type SchedulerState,
  type StepContext,
  type Terms,
} from '../state.js';
import { amend, file, liftBreaker, move, trustAgain } from './move.js';
import { setStart } from './start.js';

type Submission = EventOf<'runs-submitted'>;

/** Adds new runs, puts ended runs that are wanted again back in the queue, and leaves live ones alone. */
export function submit(turn: StepContext, submission: Submission): void {
  const { state } = turn;
  if (submission.proposed && !submission.runs.every(({ group }) => mayJoin(state, group))) return;
  const intake = intakeOf(submission);
  state.intakes.push(intake);
  for (const { id, needs, breaker, open, start } of submission.groups) {
    // A known group keeps its needs until all its runs are added, so that it does not become ready or unready in between.
    if (groupOf(state, id).runs.size === 0) setNeeds(state, id, needs);
    groupOf(state, id).breaker = breaker;
    // A submission of some runs names groups of which it has none, and knows nothing of their start times.
    if (intake.awaited.has(id)) setStart(turn, id, start);
    groupOf(state, id).open = open === undefined ? null : { cap: open.cap, plan: submission.plan, closed: null };
  }
  // Older submissions come first, unless this one is of a version that adds all runs at once.
  if (state.intakes.length === 1 || submission.portion === undefined) takeInOf(turn, intake);
}

/** Whether proposed runs may still be added: their group may have been closed meanwhile, or its sweep forgotten. */
function mayJoin({ groups }: SchedulerState, id: GroupId): boolean {
  const group = groups.get(id);
  return group !== undefined && isOpen(group);
}

/** A submission of which no run has been added yet. */
export function intakeOf(submission: Submission): Intake {
  const awaited = new Map<GroupId, number>();
  for (const { group } of submission.runs) awaited.set(group, (awaited.get(group) ?? 0) + 1);
  return { submission, from: 0, awaited };
}

/** Adds some runs of the oldest submission, if any are left. */
export function takeIn(turn: StepContext): void {
  const [first] = turn.state.intakes;
  if (first !== undefined) takeInOf(turn, first);
}

function takeInOf({ state, actions, touched }: StepContext, intake: Intake): void {
  const { submission, from, awaited } = intake;
  const { at, sweep, plan, groups, runs, portion = runs.length } = submission;
  const turn: StepContext = { state, at, actions, touched };
  intake.from = Math.min(runs.length, from + portion);
  for (const submitted of runs.slice(from, intake.from)) {
    take(turn, known(turn, sweep, plan, submitted), plan, submitted);
    arrived(state, awaited, submitted.group);
  }
  if (intake.from < runs.length) return;
  state.intakes.splice(state.intakes.indexOf(intake), 1);
  putInFileOrder(turn, sweep, fileOrder(submission));
  const named = new Set(fileOrder(submission));
  for (const { id, needs, whole } of groups) {
    if (whole) setDropped(state, id, named);
    setNeeds(state, id, needs);
  }
}

/** The runs of a submission in the order of the file. */
export function fileOrder({ order, runs }: Submission): readonly RunId[] {
  return order ?? runs.map(({ id }) => id);
}

/** Counts one awaited run of the group less; with the last one, dependent groups may start. */
function arrived(state: SchedulerState, awaited: Map<GroupId, number>, id: GroupId): void {
  const left = awaited.get(id)! - 1;
  if (left > 0) awaited.set(id, left);
  else awaited.delete(id);
  if (left === 0) completionChanged(state, groupOf(state, id));
}

function take(turn: StepContext, run: Run, plan: string, submitted: SubmittedRun): void {
  const { need, graceMs, priority, timeoutMs, retry, wish, attempts } = submitted;
  const terms: Terms = { plan, need, graceMs, priority, timeoutMs, retry };
  if (isActive(run.state)) return takeWhileUp(turn, run, terms, wish);
  if (run.attempt > attempts) return;
  Object.assign(run, terms, { attempt: attempts });
  setNeededRuns(turn.state, run, submitted.needs);
  if (wish === 'done') move(turn, run, { phase: 'ended', outcome: { kind: 'done' }, ...pastOf(run, turn.at) });
  else if (wish === 'adopt') adopt(turn, run);
  else if (run.state.phase === 'waiting') keepWaiting(turn, run);
  else if (wish === 'run' || wish === 'extend') startAnew(turn, run);
}

function takeWhileUp(turn: StepContext, run: Run, terms: Terms, wish: SubmittedRun['wish']): void {
  if (wish === 'extend') setNextTerms(turn, run, terms);
  else if (wish === 'unextend') setNextTerms(turn, run, null);
}

/** Sets the terms for the next attempt of a live run, or removes them; those of its present attempt do not change. */
function setNextTerms({ touched }: StepContext, run: Run, terms: Terms | null): void {
  run.next = terms;
  touched.add(run.id);
}

/** Adopts a run that is up, in a slot beyond those granted until its real slot is known. */
function adopt(turn: StepContext, run: Run): void {
  Object.assign(run, { retried: 0, alone: false });
  trustAgain(turn, run);
  run.attempt += 1;
  const slot = spareCpu(turn.state.cpu);
  move(turn, run, { phase: 'starting', slot, stop: null });
  turn.actions.push({ type: 'launch', id: run.id, attempt: run.attempt, slot, resumed: true, isUp: true });
}

/** Keeps a waiting run, with its backoff, but releases it from the breaker, as a user launched it again. */
function keepWaiting(turn: StepContext, run: Run): void {
  if (run.state.phase === 'waiting') move(turn, run, run.state);
  liftBreaker(turn, run);
}

function startAnew(turn: StepContext, run: Run): void {
  Object.assign(run, { retried: 0, alone: false });
  trustAgain(turn, run);
  move(turn, run, inLine);
}

/** When a run that was found done ended, as far as it is known. */
function pastOf({ state }: Run, at: number): { since: number | null; at: number } {
  return state.phase === 'ended' ? { since: state.since, at: state.at } : { since: null, at };
}

const nothing: Run['past'] = [];

/** The run of that id; a new one is created waiting, but in no queue yet. */
function known({ state }: StepContext, sweep: string, plan: string, submitted: SubmittedRun): Run {
  const { id, group, need, graceMs, priority, timeoutMs, retry, attempts } = submitted;
  const old = state.runs.get(id);
  if (old !== undefined) return inGroup(state, old, group);
  const ids = state.sweeps.get(sweep) ?? new Set<RunId>();
  // The properties are listed one by one, as object spreads take several times as long for ten thousand runs.
  const run: Run = {
    id,
    sweep,
    group,
    order: state.nextOrder++,
    place: ids.size,
    needs: [],
    need,
    graceMs,
    priority,
    timeoutMs,
    retry,
    retried: 0,
    alone: false,
    hold: null,
    early: false,
    next: null,
    plan,
    attempt: attempts,
    starts: attempts,
    past: nothing,
    state: inLine,
  };
  state.runs.set(run.id, run);
  groupOf(state, run.group).runs.add(run.id);
  state.sweeps.set(sweep, ids.add(run.id));
  return run;
}

/** Moves the run to the group where the file has it now. */
function inGroup(state: SchedulerState, run: Run, group: GroupId): Run {
  if (run.group === group) return run;
  const old = groupOf(state, run.group);
  for (const members of [old.runs, old.waiting, old.done, old.broken, old.quickFailures]) members.delete(run.id);
  old.dropped = new Set([...old.dropped].filter((id) => id !== run.id));
  run.group = group;
  groupOf(state, group).runs.add(run.id);
  file(state, run, groupOf(state, group));
  for (const changed of [old, groupOf(state, group)]) completionChanged(state, changed);
  return run;
}

/** Removes a sweep and everything learned from it. Does nothing while one of its runs holds a slot. */
export function forget({ state, touched }: StepContext, sweep: string): void {
  const ids = state.sweeps.get(sweep);
  if (ids === undefined || [...ids].some((id) => state.active.has(id))) return;
  state.intakes.splice(0, Infinity, ...state.intakes.filter(({ submission }) => submission.sweep !== sweep));
  for (const id of ids) touched.add(id);
  // In reverse order, as removing the first of fifty thousand runs each time would reorder the queue each time.
  for (const id of [...ids].reverse()) dropRun(state, id);
  for (const id of [...state.groups.keys()].filter((group) => isOf(group, sweep))) {
    state.groups.delete(id);
    state.scheduled.delete(id);
  }
  state.sweeps.delete(sweep);
}

function dropRun(state: SchedulerState, id: RunId): void {
  setNeededRuns(state, state.runs.get(id)!);
  leaveQueue(state, id);
  state.deadlines.delete(id);
  state.runs.delete(id);
}

/** A group belongs to the sweep its id begins with, and nothing outside the sweep can need it. */
function isOf(group: GroupId, sweep: string): boolean {
  return group.startsWith(`${sweep}/`);
}

/**
 * Sorts the runs of a sweep in the order of its file: a run that was added between others stands between them, in lists and in the
 * queue. Runs that the file does not name stay before the first one it names, or come after the last.
 *
 * Runs of other sweeps do not move: the queue places of this sweep's waiting runs are redistributed among them in the new order, so
 * that nobody waits longer because a sweep was submitted again.
 */
function putInFileOrder(turn: StepContext, sweep: string, order: readonly RunId[]): void {
  const known = turn.state.sweeps.get(sweep);
  if (known === undefined) return;
  const arranged = merged([...known], order);
  if (arranged === null) return;
  turn.state.sweeps.set(sweep, new Set(arranged));
  const runs = arranged.map((id) => turn.state.runs.get(id)!);
  const orders = queueOrders(runs);
  runs.forEach((run, place) => {
    const own = orders.get(run) ?? run.order;
    if (run.place !== place || run.order !== own) amend(turn, run, { place, order: own });
  });
}

/** The merged order; null: the runs are in that order already. */
function merged(known: readonly RunId[], order: readonly RunId[]): RunId[] | null {
  if (isSame(known, order)) return null;
  const all = new Set(known);
  const named = new Set(order.filter((id) => all.has(id)));
  const first = known.findIndex((id) => named.has(id));
  if (first < 0) return null;
  const others = known.slice(first).filter((id) => !named.has(id));
  const arranged = [...known.slice(0, first), ...named, ...others];
  return isSame(known, arranged) ? null : arranged;
}

function isSame(a: readonly RunId[], b: readonly RunId[]): boolean {
  return a.length === b.length && a.every((id, place) => id === b[place]);
}

/** The queue places of the waiting runs, reassigned in the order of these runs. */
function queueOrders(runs: readonly Run[]): Map<Run, number> {
  const waiting = runs.filter(({ state }) => state.phase === 'waiting');
  const orders = waiting.map(({ order }) => order).sort((a, b) => a - b);
  return new Map(waiting.map((run, index) => [run, orders[index]!]));
}
