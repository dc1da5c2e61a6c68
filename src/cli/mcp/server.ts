import { McpServer, type ServerContext } from '@modelcontextprotocol/server';
import packageJson from '../../../package.json' with { type: 'json' };
import { queryHelp } from '../verb.js';
import { type Answer, errorAnswer, Refused } from './answer.js';
import type { Caller, RunCommand } from './command.js';
import { addResources, type Places } from './resources.js';
import type { Given, Tool } from './verb-tool.js';

/** What a server serves. `allowed`: names of the tools that may act. */
type Service = Places & { readonly tools: readonly Tool[]; readonly allowed: ReadonlySet<string> };

/** A server for one client. */
export function mcpServer({ tools, allowed, ...places }: Service): McpServer {
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
