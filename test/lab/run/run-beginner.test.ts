import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keepCookbookFiles } from '../../../src/lab/run/run-beginner.js';
import { testWorld } from '../algorithms/run-in-test.js';
import { tempDirectory } from '../temp-directory.js';

const secret = 'tml-abcdefgh12345678';
const environment = { PATH: process.env['PATH']!, HOME: '/nonexistent', TINKER_API_KEY: secret };

/** Where a run is kept, the code it begins with, and what is known of that afterwards. */
function places() {
  const base = realpathSync(tempDirectory());
  const [directory, code] = [join(base, 'run'), join(base, 'code')];
  [directory, code].forEach((path) => mkdirSync(path));
  const argv = ['node', join(code, 'memrl.js'), 'rl', 'base_url=http://me:hidden-password@host', `api_key=${secret}`];
  const world = { ...testWorld(), environment };
  const keep = () => keepCookbookFiles(directory, { argv, cwd: code }, world);
  const read = (name: string) => readFileSync(join(directory, name), 'utf8');
  writeFileSync(join(code, 'memrl.js'), 'one\n');
  return { directory, code, world, keep, read };
}

function git(folder: string, ...words: string[]): string {
  const identity = ['-c', 'user.name=me', '-c', 'user.email=me@example.com', '-c', 'init.defaultBranch=trunk'];
  return execFileSync('git', [...identity, ...words], { cwd: folder, env: environment, encoding: 'utf8' }).trim();
}

describe('code.diff', () => {
  it('has the commit of the code and the diff of the work tree, staged or not, without secrets', async () => {
    const { code, keep, read } = places();
    git(code, 'init', '-q');
    git(code, 'add', '-A');
    git(code, 'commit', '-q', '-m', 'one');
    const head = `### repo: ${code} @ ${git(code, 'rev-parse', 'HEAD')}\nmodules: memrl, working directory\n`;
    await keep();
    expect(read('code.diff')).toBe(`${head}(no local changes)\n`);
    writeFileSync(join(code, 'memrl.js'), `two ${secret}\n`);
    writeFileSync(join(code, 'staged.js'), 'new\n');
    git(code, 'add', 'staged.js');
    await keep();
    const diff = read('code.diff');
    expect(
      diff.startsWith(`${head}-- repo-wide (vs HEAD, staged+unstaged) --\ndiff --git a/memrl.js b/memrl.js\n`),
    ).toBe(true);
    expect(diff).toContain('\n-one\n+two ***\n');
    expect(diff).toContain('+++ b/staged.js');
  });

  it('reports a missing repository, and a repository without a commit', async () => {
    const { code, keep, read } = places();
    await keep();
    const section = (module: string) => `### module: ${module} (not in a git repository)\nmodule_path: ${code}\n`;
    expect(read('code.diff')).toBe(`${section('memrl')}\n${section('working directory')}`);
    git(code, 'init', '-q');
    await keep();
    expect(read('code.diff')).toContain(`### repo: ${code} @ UNKNOWN\n`);
    expect(read('code.diff')).not.toContain('no local changes');
  });

  it('is truncated after 2 MiB', async () => {
    const { code, keep, read } = places();
    git(code, 'init', '-q');
    git(code, 'add', '-A');
    git(code, 'commit', '-q', '-m', 'one');
    writeFileSync(join(code, 'memrl.js'), 'a line\n'.repeat(500_000));
    await keep();
    expect(read('code.diff')).toMatch(/\(cut off after 2 MiB\)\n$/);
    expect(read('code.diff').length).toBeLessThan(2.1 * 2 ** 20);
  });
});

describe('logs.log', () => {
  it('has the output and command lines of all attempts, without secrets', async () => {
    const { keep, read, world } = places();
    for (const attempt of [1, 2]) (await keep()).log(`attempt ${attempt} with ${secret}`);
    const started = 'memrl [INFO] Command line invocation: memrl rl base_url=http://me:***@host api_key=***\n';
    const said = [1, 2].map((attempt) => `${started}memrl [INFO] attempt ${attempt} with ***\n`);
    expect(read('logs.log')).toBe(said.join(''));
    expect(world.lines).toEqual([1, 2].map((attempt) => `attempt ${attempt} with ${secret}`));
  });

  it('is rotated once when it is too long', async () => {
    const { directory, keep, read } = places();
    for (const letter of ['a', 'b']) {
      writeFileSync(join(directory, 'logs.log'), letter.repeat(8 * 2 ** 20 + 1));
      (await keep()).log('after');
      expect(read('logs.log')).toMatch(/^memrl \[INFO\] Command line.*\nmemrl \[INFO\] after\n$/);
      expect(read('logs.log.old').slice(0, 3)).toBe(letter.repeat(3));
      expect(statSync(join(directory, 'logs.log.old')).size).toBe(8 * 2 ** 20 + 1);
    }
  });
});
