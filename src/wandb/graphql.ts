import { UserError } from '../base/user-error.js';
import type { SweepBook } from './sweep-book.js';

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
export function answerTo(body: string, book: SweepBook, now: number): object {
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
