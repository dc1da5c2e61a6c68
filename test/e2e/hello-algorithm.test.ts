import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { removeFolder } from '../remove-folder.js';

const root = mkdtempSync(join(tmpdir(), 'memrl-hello-'));
afterAll(() => removeFolder(root));
const run = promisify(execFile);
const hello = (...words: string[]) => run(process.execPath, ['examples/hello-algorithm.mjs', ...words]);
const rowsOf = (path: string) =>
  readFileSync(`${path}/metrics.jsonl`, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as { reward: number }); // prettier-ignore

it('the first algorithm of a newcomer learns to say hello, and saves a model that memrl opens', async () => {
  const path = join(root, 'hello');
  const { stdout } = await hello(`log_path=${path}`);
  expect(stdout).toContain('say hello: hello\n');
  const rows = rowsOf(path);
  expect(rows).toHaveLength(300);
  expect(rows[0]!.reward).toBeLessThan(0.5);
  expect(rows.at(-1)!.reward).toBeGreaterThan(4.5);
  const { stdout: described } = await run('dist/bin/memrl', ['model', `${path}/model`]);
  expect(described).toMatch(/opens +yes/);
});

it('it is the same run again, stops at hllll without its bonus as its comment says, and knows its settings', async () => {
  const [one, two] = [join(root, 'one'), join(root, 'two')];
  await hello('bonus=0', `log_path=${one}`);
  const { stdout } = await hello('bonus=0', `log_path=${two}`);
  expect(readFileSync(`${one}/metrics.jsonl`)).toEqual(readFileSync(`${two}/metrics.jsonl`));
  expect(stdout).not.toContain('say hello: hello');
  await expect(hello('lr=1')).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('lr=1 is no setting') as string }); // prettier-ignore
});
