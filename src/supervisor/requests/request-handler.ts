import { dirname, join } from 'node:path';
import type { GroupId, RunId } from '../../base/ids.js';
import { sweepFiles } from '../../contract/files.js';
import type { Executor } from '../../executors/executor.js';
import { type Discard, keptPaths, overlaps, setAside, setRunAside } from '../../files/disk/discard.js';
import { obstacleOf } from '../../files/regular-file.js';
import { directoryObstacle, isLink } from '../../files/run-directory/own-directory.js';
import { isTurnOver, nextTurn } from '../../processes/turn.js';
import type { Ack, Command, RunCommand } from '../../protocol/message.js';
import {
  doneWords,
  eventOf,
  type EventOrder,
  type Refusal,
  refusalOf,
  refusalWords,
  runVerbNames,
} from '../../protocol/run-verbs.js';
import { isOpen } from '../../scheduler/queue/groups.js';
import { startsAt } from '../../scheduler/start/group-start.js';
import { type Group, isActive, type Run, type SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import { counted } from '../../text/numbers.js';
import type { EventLoop } from '../core/event-loop.js';
import { verbTarget } from '../publish/run-view.js';
import { doneFileOf } from '../publish/sweep-view.js';
import type { Annotations } from '../runs/annotations.js';
import type { PlannedRuns } from '../runs/submission-store.js';
import type { Slots } from './slots.js';

/** The parts that commands act through. */
export type RequestPorts = {
  /** `ask` resolves once the event is recorded and acted upon; `changed` announces a visible change that is no event. */
  loop: Pick<EventLoop, 'state' | 'now' | 'ask' | 'changed'>;
  plannedRuns: Pick<PlannedRuns, 'of' | 'submission'>;
  executor: Pick<Executor, 'type' | 'orphanedAttemptOf'>;
  annotations: Pick<Annotations, 'change'>;
  slots: Slots;
  /** Called before files of a run are deleted, so that cached facts are dropped. */
  discarded: (id: RunId) => void;
};

/** Carries out a command and answers it. Rejects with a UserError for what cannot be done. */
type CommandHandler<Verb extends Command['verb'], Ports = RequestPorts> = (
  command: Extract<Command, { verb: Verb }>,
  ports: Ports,
) => Promise<Ack>;

/** Carries out a command of a client and answers it. Rejects with a UserError for what cannot be done. */
export async function carryOut(command: Command, ports: RequestPorts): Promise<Ack> {
  // The table maps each verb to a handler of its command.
  const handle = handlers[command.verb] as CommandHandler<Command['verb']>;
  return handle(command, ports);
}

type ActPorts = Pick<RequestPorts, 'loop' | 'plannedRuns' | 'executor'>;

/** Number of runs in one event: some 10 ms of work. */
const SLICE = 2000;

/** Applies a run verb to those runs for which it makes sense; the answer says why not to the others. */
async function actOnRuns(command: Exclude<RunCommand, { verb: 'type' }>, ports: ActPorts): Promise<Ack> {
  const { loop } = ports;
  const selection = select(command, ports);
  for (const ids of slices(inOrder(loop.state, selection.ids))) await loop.ask(eventOf(command, ids, loop.now()));
  return answer(selection, doneWords(command));
}

/** Types a line into runs, in order, and answers once it can be read there. */
async function typeIntoRuns(command: Extract<RunCommand, { verb: 'type' }>, ports: ActPorts): Promise<Ack> {
  const { ids, refused } = select(command, ports);
  const selection: Selection = { ids: [], refused };
  for (const id of ids) {
    const why = await ports.executor.type(id, command.text);
    if (why === null) selection.ids.push(id);
    else refused.push({ id, refusal: { why } });
  }
  return answer(selection, doneWords(command));
}

/** The handlers of run verbs, which are all the same but for `type`. */
const runRequests = {
  ...(Object.fromEntries(runVerbNames.map((verb) => [verb, actOnRuns])) as Readonly<
    Record<EventOrder['verb'], typeof actOnRuns>
  >),
  type: typeIntoRuns,
};

/** The runs of a command to which it applies. `refused`: the others. */
type Selection = { ids: RunId[]; refused: { id: RunId; refusal: Refusal }[] };

function select(command: RunCommand, { loop: { state }, plannedRuns }: ActPorts): Selection {
  const selection: Selection = { ids: [], refused: [] };
  for (const id of new Set(command.ids)) {
    const run = state.runs.get(id);
    const refusal =
      run === undefined ? unknown : refusalOf(command, verbTarget(run, plannedRuns.of(id), startsAt(state, run)));
    if (refusal === null) selection.ids.push(id);
    else selection.refused.push({ id, refusal });
  }
  return selection;
}

const unknown: Refusal = { why: 'is not known here' };

/** The answer to a command. `done`: what was done. A refusal if there is no run to act on. */
function answer({ ids, refused }: Selection, done: string): Ack {
  const [first] = refused;
  const why = first === undefined ? null : `${first.id} ${refusalWords(first.refusal)}`;
  if (ids.length === 0) {
    return { ok: false, message: why ?? 'there are no such runs', fix: first?.refusal.fix ?? null };
  }
  const rest = why === null ? '' : `; ${refused.length} not: ${why}`;
  return { ok: true, message: `${counted(ids.length, 'run')} ${done}${rest}` };
}

/** Waiting runs come first, so that one that is to be stopped or held does not start in the place of one that was. */
function inOrder({ active }: SchedulerState, ids: readonly RunId[]): RunId[] {
  return [...ids.filter((id) => !active.has(id)), ...ids.filter((id) => active.has(id))];
}

/** Portions of many runs, which are handled in turns. */
function* slices(ids: readonly RunId[]): Generator<RunId[]> {
  for (let from = 0; from < ids.length; from += SLICE) yield ids.slice(from, from + SLICE);
}

/**
 * Stops a sweep. Its groups are closed first: a run that is being proposed is then either among those that are stopped, or dropped.
 */
const stopSweep: CommandHandler<'stop-sweep'> = async ({ sweep }, ports) => {
  const { loop } = ports;
  const { state } = loop;
  const groups = openGroups(state, sweep);
  if (groups.length > 0) await loop.ask({ type: 'groups-closed', at: loop.now(), groups, reason: 'stopped' });
  const ids = unfinished(state, sweep);
  if (ids.length === 0 && groups.length > 0) return { ok: true, message: 'it gets no further runs' };
  return actOnRuns({ verb: 'kill', ids }, ports);
};

/** The groups of a sweep that may get further runs. */
function openGroups({ sweeps, runs, groups }: SchedulerState, sweep: string): GroupId[] {
  const ids = new Set([...(sweeps.get(sweep) ?? [])].map((id) => runs.get(id)!.group));
  return [...ids].filter((id) => isOpen(groups.get(id)!));
}

const forgetSweep: CommandHandler<'forget-sweep'> = async ({ sweep }, { loop }) => {
  const refusal = forgetRefusal(loop.state, sweep);
  if (refusal !== null) return { ok: false, message: refusal, fix: 'Stop them first.' };
  await loop.ask({ type: 'sweep-forgotten', at: loop.now(), sweep });
  return { ok: true, message: `${sweep} is forgotten; its files stay` };
};

/** The handlers of commands for whole sweeps. */
const sweepRequests = { 'stop-sweep': stopSweep, 'forget-sweep': forgetSweep };

/** The ids of all runs of a sweep that have not ended. */
function unfinished(state: SchedulerState, sweep: string): RunId[] {
  return [...(state.sweeps.get(sweep) ?? [])].filter((id) => state.runs.get(id)?.state.phase !== 'ended');
}

/** Why a sweep cannot be forgotten; null: it can. */
function forgetRefusal(state: SchedulerState, sweep: string): string | null {
  const ids = state.sweeps.get(sweep);
  if (ids === undefined) return `no sweep ${sweep} is known here`;
  const active = [...ids].filter((id) => isActive(state.runs.get(id)!.state)).length;
  return active === 0 ? null : `${active} of its runs are still running`;
}

type AnnotatePorts = Pick<RequestPorts, 'plannedRuns' | 'annotations'> & {
  loop: Pick<RequestPorts['loop'], 'changed'>;
};

/** Stores a user's annotations of runs, a few at a time; the answer lists the failures. */
export const annotate: CommandHandler<'annotate', AnnotatePorts> = async (
  { ids, change },
  { plannedRuns, annotations, loop },
) => {
  const refused: { id: RunId; why: string }[] = [];
  const done: RunId[] = [];
  for (const id of new Set(ids)) {
    if (isTurnOver()) await nextTurn();
    const run = plannedRuns.of(id);
    try {
      if (run === null) refused.push({ id, why: 'is not known here' });
      else if (annotations.change(run, change)) done.push(id);
    } catch (error) {
      refused.push({ id, why: `cannot be written to: ${reasonOf(error)}` });
    }
  }
  loop.changed(done);
  return annotated(done.length, new Set(ids).size - refused.length - done.length, refused);
};

function reasonOf(error: unknown): string {
  const obstacle = obstacleOf(error);
  return obstacle.kind === 'unreadable' ? obstacle.reason : 'its directory is gone';
}

function annotated(done: number, same: number, refused: readonly { id: RunId; why: string }[]) {
  const [first] = refused;
  const why = first === undefined ? null : `${first.id} ${first.why}`;
  if (done + same === 0) return { ok: false as const, message: why ?? 'there are no such runs', fix: null };
  const parts = [
    done === 0 ? 'nothing to change' : `${counted(done, 'run')} changed`,
    ...(done > 0 && same > 0 ? [`${same} as before`] : []),
    ...(why === null ? [] : [`${refused.length} not: ${why}`]),
  ];
  return { ok: true as const, message: parts.join('; ') };
}

type DiscardPorts = Pick<RequestPorts, 'loop' | 'plannedRuns' | 'executor' | 'discarded'>;

/**
 * Sets parts of an ended run's directory aside, which a client wants to delete. As the supervisor also starts runs, no run can
 * start meanwhile. The client then deletes them, which may take long.
 */
export const discard: CommandHandler<'discard', DiscardPorts> = async ({ id, mark, what }, ports) => {
  const run = ports.plannedRuns.of(id);
  if (run === null) return refusal(`${id} is not known here`);
  const obstacle = directoryObstacle(run.directory);
  if (obstacle !== null) return refusal(`${id}: ${obstacle}`);
  const orphan = await ports.executor.orphanedAttemptOf(run.directory, ports.loop.state.runs.get(id)!.attempt + 1);
  if (orphan !== null) return refusal(`${id}: attempt ${orphan} may still be running`);
  try {
    if (Array.isArray(what)) return await discardParts(run, mark, what, ports);
    return discardRun(run, { mark, isDone: what === 'done' }, ports);
  } catch (error) {
    const found = obstacleOf(error);
    return refusal(`${id}: ${found.kind === 'unreadable' ? found.reason : 'it is gone already'}`);
  }
};

type Whole = { readonly mark: string; readonly isDone: boolean };

/**
 * Sets the whole directory of a run aside. A done run is only accepted if the command means done runs, as others may need it and
 * its results would be lost: it may have ended since the user looked.
 */
function discardRun({ id, directory }: PlannedRun, { mark, isDone }: Whole, { loop, discarded }: DiscardPorts): Ack {
  const run = loop.state.runs.get(id);
  if (run?.state.phase !== 'ended') return refusal(notEnded(id));
  if ((run.state.outcome.kind === 'done') !== isDone) return refusal(`${id} is ${isDone ? 'not ' : ''}done`);
  discarded(id);
  return setRunAside(directory, mark) ? { ok: true, message: `${id} set aside` } : refusal(`${id} has no directory`);
}

async function discardParts(
  run: PlannedRun,
  mark: string,
  items: readonly Discard[],
  { loop: { state } }: DiscardPorts,
): Promise<Ack> {
  const kept = keptPaths(run.directory, doneFileOf(run));
  let count = 0;
  for (const [place, item] of items.entries()) {
    if (isTurnOver()) await nextTurn();
    // The run may have been started meanwhile.
    if (state.runs.get(run.id)?.state.phase !== 'ended')
      return count === 0 ? refusal(notEnded(run.id)) : setAsideWords(count);
    if (kept.some((path) => overlaps(path, item.path))) continue;
    if (setAside(run.directory, item, mark, place)) count += 1;
  }
  return setAsideWords(count);
}

function setAsideWords(count: number): Ack {
  return { ok: true, message: `${counted(count, 'item')} set aside` };
}

function notEnded(id: RunId): string {
  return `${id} has not ended`;
}

function refusal(message: string): Ack {
  return { ok: false, message, fix: null };
}

type SnapshotPorts = Pick<RequestPorts, 'loop' | 'plannedRuns'>;

/** Sets a code snapshot aside from which no run can be started any more; the client deletes it. */
export const discardSnapshot: CommandHandler<'discard-snapshot', SnapshotPorts> = ({ sweep, name, mark }, ports) =>
  Promise.resolve(snapshotDiscarded(sweep, name, mark, ports));

function snapshotDiscarded(sweep: string, name: string, mark: string, ports: SnapshotPorts): Ack {
  const [first] = ports.loop.state.sweeps.get(sweep) ?? [];
  const directory = first === undefined ? undefined : ports.plannedRuns.of(first)?.directory;
  if (directory === undefined) return refusal(`there is no sweep ${sweep}`);
  const path = join(dirname(directory), sweepFiles.code, name);
  if (isLink(dirname(path))) return refusal(`${dirname(path)} is a symbolic link`);
  const user = userOf(sweep, path, ports);
  if (user !== null) return refusal(`${sweep}: ${name} is the code of ${user}`);
  try {
    return setRunAside(path, mark) ? { ok: true, message: `${name} set aside` } : refusal(`there is no ${name}`);
  } catch (error) {
    const obstacle = obstacleOf(error);
    return refusal(`${name}: ${obstacle.kind === 'unreadable' ? obstacle.reason : 'it is gone already'}`);
  }
}

/** A run that may still be started from it; null: none. An extended run starts from the code of its submission. */
function userOf(sweep: string, path: string, ports: SnapshotPorts): string | null {
  const { state } = ports.loop;
  for (const id of state.sweeps.get(sweep) ?? []) {
    if (!isDoneRun(state.runs.get(id)!) && ports.plannedRuns.of(id)?.snapshot?.path === path) return id;
  }
  const groups = [...state.groups.values()].filter(({ id }) => id.startsWith(`${sweep}/`));
  const grower = groups.find((group) => isOpen(group) && growsFrom(group, path, ports));
  return grower === undefined ? null : `the further runs of ${grower.id}`;
}

function isDoneRun({ state }: Run): boolean {
  return state.phase === 'ended' && state.outcome.kind === 'done';
}

function growsFrom({ open }: Group, path: string, { plannedRuns }: SnapshotPorts): boolean {
  const snapshots = open === null ? [] : plannedRuns.submission(open.plan).plan.source?.snapshots;
  return snapshots?.some((snapshot) => snapshot.path === path) ?? false;
}

/** The handlers of all commands; the type makes the table complete. */
const handlers: { readonly [Verb in Command['verb']]: CommandHandler<Verb> } = {
  ...runRequests,
  ...sweepRequests,
  drain: ({ gpus, drained }, { slots }) => slots.drain(gpus, drained),
  'set-slots': (command, { slots }) => slots.set(command.slots),
  annotate,
  discard,
  'discard-snapshot': discardSnapshot,
};
