import { availableParallelism } from 'node:os';
import { UserError } from '../base/user-error.js';
import type { GpuReading } from '../executors/gpu/gpu.js';
import type { Ack, Command } from '../protocol/command.js';
import type { SchedulerEvent } from '../scheduler/event.js';
import type { SchedulerState } from '../scheduler/state.js';
import { isSettled } from '../scheduler/waiting-reason.js';
import type { Plan } from '../spec/planned-run.js';
import type { Judge } from './judgement.js';
import type { Records } from './records.js';
import { forgetRefusal, resumable, selectionAck, stoppable, unfinished } from './requests.js';
import type { RunBook } from './run-book.js';
import { chooseSlots, type SlotChoice } from './slot-choice.js';
import type { Request } from './socket-server.js';
import { groupNeeds, judgeRuns } from './submission.js';

type Submit = Extract<Request, { type: 'submit' }>;

/** What the desk needs to do what it is asked. `ask` resolves once the event is recorded and acted upon. */
export type DeskTools = {
  state: SchedulerState;
  ask: (event: SchedulerEvent) => Promise<void>;
  now: () => number;
  book: RunBook;
  records: Records;
  judge: Judge;
  readGpus: (environment: Readonly<Record<string, string>>) => Promise<GpuReading>;
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
    const { state, ask, now } = this.#tools;
    switch (command.verb) {
      case 'kill':
        return this.#stop(stoppable(state, command.ids));
      case 'stop-sweep':
        return this.#stop(stoppable(state, unfinished(state, command.sweep)));
      case 'resume': {
        const selection = resumable(state, command.ids);
        if (selection.ids.length > 0) await ask({ type: 'resume-requested', at: now(), ids: selection.ids });
        return selectionAck(selection, 'queued again');
      }
      case 'set-slots': {
        const slots = await this.#grant(command.slots, {});
        return { ok: true, message: `${slots.cpus} CPU slots, ${slots.gpus.length} GPUs` };
      }
      case 'forget-sweep':
        return this.#forget(command.sweep);
      default:
        return { ok: false, message: `${command.verb} is not built yet`, fix: null };
    }
  }

  async #stop(selection: ReturnType<typeof stoppable>): Promise<Ack> {
    const { ask, now } = this.#tools;
    if (selection.ids.length > 0) await ask({ type: 'stop-requested', at: now(), ids: selection.ids });
    return selectionAck(selection, 'being stopped');
  }

  async #forget(sweep: string): Promise<Ack> {
    const { state, ask, now } = this.#tools;
    const refusal = forgetRefusal(state, sweep);
    if (refusal !== null) return { ok: false, message: refusal, fix: 'Stop them first.' };
    await ask({ type: 'sweep-forgotten', at: now(), sweep });
    return { ok: true, message: `${sweep} is forgotten; its files stay` };
  }

  async #submit({ plan, environment, slots: wish }: Submit): Promise<Ack> {
    const { state, ask, now, book, records, judge } = this.#tools;
    void records.lookUpCode(new Set(plan.runs.map(({ cwd }) => cwd)));
    const slots = await this.#grant(wish, environment);
    const runs = await judgeRuns(plan, state, judge, { slots, wish });
    const key = book.add(plan, environment);
    await ask({ type: 'runs-submitted', at: now(), sweep: plan.sweep, plan: key, groups: groupNeeds(plan), runs });
    const count = (wished: string) => runs.filter((run) => run.wish === wished).length;
    const underWay = count('keep') === 0 ? '' : `, ${count('keep')} under way`;
    return { ok: true, message: `${count('run')} runs to do${underWay}, ${count('done')} done already` };
  }

  /** Changes the slots if they are to change; without a wish, what running sweeps use is left as it is. */
  async #grant(wish: Submit['slots'], environment: Submit['environment']): Promise<SlotChoice> {
    const { state, ask, now } = this.#tools;
    const granted = isSettled(state) ? null : { cpus: state.cpu.slots, gpus: [...state.gpu.gpus] };
    const reading = await this.#tools.readGpus(environment);
    const slots = chooseSlots(wish, granted, availableParallelism(), reading);
    const isSame = slots.cpus === state.cpu.slots && String(slots.gpus) === String(state.gpu.gpus);
    const gpus = slots.gpus.map((index) => ({ index, uuid: null, memory: null }));
    if (!isSame) await ask({ type: 'slots-changed', at: now(), cpus: slots.cpus, gpus });
    return slots;
  }
}

function joined(before: Submit, page: Submit): Submit {
  if (before.request === page.request) {
    const plan: Plan = { ...before.plan, runs: [...before.plan.runs, ...page.plan.runs] };
    return { ...before, plan };
  }
  throw new UserError('A submission was begun before the last one was complete.', 'Submit one sweep at a time.');
}
