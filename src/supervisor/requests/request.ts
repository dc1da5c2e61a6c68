import type { RunId } from '../../base/ids.js';
import type { Executor } from '../../executors/executor.js';
import type { Ack, Command } from '../../protocol/message.js';
import type { EventLoop } from '../core/event-loop.js';
import type { Annotations } from '../runs/annotations.js';
import type { PlannedRuns } from '../runs/planned-runs.js';
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
export type CommandHandler<Verb extends Command['verb'], Ports = RequestPorts> = (
  command: Extract<Command, { verb: Verb }>,
  ports: Ports,
) => Promise<Ack>;
