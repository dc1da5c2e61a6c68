import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const scripts = ['bench', 'faults', 'slurm-faults', 'pictures', 'screenshot', 'tinker', 'warmups', 'tables'];

it.each(scripts)('%s says what it does, and which argument it does not know, and does nothing', async (name) => {
  const path = `scripts/${name}.js`;
  const { stdout } = await run(process.execPath, [path, '--help']);
  expect(stdout).toMatch(new RegExp(`npm run ${name}\\b`));
  await expect(run(process.execPath, [path, '--nonsense'])).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: `Unknown option '--nonsense'.\n\n${stdout}`,
  });
});

it('numbers are numbers', async () => {
  await expect(run(process.execPath, ['scripts/faults.js', 'many'])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^'many' is no whole number\.\n/) as string,
  });
});
