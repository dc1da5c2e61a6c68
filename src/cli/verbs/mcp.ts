import { join } from 'node:path';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { UserError } from '../../base/user-error.js';
import { allowedActs } from './acting-verbs.js';
import { commandsIn, type RunCommand } from '../mcp/command.js';
import { mcpServer } from '../mcp/server.js';
import { toolsOf } from '../mcp/tools.js';
import { type CommonOptions, runsDirectory } from '../options.js';
import { own, ownPrograms } from '../ports.js';
import { reportError } from '../answers/report-error.js';
import { hasPerson, leave, remark } from '../terminal.js';
import type { WholeProgram } from '../verb.js';

type McpOptions = Pick<CommonOptions, 'runs'> & { allow?: string[] };

/** `memrl-tui mcp`: serves agents on standard input and output until the input ends. The runs, and their supervisor, go on. */
export async function mcp({ runs, allow = [] }: McpOptions, { verbs, main }: WholeProgram): Promise<number> {
  const allowed = allowedIn(allow);
  const { stdin, stdout } = own();
  if (hasPerson()) remark('This is for a coding agent, which starts it by itself: docs/agents.md. Ctrl-D ends it.');
  const ended = new Promise((resolve) => stdin.once('end', resolve).once('close', resolve));
  const run = inDirectory(runs, commandsIn({ process: own(), programs: ownPrograms() }, main));
  const said = (error: unknown) => remark(reportError(error).text ?? '');
  // An error that a call throws after its answer must not end the other calls.
  process.on('uncaughtException', said);
  const places = { run, directory: runsDirectory(runs), docs: join(ownPrograms(), '../docs') };
  const server = serveStdio(() => mcpServer({ tools: toolsOf(verbs, places.docs), allowed, ...places }), {
    transport: new StdioServerTransport(stdin, stdout),
    onerror: ({ message }) => remark(message),
  });
  await ended;
  await server.close();
  process.off('uncaughtException', said);
  // Calls that wait for runs would keep the program from ending.
  leave(0);
  return 0;
}

/** @throws {UserError} When there is no such act. */
function allowedIn(words: readonly string[]): ReadonlySet<string> {
  const unknown = words.find((word) => !allowedActs.includes(word));
  if (unknown !== undefined)
    throw new UserError(`--allow ${unknown} is not known.`, `Write some of: ${allowedActs.join(', ')}.`);
  return new Set(words.includes('all') ? allowedActs : words);
}

/** Commands on one runs directory. */
function inDirectory(runs: string | undefined, run: RunCommand): RunCommand {
  if (runs === undefined) return run;
  return ([verb, ...words], caller) => run([verb!, `--runs=${runs}`, ...words], caller);
}
