import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UserError } from '../base/user-error.js';
import type { SweepBook } from './sweep-book.js';

/** Size limit of a question, bytes. */
const LARGEST = 4 << 20;

/** A key of the length that wandb asks for. It opens nothing: whoever is on this machine may ask. */
export const KEY = '0'.repeat(40);

export type SweepServer = { readonly url: string; readonly close: () => void };

/** Answers on a port of the loopback. */
export function openSweepServer(book: SweepBook, now: () => number = () => performance.now()): Promise<SweepServer> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    let length = 0;
    request.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= LARGEST) parts.push(part);
      else request.destroy();
    });
    request.on('end', () => {
      const text = JSON.stringify(answerTo(Buffer.concat(parts).toString(), book, now()));
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const close = () => {
        server.closeAllConnections();
        server.close();
      };
      resolve({ url: `http://127.0.0.1:${port}`, close });
    });
  });
}

type Variables = Readonly<Record<string, unknown>>;
type Answer = (variables: Variables, book: SweepBook, now: number) => object;

const place = { entity: 'local', project: 'local' };

/** What wandb asks a server for, by a word of the question, when a program has a sweep inside; anything else is refused. */
const answers: readonly (readonly [RegExp, Answer])[] = [
  [/\bupsertSweep\b/, upserted],
  [/\bcreateAgent\b/, registered],
  [/\bagentHeartbeat\b/, commanded],
  [/\bviewer\b/i, () => ({ viewer: { id: 'local', ...nobody, username: 'local', email: '' } })],
  [
    /\bserverInfo\b/i,
    () => ({ serverInfo: { cliVersionInfo: { max_cli_version: '99.0' }, latestLocalVersionInfo: null } }),
  ],
  [/\bsweep\s*\(\s*sweepName\b/, described],
];

const nobody = { entity: place.entity, flags: '{}', teams: { edges: [] } };

/** The body of an answer to a question of GraphQL. */
function answerTo(body: string, book: SweepBook, now: number): object {
  try {
    const { query = '', variables } = JSON.parse(body) as { query?: string; variables?: Variables | null };
    const answer = answers.find(([word]) => word.test(query))?.[1];
    if (answer === undefined)
      return refused('memrl-tui answers in place of the server of W&B, and knows sweeps alone.');
    return { data: answer(variables ?? {}, book, now) };
  } catch (error) {
    return refused(error instanceof UserError ? `${error.message} ${error.fix}` : String(error));
  }
}

function refused(message: string): object {
  return { data: null, errors: [{ message }] };
}

function upserted({ id, config, entityName, projectName }: Variables, book: SweepBook): object {
  const sweep = typeof id === 'string' ? known(id, book) : book.begin(textOf(config));
  const entity = { id: place.entity, name: textOf(entityName) || place.entity };
  const project = { id: place.project, name: textOf(projectName) || place.project, entity };
  return { upsertSweep: { sweep: { id: sweep.id, name: sweep.id, project }, configValidationWarnings: [] } };
}

function registered({ sweep }: Variables, book: SweepBook, now: number): object {
  const id = book.register(textOf(sweep), now);
  if (id === null) throw unknown(textOf(sweep));
  return { createAgent: { agent: { id } } };
}

function commanded({ id, runState }: Variables, book: SweepBook, now: number): object {
  const states = JSON.parse(textOf(runState) || '{}') as Record<string, boolean>;
  const commands = book.heartbeat(textOf(id), new Set(Object.keys(states).filter((run) => states[run])), now);
  if (commands === null) throw unknown(textOf(id));
  return { agentHeartbeat: { agent: { id }, commands: JSON.stringify(commands) } };
}

function described({ sweep, sweepName }: Variables, book: SweepBook): object {
  const { id, text } = known(textOf(sweep) || textOf(sweepName), book);
  const runs = { edges: [] };
  return { project: { sweep: { id, name: id, state: 'RUNNING', description: null, config: text, runs } } };
}

function known(id: string, book: SweepBook) {
  const sweep = book.sweep(id);
  if (sweep === undefined) throw unknown(id);
  return sweep;
}

function unknown(id: string): UserError {
  return new UserError(`There is no ${id} here.`, 'Use the id that `wandb.sweep` gave in this program.');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
