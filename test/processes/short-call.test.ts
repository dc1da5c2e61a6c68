import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { programOptions } from '../../scripts/program-options.js';
import { identityOf } from '../../src/processes/process-identity.js';
import { askProgram, callProgram, shortCall, type ShortCall } from '../../src/processes/short-call.js';
import { removeFolder } from '../remove-folder.js';
import { waitFor } from '../supervisor/testbed.js';

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
    expect(await ask('trap "" TERM INT; sleep 60', { patienceMs: 100 })).toMatchObject({ kind: 'hung' });
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
      // Enough for it to say so on a busy machine.
      patienceMs: 4000,
    };
    const answer = await shortCall(call);
    expect([answer.kind, answer.stdout.toString()]).toEqual(['hung', 'begun\n']);
  });
});

const folder = mkdtempSync(join(tmpdir(), 'call-'));
afterAll(() => removeFolder(folder));

const call = async ([program = '', ...args]: string[], patienceMs = 20_000) => {
  const environment = { PATH: process.env['PATH']!, HERE: 'yes' };
  const end = await callProgram({ program, args, cwd: folder, environment, patienceMs, tree: { leftovers: 'killed' } });
  return 'stdout' in end ? { ...end, said: end.stdout.toString().trimEnd().split('\n').at(-1) } : end;
};
const shell = (text: string) => ['sh', '-c', text];
const pidIn = (file: string) => Number(readFileSync(join(folder, file), 'utf8'));
const isGone = (pid: number) => waitFor(`process ${pid} to be gone`, () => identityOf(pid) === null);

describe('a program that is called with all it starts', () => {
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
    expect(await call(shell(text), 5000)).toMatchObject({ kind: 'late' });
    for (const file of ['near', 'far']) await isGone(pidIn(file));
  });

  it('leaves nothing behind in its group when it ends by itself', async () => {
    const end = await call(shell('sleep 600 & echo $! > left; exit 0'));
    expect(end).toMatchObject({ kind: 'exit', code: 0 });
    await isGone(pidIn('left'));
  });

  it('may leave something behind, which then lives on, and holds nobody up', async () => {
    const words = shell('sleep 600 & echo $! > kept; echo up');
    const [program = '', ...args] = words;
    const environment = { PATH: process.env['PATH']! };
    const kept = { program, args, cwd: folder, environment, patienceMs: 20_000, tree: { leftovers: 'kept' } } as const;
    expect(await callProgram(kept)).toMatchObject({ kind: 'exit', code: 0, stdout: Buffer.from('up\n') });
    expect(identityOf(pidIn('kept'))).not.toBeNull();
    process.kill(pidIn('kept'), 'SIGKILL');
  });

  it('is stopped with all when it is not wanted any more', async () => {
    const stop = new AbortController();
    const environment = { PATH: process.env['PATH']! };
    const [program = '', ...args] = shell('sleep 600 & echo $! > wanted.part; mv wanted.part wanted; wait');
    const unwanted = {
      program,
      args,
      cwd: folder,
      environment,
      patienceMs: 600_000,
      tree: { leftovers: 'kept' },
    } as const;
    const end = callProgram({ ...unwanted, signal: stop.signal });
    await waitFor('it to be up', () => existsSync(join(folder, 'wanted')));
    stop.abort();
    expect(await end).toMatchObject({ kind: 'late' });
    await isGone(pidIn('wanted'));
  });
});

describe('the end of who has called a program', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const)(
    'by %s ends all that the program has started',
    async (signal) => {
      const outfile = join(folder, `caller-${signal}.mjs`);
      const files = ['near', 'far'].map((name) => `${name}-${signal}`);
      const [near, far] = files;
      // One that has left its group and its parents, too.
      const script = `(setsid sh -c 'echo $$ > ${far}; exec sleep 600' &); echo $$ > ${near}; exec sleep 600`;
      const contents = `import { callProgram } from ${JSON.stringify(resolve('src/processes/short-call.ts'))};
      const call = { program: 'sh', args: ['-c', ${JSON.stringify(script)}], cwd: ${JSON.stringify(folder)} };
      await callProgram({ ...call, environment: process.env, patienceMs: 600_000, tree: { leftovers: 'killed' } });`;
      await build({ ...programOptions, stdin: { contents, resolveDir: resolve('.') }, outfile });
      const caller = spawn(process.execPath, [outfile], { stdio: 'ignore' });
      const pids = [];
      for (const file of files) {
        pids.push(await waitFor(`${file} to be up`, () => (existsSync(join(folder, file)) ? pidIn(file) : null)));
      }
      caller.kill(signal);
      for (const pid of pids) await isGone(pid);
    },
  );
});

describe('a machine without descriptors', () => {
  it('refuses a call in words, whatever number of them is left, and the caller lives', async () => {
    const outfile = join(folder, 'descriptors.mjs');
    const contents = `import { closeSync, openSync } from 'node:fs';
      import { shortCall } from ${JSON.stringify(resolve('src/processes/short-call.ts'))};
      const call = { program: 'true', args: [], environment: process.env, patienceMs: 60_000 };
      await shortCall(call);
      const told = [];
      for (let left = 0; left <= 20; left += 1) {
        for (const more of [{}, { tree: { leftovers: 'killed' } }]) {
          const held = [];
          try { for (;;) held.push(openSync('/dev/null')); } catch {}
          for (const descriptor of held.splice(0, left)) closeSync(descriptor);
          const { kind, reason } = await shortCall({ ...call, ...more });
          await new Promise((resolve) => setImmediate(resolve));
          for (const descriptor of held) closeSync(descriptor);
          told.push([left, kind, reason]);
        }
      }
      console.log(JSON.stringify(told));`;
    await build({ ...programOptions, stdin: { contents, resolveDir: resolve('.') }, outfile });
    const answer = await ask(`ulimit -n 256; exec '${process.execPath}' '${outfile}'`);
    expect(answer.kind).toBe('answered');
    const told = JSON.parse(answer.stdout) as [number, string, string | undefined][];
    expect(told).toHaveLength(42);
    for (const [left, kind, reason] of told) {
      if (left < 8) expect([left, kind, reason]).toEqual([left, 'failed', expect.stringContaining('EMFILE')]);
    }
    expect(told.at(-1)![1]).toBe('answered');
  });
});
