import { dirname } from 'node:path';
import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { OwnProcess } from '../../src/cli/ports.js';
import { main } from '../../src/cli/program.js';
import { program } from './program.js';

/** A client of `memrl-tui mcp`. `call`: the text that a tool answers with. */
export type Agent = {
  readonly client: Client;
  readonly call: (name: string, given?: Record<string, unknown>) => Promise<Called>;
  /** What a tool answers, as JSON. */
  readonly ask: <Answer>(name: string, given?: Record<string, unknown>) => Promise<Answer>;
  /** Ends the server's input, and resolves with the exit code. */
  readonly leave: () => Promise<number | null>;
};

export type Called = { readonly text: string; readonly isError: boolean };

/** Runs the server in the process of the test. `raw`: lines that it gets before the client begins. */
export async function agentIn(
  folder: string,
  words: readonly string[] = [],
  raw = '',
): Promise<Agent & { errors: () => string }> {
  const [toServer, fromServer, errors] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const own: Pick<OwnProcess, 'env' | 'cwd' | 'exit' | 'once'> = {
    ...{ env: { ...process.env }, cwd: () => folder, exit: () => undefined, once: () => undefined },
  };
  const streams = { stdin: toServer, stdout: fromServer, stderr: errors };
  const ports = { process: { ...own, ...streams } as unknown as OwnProcess, programs: dirname(program) };
  const ended = main(['mcp', ...words], ports);
  toServer.write(raw);
  const client = new Client({ name: 'test', version: '1' });
  // The same lines of JSON go in both directions.
  await client.connect(new StdioServerTransport(fromServer, toServer));
  const leave = () => {
    toServer.end();
    return ended;
  };
  return { ...talk(client), leave, errors: () => String(errors.read() ?? '') };
}

/** Starts the program as it is shipped. */
export async function agentOfShipped(folder: string, words: readonly string[] = []): Promise<Agent & { pid: number }> {
  const transport = new StdioClientTransport({
    ...{ command: process.execPath, args: [program, 'mcp', ...words], cwd: folder, stderr: 'inherit' },
    env: Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >,
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  const leave = async () => {
    await client.close();
    return null;
  };
  return { ...talk(client), leave, pid: transport.pid! };
}

function talk(client: Client): Pick<Agent, 'client' | 'call' | 'ask'> {
  const call: Agent['call'] = async (name, given = {}) => {
    const { content, isError = false } = await client.callTool({ name, arguments: given });
    return { text: textIn(content), isError };
  };
  return {
    client,
    call,
    ask: async <Answer>(name: string, given?: Record<string, unknown>) =>
      JSON.parse((await call(name, given)).text) as Answer,
  };
}

/** The text of the parts of an answer. */
export function textIn(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content.map(({ text = '' }) => text).join('\n');
}
