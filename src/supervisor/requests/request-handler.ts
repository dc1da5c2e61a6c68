import type { Ack, Command } from '../../protocol/message.js';
import type { Request } from '../publish/socket-server.js';
import { runRequests, sweepRequests } from './act-on-runs.js';
import { annotate } from './annotate.js';
import { discard } from './discard.js';
import { discardSnapshot } from './discard-snapshot.js';
import type { CommandHandler, RequestTools } from './request.js';
import { drain, setSlots } from './slots.js';
import { Submissions } from './submit.js';

/** Who does what: complete by its type. */
const handlers: { readonly [Verb in Command['verb']]: CommandHandler<Verb> } = {
  ...runRequests,
  ...sweepRequests,
  drain,
  'set-slots': setSlots,
  annotate,
  discard,
  'discard-snapshot': discardSnapshot,
};

/** Where clients' requests are heard; each is answered by its handler. */
export class RequestHandler {
  readonly #tools: RequestTools;
  readonly #submissions: Submissions;

  constructor(tools: RequestTools) {
    this.#tools = tools;
    this.#submissions = new Submissions(tools);
  }

  /** Null: the answer will come with a later page. Rejects with a UserError for what cannot be done. */
  async answer(request: Request, client: object): Promise<Ack | null> {
    if (request.type !== 'command') return this.#submissions.take(request, client);
    // The table holds for each verb what takes a command of that verb.
    const handle = handlers[request.command.verb] as CommandHandler<Command['verb']>;
    return handle(request.command, this.#tools);
  }
}
