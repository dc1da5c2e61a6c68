import type { GroupId, RunId } from '../../base/ids.js';
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
import { isActive, type SchedulerState } from '../../scheduler/state.js';
import { counted } from '../../text/numbers.js';
import { verbTarget } from '../publish/run-view.js';
import type { Request } from '../publish/socket-server.js';
import { annotate } from './annotate.js';
import { discardSnapshot } from './discard-snapshot.js';
import { discard } from './discard.js';
import type { CommandHandler, RequestPorts } from './request.js';
import type { Submissions } from './submit.js';

/** Receives clients' requests and calls their handlers. */
export class RequestHandler {
  readonly #ports: RequestPorts;
  readonly #submissions: Pick<Submissions, 'take'>;

  constructor(ports: RequestPorts, submissions: Pick<Submissions, 'take'>) {
    this.#ports = ports;
    this.#submissions = submissions;
  }

  /** Answers a request. Null: the answer comes with a later page. Rejects with a UserError for what cannot be done. */
  async answer(request: Request, client: object): Promise<Ack | null> {
    if (request.type !== 'command') return this.#submissions.take(request, client);
    // The table maps each verb to a handler of its command.
    const handle = handlers[request.command.verb] as CommandHandler<Command['verb']>;
    return handle(request.command, this.#ports);
  }
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
