import { describe, expect, it } from 'vitest';
import { askProgram, shortCall, type ShortCall } from '../../src/processes/short-call.js';

function ask(script: string, more: Partial<ShortCall> = {}) {
  const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', WORD: 'hello' };
  return askProgram({ program: 'sh', args: ['-c', script], environment, patienceMs: 20_000, ...more });
}

describe('asking a program', () => {
  it('gives what it printed, and what it was asked on its stdin', async () => {
    expect(await ask('cat; echo $WORD', { input: 'well ' })).toEqual({ kind: 'answered', stdout: 'well hello\n' });
  });

  it.each([
    { script: 'echo bad; echo worse >&2; exit 3', code: 3, stdout: 'bad\n', reason: 'bad' },
    { script: 'echo worse >&2; exit 3', code: 3, stdout: '', reason: 'worse' },
    { script: 'exit 3', code: 3, stdout: '', reason: 'exit code 3' },
    { script: 'kill -SEGV $$', code: null, stdout: '', reason: 'SIGSEGV' },
  ])('tells how it failed: $reason', async ({ script, ...failure }) => {
    expect(await ask(script)).toEqual({ kind: 'failed', ...failure });
  });

  it('tells that there is no such program, or that it may not be called so', async () => {
    expect(await ask('', { program: 'no-such-program' })).toMatchObject({ kind: 'failed', code: null });
    expect(await ask('', { args: ['\0'] })).toMatchObject({ kind: 'failed', code: null });
  });

  it('does not mind that it ends without reading, nor that a daemon it leaves behind keeps its output open', async () => {
    expect(await ask('exec true', { input: 'x'.repeat(1 << 20) })).toMatchObject({ kind: 'answered' });
    expect(await ask('sleep 3 & echo up')).toEqual({ kind: 'answered', stdout: 'up\n' });
  });

  it('gives up when it takes too long, and may ask again', async () => {
    expect(await ask('trap "" TERM INT; sleep 60', { patienceMs: 100 })).toEqual({ kind: 'hung' });
    expect(await ask('echo up')).toEqual({ kind: 'answered', stdout: 'up\n' });
  });

  it('is ended when it says more than anyone wants to hear, and what it said until then is kept', async () => {
    const answer = await ask('yes', { most: 6 });
    expect(answer).toEqual({ kind: 'failed', code: null, stdout: 'y\ny\ny\n', reason: 'more than 6 bytes' });
  });

  it('is done in the folder it is told to', async () => {
    expect(await ask('pwd', { cwd: '/' })).toEqual({ kind: 'answered', stdout: '/\n' });
    expect(await ask('pwd', { cwd: '/no/such/folder' })).toMatchObject({ kind: 'failed', code: null });
  });

  it('gives what a program had said when it took too long', async () => {
    const call = {
      program: 'sh',
      args: ['-c', 'echo begun; exec sleep 60'],
      environment: process.env,
      patienceMs: 1000,
    };
    const answer = await shortCall(call);
    expect([answer.kind, answer.stdout.toString()]).toEqual(['hung', 'begun\n']);
  });
});
