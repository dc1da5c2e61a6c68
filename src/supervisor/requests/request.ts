import type { RunId } from '../../base/ids.js';
import type { ExecutorResources } from '../../executors/executor.js';
import type { GpuView } from '../../gpu/gpu.js';
import type { Ack, Command } from '../../protocol/message.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import type { Plan } from '../../spec/planned-run.js';
import type { Annotations } from '../runs/annotations.js';
import type { AskDone } from '../runs/done-commands.js';
import type { CompletionOf } from '../runs/exit-classification.js';
import type { Environment, SubmissionStore } from '../runs/submission-store.js';
import type { Known } from './submission.js';

/** What requests need to be carried out. `ask` resolves once the event is recorded and acted upon. */
export type RequestTools = Omit<Known, 'askDone'> & {
  /** Asks the commands of done rules, in the environment of a launch. */
  askDoneIn: (environment: Environment) => AskDone;
  ask: (event: SchedulerEvent) => Promise<void>;
  now: () => number;
  submissions: SubmissionStore;
  completionOf: CompletionOf;
  annotations: Annotations;
  /** The files of a run are about to go: what is remembered of them is forgotten. */
  discarded: (id: RunId) => void;
  /** There is something new to see of these runs that is no event. */
  changed: (ids: Iterable<RunId>) => void;
  /** The name of the executor. */
  executor: string;
  /** What the executor has room for. */
  resources: () => ExecutorResources;
  /** The GPUs that are there; looked for in that environment, if one is given, from now on. */
  inventory: (environment: Environment | null) => Promise<GpuView>;
  /** Finds out, in the background, what the code of the runs is. */
  capture: (plan: Plan, environment: Environment, gpus: readonly string[]) => void;
};

/** Does what a command says, and answers. Rejects with a UserError for what cannot be done. */
export type CommandHandler<Verb extends Command['verb']> = (
  command: Extract<Command, { verb: Verb }>,
  tools: RequestTools,
) => Promise<Ack>;
