import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { UserError } from '../base/user-error.js';
import type { GpuView } from '../executors/gpu/gpu-view.js';
import { checkSweepFolder } from '../files/private-folder.js';
import type { Ack, Command } from '../protocol/command.js';
import type { SchedulerEvent } from '../scheduler/event.js';
import type { SchedulerState } from '../scheduler/state.js';
import { isSettled } from '../scheduler/waiting-reason.js';
import type { Plan } from '../spec/planned-run.js';
import { drainable, drainAck } from './gpu-requests.js';
import type { Judge } from './judgement.js';
import { forgetRefusal, select, selectionAck, unfinished } from './requests.js';
import { doneBy, requestedBy, type RunCommand } from './run-verbs.js';
import type { Environment, RunBook } from './run-book.js';
import { chooseSlots, isSameChoice, type SlotChoice } from './slot-choice.js';
import type { Request } from './socket-server.js';
import { mostSharing } from './sharing.js';
import { groupNeeds, judgeRuns } from './submission.js';

type Submit = Extract<Request, { type: 'submit' }>;

/** What the desk needs to do what it is asked. `ask` resolves once the event is recorded and acted upon. */
export type DeskTools = {
  state: SchedulerState;
  ask: (event: SchedulerEvent) => Promise<void>;
  now: () => number;
  book: RunBook;
  judge: Judge;
  /** The GPUs that are there; looked for in that environment, if one is given, from now on. */
  inventory: (environment: Environment | null) => Promise<GpuView>;
  /** Finds out, in the background, what the code of the runs is. */
  capture: (plan: Plan, environment: Environment, gpus: readonly string[]) => void;
};

/** Where clients' requests are heard, checked, turned into events, and answered. */
export class Desk {
  readonly #tools: DeskTools;
  /** Submissions whose last page has not come. */
  readonly #partial = new WeakMap<object, Submit>();

  constructor(tools: DeskTools) {
    this.#tools = tools;
  }

  /** Null: the answer will come with a later page. Rejects with a UserError for what cannot be done. */
  async answer(request: Request, client: object): Promise<Ack | null> {
    if (request.type === 'command') return this.#obey(request.command);
    const before = this.#partial.get(client);
    const whole = before === undefined ? request : joined(before, request);
    this.#partial.delete(client);
    if (!request.more) return this.#submit(whole);
    this.#partial.set(client, whole);
    return null;
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
    if (selection.ids.length > 0) await ask(requestedBy(command, selection.ids, now()));
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
    const { state, ask, now, book, judge, capture } = this.#tools;
    const [first] = plan.runs;
    if (first !== undefined) checkSweepFolder(dirname(first.directory));
    const { slots, view } = await this.#grant(wish, environment);
    capture(
      plan,
      environment,
      view.gpus.map(({ name }) => name),
    );
    const sharing = mostSharing(slots.gpus, view, environment);
    const runs = await judgeRuns(plan, state, judge, { gpus: slots.gpus.length, perGpu: wish.perGpu, sharing });
    const key = book.add(plan, environment);
    await ask({ type: 'runs-submitted', at: now(), sweep: plan.sweep, plan: key, groups: groupNeeds(plan), runs });
    const count = (wished: string) => runs.filter((run) => run.wish === wished).length;
    const underWay = count('keep') === 0 ? '' : `, ${count('keep')} under way`;
    return { ok: true, message: `${count('run')} runs to do${underWay}, ${count('done')} done already` };
  }

  /** Changes the slots if they are to change; without a wish, what running sweeps use is left as it is. */
  async #grant(wish: Submit['slots'], environment: Environment | null): Promise<{ slots: SlotChoice; view: GpuView }> {
    const { state, ask, now, inventory } = this.#tools;
    const view = await inventory(environment);
    const before = grantedNow(state);
    const slots = chooseSlots(wish, isSettled(state) ? null : before, availableParallelism(), view);
    if (!isSameChoice(slots, before)) await ask({ type: 'slots-changed', at: now(), ...slots });
    return { slots, view };
  }
}

function grantedNow({ cpu, gpu }: SchedulerState): SlotChoice {
  const gpus = gpu.gpus.map((index) => {
    const { uuid, memory } = gpu.devices.get(index)!;
    return { index, uuid, memory };
  });
  return { cpus: cpu.slots, gpus };
}

function joined(before: Submit, page: Submit): Submit {
  if (before.request === page.request) {
    const plan: Plan = { ...before.plan, runs: [...before.plan.runs, ...page.plan.runs] };
    return { ...before, plan };
  }
  throw new UserError('A submission was begun before the last one was complete.', 'Submit one sweep at a time.');
}
