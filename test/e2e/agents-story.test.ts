import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { toolTableMarkdown } from '../../src/cli/verb-pages.js';
import { agentOfShipped } from './mcp-client.js';
import { eventually, isAlive, workplace } from './program.js';

const { folder, write, read, supervisorPid } = workplace();

const page = readFileSync('docs/agents.md', 'utf8');

/** The code block below a file's name, or of a language. */
const blockBelow = (head: RegExp) => new RegExp(`${head.source}\\n\`*\\w*\\n([^]*?)\`\`\``).exec(page)![1]!;

it('an agent tells the story of the page on the program as it is shipped, and what it left behind goes on', async () => {
  write('train.mjs', blockBelow(/`train.mjs`:\n/));
  write('lr.yaml', blockBelow(/`lr.yaml`:\n/));
  const agent = await agentOfShipped(folder(), ['--allow', 'launch']);
  const strays: Error[] = [];
  agent.client.onerror = (error) => strays.push(error);
  let last = '';
  for (const line of blockBelow(/reports:\n/)
    .trim()
    .split('\n')) {
    const [, mark, rest = ''] = /^(.) (.*)$/.exec(line)!;
    if (mark === '✎') {
      const [, before, after] = /: (.*) → (.*)/.exec(rest)!;
      write('lr.yaml', read('lr.yaml').replace(before!, after!));
    } else if (mark === '→') {
      const [, tool, given] = /^(\w+) (.*)$/.exec(rest)!;
      const { text, isError } = await agent.call(tool!, JSON.parse(given!) as Record<string, unknown>);
      expect(isError, text).toBe(false);
      last = text;
    } else {
      for (const part of rest.split(' … ')) {
        expect(last, line).toContain(part);
        last = last.slice(last.indexOf(part) + part.length);
      }
    }
  }
  // Nothing but messages came on its output.
  expect(strays).toEqual([]);
  write('long.yaml', "name: long\ncommand: [sh, -c, 'while [ ! -e go ]; do sleep 0.05; done; echo so']\n");
  await agent.call('launch', { file: 'long.yaml' });
  const supervisor = supervisorPid()!;
  const waiting = agent.call('wait', { query: 'long', timeout: '1h' }).catch(() => null);
  await agent.leave();
  await waiting;
  await eventually(() => !isAlive(agent.pid), 'the server to end with its input');
  expect(isAlive(supervisor)).toBe(true);
  write('go', '');
  await eventually(() => read('runs/long/runs/output.log').includes('so'), 'the run to go on');
});

it('the page has the table of the tools', () => {
  expect(page).toContain(toolTableMarkdown());
});
