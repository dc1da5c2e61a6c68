import { join } from 'node:path';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { McpServer, ResourceTemplate, type ServerContext, type Variables } from '@modelcontextprotocol/server';
import packageJson from '../../../package.json' with { type: 'json' };
import { UserError } from '../../base/user-error.js';
import { keptSweepText, sweepsOnDisk } from '../../files/sweep-folder.js';
import { reportError } from '../answers/report-error.js';
import { type Answer, type Caller, commandsIn, errorAnswer, Refused, type RunCommand, textOf } from '../mcp/command.js';
import { docText, docTitles } from '../mcp/doc-pages.js';
import { fittedText } from '../mcp/fitted.js';
import { toolsOf } from '../mcp/tools.js';
import type { Given, Tool } from '../mcp/verb-tool.js';
import { type CommonOptions, runsDirectory } from '../options.js';
import { own, ownPrograms } from '../ports.js';
import { sweepDirectory } from '../sweep-directory.js';
import { hasPerson, leave, remark } from '../terminal.js';
import { queryHelp, type WholeProgram } from '../verb.js';
import { allowedActs } from './acting-verbs.js';

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

/** What a server serves. `allowed`: names of the tools that may act. */
type Service = Places & { readonly tools: readonly Tool[]; readonly allowed: ReadonlySet<string> };

/** A server for one client. */
function mcpServer({ tools, allowed, ...places }: Service): McpServer {
  const { run } = places;
  const { name, version } = packageJson;
  const server = new McpServer({ name, version, title: 'memrl-tui' }, { instructions });
  for (const tool of tools) {
    const config = {
      description: tool.about,
      inputSchema: tool.input,
      annotations: {
        readOnlyHint: tool.acts === null,
        destructiveHint: tool.acts?.isFinal ?? false,
        openWorldHint: false,
      },
    };
    server.registerTool(tool.name, config, async (given, context) => {
      const { text, ...more } = await answerOf(tool, given as Given, { allowed, run, caller: callerOf(context) });
      return { content: [{ type: 'text', text }], ...more };
    });
  }
  addResources(server, places);
  return server;
}

const instructions = `memrl-tui runs sweeps of training runs on this machine. A sweep is a YAML file that stands for many runs; a background process owns the runs, which go on when you leave.
Usual order: \`plan\` a sweep file, \`launch\` it, \`wait\`, \`status\` and \`failures\`, \`logs\` of one run, then mend the file or the program and \`launch\` the same file again: done runs stay done, failed ones are started again. \`best\` and \`report\` say what came of it.
Commands in messages (\`memrl-tui ls\`) are tools of the same name here.
${queryHelp.trim()}`;

type Call = { readonly allowed: ReadonlySet<string>; readonly run: RunCommand; readonly caller: Caller };

/** Whatever goes wrong is the answer to this call, and the server goes on. */
async function answerOf(tool: Tool, given: Given, { allowed, run, caller }: Call): Promise<Answer> {
  try {
    if (tool.acts !== null && !allowed.has(tool.name)) throw notAllowed(tool.name);
    return await tool.call(given, run, caller);
  } catch (error) {
    return errorAnswer(error);
  }
}

function notAllowed(name: string): Refused {
  return new Refused({
    code: 'refused',
    message: `This server may only look, and \`${name}\` changes something. Nothing was done.`,
    fix: `Ask the user to start it with \`--allow ${name}\` (several with commas, or \`all\`): \`memrl-tui mcp --allow ${name}\`.`,
  });
}

function callerOf({ mcpReq }: ServerContext): Caller {
  const { signal, _meta } = mcpReq;
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return { signal };
  const onProgress: Caller['onProgress'] = (progress, total, message) => {
    const params = { progressToken, progress, total, message };
    // A client that has left hears nothing more.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  return { signal, onProgress };
}

/** Where resources are found. `directory`: of the runs. `docs`: folder of the documentation. */
type Places = { readonly directory: string; readonly docs: string; readonly run: RunCommand };

/** Lines of a log in its resource. */
const LOG_LINES = 400;

/** Lets a client read logs, reports, sweep files and the documentation. */
function addResources(server: McpServer, { directory, docs, run }: Places): void {
  const printed = async (...words: string[]) => textOf(await run(words));
  const add = (name: string, template: ResourceTemplate, { about, type, read }: Resource) =>
    server.registerResource(name, template, { description: about, mimeType: type }, async (uri, variables) => ({
      contents: [{ uri: uri.href, mimeType: type, text: await readable(() => read(namesIn(variables))) }],
    }));
  const ofSweeps = (what: string) => () => ({
    resources: sweepsOnDisk(directory).map((sweep) => ({
      uri: `memrl://sweeps/${encodeURIComponent(sweep)}/${what}`,
      name: `${what} of ${sweep}`,
    })),
  });
  add('report', new ResourceTemplate('memrl://sweeps/{sweep}/report', { list: ofSweeps('report') }), {
    ...{ about: 'the summary tables of a sweep', type: 'text/plain' },
    read: async ([sweep]) => fittedText(await printed('report', '--', sweep!), 'first', '`best` and `ls` have parts.'),
  });
  add('file', new ResourceTemplate('memrl://sweeps/{sweep}/file', { list: ofSweeps('file') }), {
    ...{ about: 'the sweep file as it was launched last', type: 'application/yaml' },
    read: ([sweep]) => fittedText(sweepText(directory, sweep!), 'first', 'The rest is in the file.'),
  });
  add('log', new ResourceTemplate('memrl://runs/{sweep}/{run}/log', { list: undefined }), {
    ...{ about: 'the end of the output of a run', type: 'text/plain' },
    read: async ([sweep, name]) => {
      const text = await printed('logs', `--lines=${LOG_LINES}`, '--', `${sweep}/${name}`);
      return fittedText(text, 'last', 'The tool `logs` finds lines with `grep`.');
    },
  });
  add('docs', new ResourceTemplate('memrl://docs/{page}', { list: () => ({ resources: docPages(docs) }) }), {
    ...{ about: 'a page of the documentation, or of a long one its sections', type: 'text/markdown' },
    read: ([page]) => docText(docs, page!),
  });
  add('section', new ResourceTemplate('memrl://docs/{page}/{section}', { list: undefined }), {
    ...{ about: 'a section of a page of the documentation', type: 'text/markdown' },
    read: ([page, section]) => docText(docs, page!, section),
  });
}

type Resource = {
  readonly about: string;
  readonly type: string;
  readonly read: (names: readonly string[]) => string | Promise<string>;
};

/** The names in an address, in their order. */
function namesIn(variables: Variables): string[] {
  return Object.values(variables).map((each) => decodeURIComponent([each].flat().join(',')));
}

/** @throws {Error} With the problem and what to do in its message, which the client shows. */
async function readable(read: () => string | Promise<string>): Promise<string> {
  try {
    return await read();
  } catch (error) {
    throw new Error(errorAnswer(error).text, { cause: error });
  }
}

function sweepText(directory: string, sweep: string): string {
  const kept = keptSweepText(sweepDirectory(directory, sweep));
  if (kept !== null) return kept.text;
  throw new Refused({ code: 'refused', message: `The file of ${sweep} was not kept.`, fix: 'Launch it again.' });
}

function docPages(folder: string): { uri: string; name: string }[] {
  return docTitles(folder).map(({ page, title }) => ({ uri: `memrl://docs/${page}`, name: title }));
}
