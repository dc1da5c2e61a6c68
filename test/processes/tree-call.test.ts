import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { identityOf } from '../../src/processes/process-identity.js';
import { treeCall } from '../../src/processes/tree-call.js';
import { waitFor } from '../supervisor/testbed.js';
import { removeFolder } from '../remove-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'call-'));
afterAll(() => removeFolder(folder));

const call = (command: string[], patienceMs = 20_000) =>
  treeCall({
    ...{ command, cwd: folder, patienceMs, mark: join(folder, '.none') },
    environment: { PATH: process.env['PATH']!, HERE: 'yes' },
  });
const shell = (text: string) => ['sh', '-c', text];
const pidIn = (file: string) => Number(readFileSync(join(folder, file), 'utf8'));
const isGone = (pid: number) => waitFor(`process ${pid} to be gone`, () => identityOf(pid) === null);

describe('a program that is called with a limit', () => {
  it.each([
    {
      what: 'its code',
      command: shell('test "$PWD $HERE" = "$0 yes" && exit 3'),
      end: { code: 3, signal: null, said: '' },
    },
    { what: 'its signal', command: shell('kill -TERM $$'), end: { code: null, signal: 'SIGTERM', said: '' } },
    { what: 'what it said last', command: shell('echo a; echo b >&2; exit 1'), end: { code: 1, said: 'b' } },
    { what: 'the end of much that it said', command: shell('seq 200000; exit 1'), end: { code: 1, said: '200000' } },
  ])('gives $what', async ({ command, end }) => {
    expect(await call([...command, folder])).toMatchObject({ kind: 'exit', ...end });
  });

  it('is not there, and says so', async () => {
    expect(await call(['no-such-program'])).toMatchObject({
      kind: 'unstartable',
      why: expect.stringContaining('ENOENT') as string,
    });
    expect(await call(['a\0b'])).toMatchObject({ kind: 'unstartable' });
  });

  it('is killed when its time is up, with what has left its group', async () => {
    const text =
      'setsid sh -c "echo \\$\\$ > far; sleep 600" & echo $$ > near; until test -s far; do sleep 0.01; done; sleep 600';
    expect(await call(shell(text), 1500)).toEqual({ kind: 'late' });
    for (const file of ['near', 'far']) await isGone(pidIn(file));
  });

  it('leaves nothing behind in its group when it ends by itself', async () => {
    const end = await call(shell('sleep 600 & echo $! > left; exit 0'));
    expect(end).toMatchObject({ kind: 'exit', code: 0 });
    await isGone(pidIn('left'));
  });
});
