import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { carried, carriers } from '../../../src/executors/attempt/environment-carrier.js';
import { provenEnding } from '../../../src/executors/attempt/ending.js';
import { SHIM } from '../../../src/executors/attempt/start-attempt.js';
import { hasProgram } from '../../has-program.js';
import { runFolder } from '../local/folder.js';

const shells = ['dash', 'bash', 'busybox'].filter((shell) => hasProgram(shell, `the environment through ${shell}`));
const there = Object.entries(carriers).filter(([name, { program }]) => {
  if (!existsSync(program)) console.warn(`SKIPPED, because ${program} is not here: an environment carried by ${name}`);
  return existsSync(program);
});

/** What no shell leaves alone, and what each thinks its own. */
const hostile = {
  'a.b': '1',
  'X-Y': '2',
  'BASH_FUNC_module%%': '() {  eval `/usr/bin/modulecmd bash $*`\n}',
  IFS: ':',
  OPTIND: '7',
  OPTERR: '0',
  PPID: '1',
  PS1: '(venv) $ ',
  PS4: '++ ',
  LINENO: '3',
  RANDOM: 'x',
  HISTCMD: '4',
  POSIXLY_CORRECT: '1',
  BASH_VERSION: '9',
  c: 'person',
  d: 'person',
  s: 'person',
  b: 'person',
  rc: 'person',
  lines: 'one\ntwo\n',
  empty: '',
  PERL5OPT: '-Mnonsense',
  PYTHONSTARTUP: '/nonsense',
};

/** The environment that a command gets through a shim in that shell, and its end. */
function through(shell: string, carrier: readonly string[], environment: Record<string, string>, argv: string[]) {
  const folder = runFolder();
  const attempt = join(folder, 'attempt');
  mkdirSync(attempt);
  mkdirSync(join(folder, 'bin'));
  const path = execFileSync('sh', ['-c', `command -v ${shell}`], { encoding: 'utf8' }).trim();
  symlinkSync(realpathSync(path), join(folder, 'bin', 'sh'));
  const env = { PATH: process.env['PATH']!, PWD: folder, MEMRL_RUN_DIR: folder, ...environment };
  const words = carried(argv, env, shell, () => carrier);
  const args = ['-c', SHIM, 'memrl-shim', attempt, '', 'h/m/n', '', ...words];
  const { stdout, stderr } = spawnSync(join(folder, 'bin', 'sh'), args, { cwd: folder, env, encoding: 'utf8' });
  return { env, words, stdout, stderr, ending: provenEnding(attempt, null) };
}

const asRead = (text: string): Record<string, string> =>
  Object.fromEntries<string>(
    text.split('\0').flatMap((pair) => (pair === '' ? [] : [/^(.*?)=(.*)$/s.exec(pair)!.slice(1) as [string, string]])),
  );
/** What each shell counts or sets for whom it starts. */
const ofShells = { SHLVL: expect.anything() as unknown, _: expect.anything() as unknown };
const withoutShells = (environment: Record<string, string>) => ({ ...environment, SHLVL: '1', _: '1' });
const read = ['cat', '/proc/self/environ'];

describe.each(shells)('an environment through %s', (shell) => {
  it('needs nobody to carry it where the shell leaves it alone', () => {
    const plain = { HOME: '/home/someone', SHLVL: '3', BASH_ENV: '/etc/x', OLDPWD: '/', LC_ALL: 'C', c: '1', rc: '2' };
    const { env, words, stdout } = through(shell, ['nobody'], plain, read);
    expect(words).toEqual(read);
    expect(withoutShells(asRead(stdout))).toEqual({ ...env, ...ofShells });
  });

  it.each(there)('comes to the command unchanged, carried by %s', (_, { words }) => {
    const { env, stdout, stderr } = through(shell, words, hostile, read);
    expect(stderr).toBe('');
    expect(withoutShells(asRead(stdout))).toEqual({ ...env, ...ofShells });
  });

  it('loses nothing that is not said to be lost', () => {
    // Carried by nobody.
    const { env, stdout } = through(shell, [], hostile, read);
    const found = asRead(stdout);
    const lost = Object.entries(env).filter(([name, value]) => found[name] !== value);
    const isCarried = (name: string) => carried(read, { [name]: '' }, shell, () => ['carrier'])[0] === 'carrier';
    expect(lost.map(([name]) => name).filter((name) => !isCarried(name))).toEqual([]);
    expect(lost.length).toBeGreaterThan(2);
  });
});

describe.each(there)('a command behind %s', (_, { words }) => {
  const ending = (argv: string[]) => through('dash', words, { 'a.b': '1' }, argv);

  it.each([
    { argv: ['sh', '-c', 'exit 7'], end: { kind: 'exited', code: 7 } },
    { argv: ['sh', '-c', 'kill -TERM $$'], end: { kind: 'signalled', signal: 'SIGTERM' } },
    { argv: ['sh', '-c', 'kill -KILL $$'], end: { kind: 'signalled', signal: 'SIGKILL' } },
    { argv: ['sh', '-c', 'kill -PIPE $$'], end: { kind: 'signalled', signal: 'SIGPIPE' } },
    { argv: ['no-such-program'], end: { kind: 'exited', code: 127 } },
  ])('ends as $argv does', ({ argv, end }) => {
    expect(ending(argv).ending).toEqual(end);
  });

  it('ignores no signal', () => {
    expect(ending(['grep', 'SigIgn', '/proc/self/status']).stdout).toMatch(/^SigIgn:\s+0+\n$/);
  });
});
