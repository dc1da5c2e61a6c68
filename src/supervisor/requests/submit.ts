import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { GpuIndex } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import { checkSweepFolder } from '../../files/private-folder.js';
import type { GpuView } from '../../gpu/gpu.js';
import type { VisibleGpus } from '../../gpu/visible-gpus.js';
import type { Ack } from '../../protocol/message.js';
import type { SubmittedRun } from '../../scheduler/event.js';
import { SharedParts } from '../../spec/plan-text.js';
import type { Plan, PlannedRun } from '../../spec/planned-run.js';
import { enlargeHeap, MANY_RUNS } from '../core/large-heap.js';
import type { Request } from '../publish/socket-server.js';
import type { EventLoop } from '../core/event-loop.js';
import type { Environment, SubmissionStore } from '../runs/submission-store.js';
import type { Slots } from './slots.js';
import { refuseNiceness } from '../../launch/niceness.js';
import { refuseTooManyCores } from '../../launch/slot-choice.js';
import { type GpuRoom, groupNeeds, mostSharing } from './submission.js';

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
