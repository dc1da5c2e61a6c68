import { dirname } from 'node:path';
import type { RunId } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import type { ExecutorResources } from '../../executors/executor.js';
import { checkSweepFolder } from '../../files/private-folder.js';
import type { GpuView } from '../../gpu/gpu.js';
import type { Ack, Command } from '../../protocol/message.js';
import type { Chosen, SchedulerEvent, SubmittedRun } from '../../scheduler/event.js';
import { isSettled } from '../../scheduler/placement/waiting-reason.js';
import type { SchedulerState } from '../../scheduler/state.js';
import { SharedParts } from '../../spec/plan-text.js';
import type { Plan, PlannedRun } from '../../spec/planned-run.js';
import { makeHaste, MANY_RUNS } from '../core/haste.js';
import type { Request } from '../publish/socket-server.js';
import type { CompletionOf } from '../runs/exit-classification.js';
import type { Environment, SubmissionStore } from '../runs/submission-store.js';
import { drainable, drainAck } from './gpu-requests.js';
import { doneBy, requestedBy, type RunCommand } from './run-verbs.js';
import { forgetRefusal, select, selectionAck, unfinished } from './selection.js';
import { chooseSlots, isSameChoice, type SlotChoice } from './slot-choice.js';
import { groupNeeds, judgeRuns, type Known, mostSharing } from './submission.js';

type Submit = Extract<Request, { type: 'submit' }>;
/**
 * The runs of a submission so far; what they have in common is there once. `first`: what it began with, where each page says
 * what is submitted.
 */
type Pages = { request: number; first: Submit | null; runs: PlannedRun[]; parts: SharedParts };

/** What the desk needs to do what it is asked. `ask` resolves once the event is recorded and acted upon. */
export type RequestTools = Known & {
  ask: (event: SchedulerEvent) => Promise<void>;
  now: () => number;
  book: SubmissionStore;
  judge: CompletionOf;
  /** What the executor has room for. */
  resources: () => ExecutorResources;
  /** The GPUs that are there; looked for in that environment, if one is given, from now on. */
  inventory: (environment: Environment | null) => Promise<GpuView>;
  /** Finds out, in the background, what the code of the runs is. */
  capture: (plan: Plan, environment: Environment, gpus: readonly string[]) => void;
};

/** Runs in one event: some 10 ms of work. */
const SLICE = 2000;
/** Runs of a submission that are taken in at once: some 10 ms of work. */
const PORTION = 1000;

/** Where clients' requests are heard, checked, turned into events, and answered. */
export class RequestHandler {
  readonly #tools: RequestTools;
  /** Submissions whose last page has not come, as far as they are here. */
  readonly #unfinished = new WeakMap<object, Pages>();

  constructor(tools: RequestTools) {
    this.#tools = tools;
  }

  /** Null: the answer will come with a later page. Rejects with a UserError for what cannot be done. */
  async answer(request: Request, client: object): Promise<Ack | null> {
    if (request.type === 'command') return this.#obey(request.command);
    const pages = this.#pagesBefore(request, client);
    if (request.type === 'page') {
      if (request.of > MANY_RUNS) makeHaste();
      const runs = pages.parts.take(request.page);
      if (runs === undefined) throw incomplete();
      for (const run of runs) pages.runs.push(run);
    } else {
      for (const run of request.plan.runs) pages.runs.push(pages.parts.share(run));
      pages.first ??= request;
      const { first, runs } = pages;
      if (runs.length > MANY_RUNS) makeHaste();
      if (!request.more) return this.#submit({ ...first, plan: { ...first.plan, runs } });
    }
    this.#unfinished.set(client, pages);
    return null;
  }

  /** What of this submission has come so far; whoever goes on with it keeps it. */
  #pagesBefore({ request }: Request, client: object): Pages {
    const pages = this.#unfinished.get(client) ?? { request, first: null, runs: [], parts: new SharedParts() };
    this.#unfinished.delete(client);
    if (pages.request !== request) throw interleaved();
    return pages;
  }

  async #obey(command: Command): Promise<Ack> {
    switch (command.verb) {
      case 'stop-sweep':
        return this.#act({ verb: 'kill', ids: unfinished(this.#tools.state, command.sweep) });
      case 'set-slots': {
        const { slots } = await this.#grant(command.slots, null);
        return { ok: true, message: `${slots.cpus} CPU slots, ${slots.gpus.length} GPUs` };
      }
      case 'drain':
        return this.#drain(command.gpus, command.drained);
      case 'forget-sweep':
        return this.#forget(command.sweep);
      default:
        return this.#act(command);
    }
  }

  async #act(command: RunCommand): Promise<Ack> {
    const { state, ask, now } = this.#tools;
    const selection = select(state, command);
    for (const ids of slices(inOrder(state, selection.ids))) await ask(requestedBy(command, ids, now()));
    return selectionAck(selection, doneBy(command));
  }

  async #drain(wanted: readonly number[], drained: boolean): Promise<Ack> {
    const { state, ask, now } = this.#tools;
    const gpus = drainable(state, wanted, drained);
    if (gpus.length > 0) await ask({ type: 'drain-requested', at: now(), gpus, drained });
    return drainAck(state, gpus, drained);
  }

  async #forget(sweep: string): Promise<Ack> {
    const { state, ask, now } = this.#tools;
    const refusal = forgetRefusal(state, sweep);
    if (refusal !== null) return { ok: false, message: refusal, fix: 'Stop them first.' };
    await ask({ type: 'sweep-forgotten', at: now(), sweep });
    return { ok: true, message: `${sweep} is forgotten; its files stay` };
  }

  async #submit({ plan, environment, slots: wish }: Submit): Promise<Ack> {
    const { ask, now, book, judge, capture, resources } = this.#tools;
    const [first] = plan.runs;
    if (first !== undefined) checkSweepFolder(dirname(first.directory));
    const { slots, view } = await this.#grant(wish, environment);
    capture(
      plan,
      environment,
      view.gpus.map(({ name }) => name),
    );
    const sharing = mostSharing(slots.gpus, view, environment);
    const room = { placed: resources().gpus === 'placed', gpus: slots.gpus.length, perGpu: wish.perGpu, sharing };
    const runs = await judgeRuns(plan, this.#tools, judge, room);
    const key = await book.add(plan, environment);
    const portion = runs.length > PORTION ? { portion: PORTION } : {};
    const submission = { sweep: plan.sweep, plan: key, groups: groupNeeds(plan), runs, ...portion };
    await ask({ type: 'runs-submitted', at: now(), ...submission });
    await this.#takenIn(plan.sweep);
    return { ok: true, message: submitWords(runs) };
  }

  /** Whoever has the answer finds all the runs. Where the disk refuses, they are taken in later: they are safe already. */
  async #takenIn(sweep: string): Promise<void> {
    const { state, ask, now } = this.#tools;
    const isUnderWay = () => state.intakes.some(({ submission }) => submission.sweep === sweep);
    try {
      while (isUnderWay()) await ask({ type: 'time-passed', at: now() });
    } catch {
      // The deadline clock goes on.
    }
  }

  /** Changes the slots if they are to change; without a wish, what a person has chosen and what runs use is left as it is. */
  async #grant(wish: Submit['slots'], environment: Environment | null): Promise<{ slots: SlotChoice; view: GpuView }> {
    const { state, ask, now, inventory, resources } = this.#tools;
    const view = await inventory(environment);
    const most = resources();
    const asked = most.gpus === 'placed' ? wish : { ...wish, gpus: 'none' as const };
    const before = grantedNow(state);
    const was = { cpus: state.cpu.chosen, gpus: state.gpu.chosen };
    const chosen = { cpus: was.cpus || wish.slots !== undefined, gpus: was.gpus || wish.gpus !== undefined };
    const slots = chooseSlots(asked, isSettled(state) ? chosenOf(before, was) : before, most.slots, view);
    const isSame = isSameChoice(slots, before) && chosen.cpus === was.cpus && chosen.gpus === was.gpus;
    if (!isSame) await ask({ type: 'slots-changed', at: now(), ...slots, chosen });
    return { slots, view };
  }
}

function submitWords(runs: readonly SubmittedRun[]): string {
  const count = (...wishes: SubmittedRun['wish'][]) => runs.filter(({ wish }) => wishes.includes(wish)).length;
  const [kept, extended, adopted] = [count('keep', 'extend', 'adopt'), count('extend'), count('adopt')];
  const remarks = [
    ...(extended === 0
      ? []
      : [`${extended} ${extended === 1 ? 'goes' : 'go'} on with ${extended === 1 ? 'its' : 'their'} larger budget`]),
    ...(adopted === 0 ? [] : [`${adopted} taken over, which nobody knew of`]),
  ];
  const underWay = kept === 0 ? '' : `, ${kept} under way${remarks.length === 0 ? '' : ` (${remarks.join('; ')})`}`;
  return `${count('run')} runs to do${underWay}, ${count('done')} done already`;
}

function grantedNow({ cpu, gpu }: SchedulerState): SlotChoice {
  const gpus = gpu.gpus.map((index) => {
    const { uuid, memory } = gpu.devices.get(index)!;
    return { index, uuid, memory };
  });
  return { cpus: cpu.slots, gpus };
}

/** Those that wait first: one that is about to be stopped or held must not start in the place of one that was. */
function inOrder({ active }: SchedulerState, ids: readonly RunId[]): RunId[] {
  return [...ids.filter((id) => !active.has(id)), ...ids.filter((id) => active.has(id))];
}

/** What is asked for many thousand runs is done in turns. */
function* slices(ids: readonly RunId[]): Generator<RunId[]> {
  for (let from = 0; from < ids.length; from += SLICE) yield ids.slice(from, from + SLICE);
}

/** The part that a person has named. What is left out was all there was, and may be more by now. */
function chosenOf({ cpus, gpus }: SlotChoice, chosen: Chosen): Partial<SlotChoice> {
  return { ...(chosen.cpus ? { cpus } : {}), ...(chosen.gpus ? { gpus } : {}) };
}

function incomplete(): UserError {
  return new UserError('A page of the submission is missing.', 'Submit the sweep again.');
}

function interleaved(): UserError {
  return new UserError('A submission was begun before the last one was complete.', 'Submit one sweep at a time.');
}
