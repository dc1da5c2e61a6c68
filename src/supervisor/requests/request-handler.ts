import type { Ack, Command } from '../../protocol/message.js';
import type { Request } from '../publish/socket-server.js';
import { runRequests, sweepRequests } from './act-on-runs.js';
import { annotate } from './annotate.js';
import { discard } from './discard.js';
import { discardSnapshot } from './discard-snapshot.js';
import type { CommandHandler, RequestPorts } from './request.js';
import type { Submissions } from './submit.js';

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
