import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readClaim } from '../../../src/executors/attempt/attempt-files.js';
import { provenEnding, unprovenEnding } from '../../../src/executors/attempt/ending.js';
import { NOT_RUN, SHIM } from '../../../src/executors/attempt/start-attempt.js';
import { hasProgram } from '../../has-program.js';
import { runFolder } from './folder.js';

/** What `/bin/sh` is on one machine or another. */
const shells = ['dash', 'bash', 'busybox'].filter((shell) => hasProgram(shell, `the shim in ${shell}`));

/** A folder in which `sh` is that shell: each finds out by its name that it is to be a plain shell. */
function shellAt(folder: string, shell: string): string {
  const path = execFileSync('sh', ['-c', `command -v ${shell}`], { encoding: 'utf8' }).trim();
  mkdirSync(join(folder, 'bin'));
  symlinkSync(realpathSync(path), join(folder, 'bin', 'sh'));
  return join(folder, 'bin', 'sh');
}

/** `before`: words put before the shim. */
type ShimSetting = { readonly before?: readonly string[]; readonly folder?: string; readonly input?: string };

/** Runs a shim in that shell to its end. */
function shimmed(shell: string, argv: readonly string[], setting: ShimSetting = {}) {
  const { before = [], folder = runFolder(), input = '' } = setting;
  const attempt = join(folder, 'attempt');
  mkdirSync(attempt);
  chmodSync(folder, 0o777);
  chmodSync(attempt, 0o777);
  const [program, ...args] = [
    ...before,
    shellAt(folder, shell),
    '-c',
    SHIM,
    'memrl-shim',
    attempt,
    '',
    'h/m/n',
    input,
    ...argv,
  ];
  const { status, stdout, stderr } = spawnSync(program!, args, { cwd: folder, encoding: 'utf8' });
  return { attempt, status, stdout, stderr };
}

const kill = (signal: string) => ['sh', '-c', `kill -${signal} $$`];
const exit = (code: number) => ['sh', '-c', `exit ${code}`];

describe.each(shells)('the shim in %s', (shell) => {
  it.each([
    { how: 'its directory', harm: 'mv "$0/attempt" "$0/mine"; ln -s other "$0/attempt"' },
    {
      how: 'a folder above',
      harm: 'mkdir "$0/deep"; mv "$0/attempt" "$0/mine"; mv "$0/other" "$0/deep/attempt"; ln -s deep/attempt "$0/attempt"',
    },
  ])('writes no code into the attempt of another run, to which $how has become a link', ({ harm }) => {
    const folder = runFolder();
    mkdirSync(join(folder, 'other'));
    const { attempt } = shimmed(shell, ['sh', '-c', `${harm}; echo theirs > "$0/attempt/pid"; exit 3`, folder], {
      folder,
    });
    expect(readdirSync(attempt)).toEqual(['pid']);
    expect(readFileSync(join(attempt, 'pid'), 'utf8')).toBe('theirs\n');
    expect(provenEnding(join(folder, 'mine'), null)).toEqual({ kind: 'exited', code: 3 });
  });

  it.each([
    { what: 'its directory was deleted and made anew', harm: 'rm -r "$0/attempt"; mkdir "$0/attempt"' },
    { what: 'it was emptied', harm: 'rm "$0/attempt/pid"' },
    { what: 'its claim was written by another', harm: 'rm "$0/attempt/pid"; echo x > "$0/attempt/pid"' },
    { what: 'a person has moved it behind a link', harm: 'mv "$0/attempt" "$0/moved"; ln -s moved "$0/attempt"' },
  ])('writes its code where $what', ({ harm }) => {
    const folder = runFolder();
    const { attempt } = shimmed(shell, ['sh', '-c', `${harm}; exit 3`, folder], { folder });
    expect(readFileSync(join(attempt, 'exit'), 'utf8')).toBe('3\n');
  });

  it.each([
    { argv: exit(0), ending: { kind: 'exited', code: 0 } },
    { argv: exit(3), ending: { kind: 'exited', code: 3 } },
    { argv: exit(129), ending: { kind: 'exited', code: 129 } },
    { argv: exit(137), ending: { kind: 'exited', code: 137 } },
    { argv: exit(143), ending: { kind: 'exited', code: 143 } },
    { argv: kill('HUP'), ending: { kind: 'signalled', signal: 'SIGHUP' } },
    { argv: kill('TERM'), ending: { kind: 'signalled', signal: 'SIGTERM' } },
    { argv: kill('KILL'), ending: { kind: 'signalled', signal: 'SIGKILL' } },
    { argv: kill('SEGV'), ending: { kind: 'signalled', signal: 'SIGSEGV' } },
    { argv: kill('INT'), ending: { kind: 'signalled', signal: 'SIGINT' } },
    { argv: kill('PIPE'), ending: { kind: 'signalled', signal: 'SIGPIPE' } },
  ])('tells the end of $argv', ({ argv, ending }) => {
    expect(provenEnding(shimmed(shell, argv).attempt, null)).toEqual(ending);
  });

  it.each([['cd', '/'], ['exit', '3'], ['exec', 'true'], ['.', './x'], [':'], ['eval', 'exit 3'], ['memrl_d=1']])(
    'runs no builtin of its own: %s',
    (...argv) => {
      const { attempt, status, stderr } = shimmed(shell, argv);
      expect([126, 127]).toContain(status);
      expect(provenEnding(attempt, null)).toEqual({ kind: 'exited', code: status });
      expect(stderr).toContain(argv[0]);
    },
  );

  it('gives the command its own descriptors and nothing else', () => {
    const { stdout, stderr } = shimmed(shell, ['sh', '-c', 'echo out; echo err >&2; ls /proc/$$/fd']);
    expect([stdout.split('\n').slice(0, 4), stderr]).toEqual([['out', '0', '1', '2'], 'err\n']);
  });

  it('gives a command that reads typed lines a pipe that never ends', () => {
    const script = 'echo typed > "$0/attempt/stdin"; read -r line; echo "$line"; ls /proc/$$/fd; test -p /dev/stdin';
    const folder = runFolder();
    const { attempt, stdout } = shimmed(shell, ['sh', '-c', script, folder], { folder, input: 'lines' });
    expect(stdout.split('\n').slice(0, 4)).toEqual(['typed', '0', '1', '2']);
    expect(provenEnding(attempt, null)).toEqual({ kind: 'exited', code: 0 });
  });

  it('leaves nothing of its own in the environment', () => {
    expect(shimmed(shell, ['env']).stdout).not.toMatch(/memrl_/);
  });
});

const canLimit = hasProgram('prlimit', 'a shim that cannot fork') && hasProgram('setpriv', 'a shim that cannot fork');

describe.runIf(canLimit && process.getuid?.() === 0)('a machine without processes', () => {
  // bash tries for 15 s, which is the same.
  it.each(shells.filter((shell) => shell !== 'bash'))(
    'is told by the shim in %s from a command that fails',
    (shell) => {
      const before = ['setpriv', '--reuid=61234', '--regid=61234', '--clear-groups', 'prlimit', '--nproc=1:1'];
      const { attempt, status } = shimmed(shell, ['touch', join(runFolder(), 'it-ran')], { before });
      expect(status).toBe(NOT_RUN);
      expect(existsSync(join(attempt, 'exit'))).toBe(false);
      expect(readClaim(attempt).kind).toBe('begun');
      expect(provenEnding(attempt, { pid: 0, code: status, signal: null })).toBeNull();
      // Also for a supervisor that comes later.
      expect(unprovenEnding(attempt, null, false)).toEqual({
        kind: 'not-run',
        shortage: 'the machine is out of processes',
      });
    },
  );
});
