import type { RunId } from '../../base/ids.js';
import type { Executor } from '../../executors/executor.js';
import type { GpuView } from '../../gpu/gpu.js';
import type { Ack, Command } from '../../protocol/message.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import type { Plan } from '../../spec/planned-run.js';
import type { Annotations } from '../runs/annotations.js';
import type { AskDone } from '../runs/done-commands.js';
import type { CompletionOf } from '../runs/exit-classification.js';
import type { Environment, SubmissionStore } from '../runs/submission-store.js';
import type { Known } from './submission.js';

/** The parts that request handlers use. `ask` resolves once the event is recorded and processed. */
export type RequestTools = Omit<Known, 'askDone'> & {
  /** Calls the commands of done rules, in the environment of a launch. */
  askDoneIn: (environment: Environment) => AskDone;
  ask: (event: SchedulerEvent) => Promise<void>;
  now: () => number;
  submissions: SubmissionStore;
  completionOf: CompletionOf;
  annotations: Annotations;
  /** Called before files of a run are deleted, so that cached facts are dropped. */
  discarded: (id: RunId) => void;
  /** Announces a visible change of these runs that is no event. */
  changed: (ids: Iterable<RunId>) => void;
  /** What has the runs, and its name. */
  executor: Pick<Executor, 'resources' | 'type'>;
  executorName: string;
  /** The GPUs of the machine; if an environment is given, the driver's tools are looked for there from now on. */
  inventory: (environment: Environment | null) => Promise<GpuView>;
  /** Determines the code of the runs, in the background. */
  capture: (plan: Plan, environment: Environment, gpus: readonly string[]) => void;
};

/** Carries out a command and answers it. Rejects with a UserError for what cannot be done. */
export type CommandHandler<Verb extends Command['verb']> = (
  command: Extract<Command, { verb: Verb }>,
  tools: RequestTools,
) => Promise<Ack>;
