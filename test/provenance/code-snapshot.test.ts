import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserError } from '../../src/base/user-error.js';
import { linkedIn, type MadeSnapshot, makeSnapshot, snapshotTop } from '../../src/provenance/code-snapshot.js';
import { surveyCode } from '../../src/provenance/code-survey.js';

let folder: string;
const environment = { PATH: process.env['PATH']!, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'snapshot-')));
  mkdirSync(path());
  git('init', '-q');
});

afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

function path(...parts: string[]): string {
  return join(folder, 'repo', ...parts);
}

function write(name: string, text: string | Buffer): void {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), text);
}

function git(...words: string[]): string {
  const identity = ['-c', 'user.name=me', '-c', 'user.email=me@example.com', '-c', 'init.defaultBranch=trunk'];
  return gitIn(path(), ...identity, ...words);
}

function gitIn(cwd: string, ...words: string[]): string {
  return execFileSync('git', words, { cwd, env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

const mine = ['-c', 'user.name=me', '-c', 'user.email=me@example.com'];

function writeFile(place: string): void {
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, 'x');
}

function relink(copy: string, name: string, target: string): void {
  rmSync(join(copy, name), { recursive: true });
  symlinkSync(target, join(copy, name));
}

function commit(): string {
  git('add', '-A');
  git('commit', '-q', '-m', 'one', '--allow-empty');
  return git('rev-parse', 'HEAD').trim();
}

const runs = () => path('runs');
const survey = (cwd = path(), own: Record<string, string> = environment) =>
  surveyCode(cwd, { environment: own, runs: runs() });

async function make(cwd = path()): Promise<MadeSnapshot> {
  return makeSnapshot(await survey(cwd), join(runs(), 's'), { environment });
}

describe('a snapshot of the code', () => {
  it('holds the work tree as it is: changed, new, executable and binary files, and no deleted ones', async () => {
    write('changed.py', 'a\n');
    write('deleted.py', 'x\n');
    write('sub/kept.bin', Buffer.from([0, 255, 10, 13]));
    commit();
    write('changed.py', 'b\r\n');
    unlinkSync(path('deleted.py'));
    write('new é.sh', 'echo');
    chmodSync(path('new é.sh'), 0o755);
    const { path: copy } = await make();
    expect(dirname(copy)).toBe(join(runs(), 's', 'code'));
    expect(readFileSync(join(copy, 'changed.py'), 'utf8')).toBe('b\r\n');
    expect(readFileSync(join(copy, 'sub/kept.bin'))).toEqual(Buffer.from([0, 255, 10, 13]));
    expect(existsSync(join(copy, 'deleted.py'))).toBe(false);
    expect(statSync(join(copy, 'new é.sh')).mode & 0o100).toBe(0o100);
    expect(statSync(copy).mode & 0o077).toBe(0);
  });

  it('links what git ignores to where it is, but for caches and the runs', async () => {
    write('.gitignore', 'data/\n*.log\n__pycache__/\nruns/\n');
    write('data/big.bin', 'points');
    write('src/a.py', '1');
    write('src/__pycache__/a.pyc', 'old');
    write('src/train.log', 'said');
    write('runs/other/output.log', 'said');
    commit();
    const { path: copy, linked } = await make();
    expect(linked).toEqual(['data', 'src/train.log']);
    expect(readFileSync(join(copy, 'data/big.bin'), 'utf8')).toBe('points');
    expect(readlinkSync(join(copy, 'data'))).toBe(path('data'));
    expect(existsSync(join(copy, 'src/__pycache__'))).toBe(false);
    expect(existsSync(join(copy, 'runs'))).toBe(false);
    expect(linkedIn(copy, ['data', 'src', 'nothing'])).toEqual(['data']);
  });

  it('links new files whose names are those of secrets, and copies code about secrets, examples and what is committed', async () => {
    write('config/.env.production', 'KEY=1');
    write('a.py', '1');
    commit();
    const secrets = ['.aws/credentials', '.env', 'certs/a.pem', 'credentials.json'];
    for (const name of secrets) write(name, 'sesame');
    write('secrets.py', '1');
    write('.env.example', 'KEY=');
    const { path: copy, linked } = await make();
    expect(linked).toEqual(secrets);
    for (const name of secrets) expect(readlinkSync(join(copy, name))).toBe(path(name));
    for (const name of ['config/.env.production', 'secrets.py', '.env.example'])
      expect(lstatSync(join(copy, name)).isFile()).toBe(true);
    expect(gitIn(copy, 'status', '--porcelain')).not.toContain('aws');
    expect((await make()).path).toBe(copy);
  });

  it('leaves out the runs also where git does not ignore them', async () => {
    write('a.py', '1');
    commit();
    write('runs/s/r/output.log', 'x'.repeat(100));
    const { files, linked, fresh } = await survey();
    expect([files.map((file) => file.path), linked, fresh]).toEqual([['a.py'], [], 0]);
  });

  it('keeps the meaning of links: into the code, out of it, and by their whole path', async () => {
    write('code.py', '1');
    writeFileSync(join(folder, 'outside'), 'o');
    mkdirSync(path('sub'));
    symlinkSync('../code.py', path('sub/near'));
    symlinkSync(path('code.py'), path('sub/whole'));
    symlinkSync('../../outside', path('sub/away'));
    commit();
    const { path: copy } = await make();
    write('code.py', '2');
    expect(['near', 'whole'].map((name) => readFileSync(join(copy, 'sub', name), 'utf8'))).toEqual(['1', '1']);
    expect(readFileSync(join(copy, 'sub/away'), 'utf8')).toBe('o');
  });

  it('tells programs that ask git the commit, the branch, the remote and the changes of the submit', async () => {
    write('.gitignore', 'data/\n');
    write('data/x', 'x');
    write('a.py', '1\n');
    const hash = commit();
    git('remote', 'add', 'origin', 'https://me:secret@example.com/code.git');
    write('a.py', '2\n');
    write('b.py', 'new\n');
    const { path: copy } = await make();
    commit();
    expect(gitIn(copy, 'rev-parse', 'HEAD', '--abbrev-ref', 'HEAD', '--show-toplevel').split('\n')).toEqual([
      ...[hash, 'trunk', copy, ''],
    ]);
    expect(gitIn(copy, 'status', '--porcelain')).toBe(' M a.py\n?? b.py\n');
    expect(gitIn(copy, 'remote', 'get-url', 'origin').trim()).toBe('https://example.com/code.git');
    expect(git('worktree', 'list').trim().split('\n')).toHaveLength(1);
    expect(snapshotTop(copy)).toBe(path());
  });

  it('has no branch when none is checked out', async () => {
    const hash = commit();
    git('checkout', '-q', '--detach');
    write('a.py', '');
    const { path: copy } = await make();
    expect(gitIn(copy, 'rev-parse', 'HEAD', '--abbrev-ref', 'HEAD').trim().split('\n')).toEqual([hash, 'HEAD']);
  });

  it('is shared by launches of the same code, and takes links that have come since', async () => {
    write('.gitignore', 'data/\n');
    write('a.py', '1');
    commit();
    const one = await make();
    write('data/x', 'x');
    const two = await make();
    expect([two.path, one.linked, two.linked]).toEqual([one.path, [], ['data']]);
    write('a.py', '2');
    expect((await make()).path).not.toBe(one.path);
    write('a.py', '1');
    expect((await make()).path).toBe(one.path);
    expect(readdirSync(dirname(one.path)).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('is not used again once something has been written to it', async () => {
    write('a.py', '1\n');
    commit();
    const one = await make();
    appendFileSync(join(one.path, 'a.py'), '2\n');
    const two = await make();
    expect([two.path, readFileSync(join(two.path, 'a.py'), 'utf8')]).toEqual([`${one.path}-2`, '1\n']);
    unlinkSync(join(two.path, 'a.py'));
    expect((await make()).path).toBe(`${one.path}-3`);
  });

  it.each<{ what: string; into: (copy: string) => void }>([
    { what: 'a new module', into: (copy) => writeFileSync(join(copy, 'torch.py'), 'evil') },
    { what: 'one in a folder of the code', into: (copy) => writeFileSync(join(copy, 'lib/b.py'), 'evil') },
    { what: 'one in a new folder', into: (copy) => void writeFile(join(copy, 'new/__init__.py')) },
    { what: 'bytecode without its source', into: (copy) => writeFileSync(join(copy, 'lib/b.pyc'), 'evil') },
    { what: 'a link to code elsewhere', into: (copy) => symlinkSync(folder, join(copy, 'torch')) },
    { what: 'another link in the place of one', into: (copy) => relink(copy, 'data', folder) },
    { what: 'a link in the place of a folder', into: (copy) => relink(copy, 'lib', path('lib')) },
    { what: 'a commit', into: (copy) => gitIn(copy, ...mine, 'commit', '-q', '--allow-empty', '-m', 'two') },
  ])('is not used again once a run has put $what there', async ({ into }) => {
    write('.gitignore', 'data/\n');
    write('data/x', 'x');
    write('lib/a.py', '1');
    commit();
    const one = await make();
    expect((await make()).path).toBe(one.path);
    into(one.path);
    const two = await make();
    expect(two.path).toBe(`${one.path}-2`);
    expect(readdirSync(two.path).sort()).toEqual(['.git', '.gitignore', 'data', 'lib']);
    expect([readdirSync(join(two.path, 'lib')), readlinkSync(join(two.path, 'data'))]).toEqual([
      ['a.py'],
      path('data'),
    ]);
    expect((await make()).path).toBe(two.path);
  });

  it('is used again though programs have kept what they compiled, and asked git', async () => {
    write('.gitignore', 'data/\n');
    write('data/x', 'x');
    write('lib/a.py', '1');
    commit();
    const one = await make();
    writeFile(join(one.path, 'lib/__pycache__/a.cpython-312.pyc'));
    writeFile(join(one.path, '.pytest_cache/v'));
    gitIn(one.path, 'status');
    gitIn(one.path, 'diff', 'HEAD');
    // What git ignored at that launch is gone; the link to it leads nowhere.
    rmSync(path('data'), { recursive: true });
    expect((await make()).path).toBe(one.path);
  });

  it('is not made behind a link in the place of its folder', async () => {
    commit();
    mkdirSync(join(runs(), 's'), { recursive: true });
    symlinkSync(folder, join(runs(), 's', 'code'));
    await expect(make()).rejects.toThrow(/code, where copies of the code are kept, is a symbolic link/);
    expect(readdirSync(folder)).toEqual(['repo']);
  });

  it('is made once by two who launch at the same time', async () => {
    write('a.py', '1');
    commit();
    const [one, two] = await Promise.all([make(), make()]);
    expect(two.path).toBe(one.path);
    expect(readdirSync(dirname(one.path))).toHaveLength(1);
  });

  it('is found from a folder within the repository, also over a link', async () => {
    write('deep/er/train.py', '1');
    commit();
    symlinkSync(path('deep'), join(folder, 'link'));
    expect(await survey(path('deep', 'er'))).toMatchObject({ top: path(), within: 'deep/er' });
    expect(await survey(join(folder, 'link', 'er'))).toMatchObject({ top: path(), within: 'deep/er' });
  });

  it('changes nothing while it is only looked for', async () => {
    write('a.py', '1');
    commit();
    write('a.py', '2');
    write('b.py', '3');
    const files = () =>
      readdirSync(path(), { recursive: true, encoding: 'utf8' }).map((name) => [name, lstatSync(path(name)).mtimeMs]);
    const before = files();
    expect(await survey()).toMatchObject({ changed: 1, fresh: 1, bytes: 2 });
    expect(files()).toEqual(before);
  });
});

describe('what has no snapshot', () => {
  const refused = async (words: RegExp, cwd = path(), own: Record<string, string> = environment) => {
    const error: unknown = await survey(cwd, own).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).message).toMatch(words);
    expect((error as UserError).fix).toMatch(/code: snapshot|submodules/);
  };

  it('is a folder that is in no repository', () => refused(/not in the work tree of a git repository/, folder));

  it('is anything where there is no git', () =>
    refused(/needs git/, path(), { ...environment, PATH: join(folder, 'nothing') }));

  it('is a repository without a commit', () => refused(/has no commit yet/));

  it('is a repository with submodules', async () => {
    const other = join(folder, 'other');
    mkdirSync(other);
    gitIn(other, 'init', '-q');
    gitIn(other, '-c', 'user.name=me', '-c', 'user.email=m@e.x', 'commit', '-q', '--allow-empty', '-m', 'one');
    git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'third/party');
    commit();
    await refused(/third\/party is a submodule/);
  });

  it('is one with another repository in it that git does not ignore', async () => {
    commit();
    mkdirSync(path('nested'));
    gitIn(path('nested'), 'init', '-q');
    await refused(/nested\/ is a git repository of its own/);
    write('.gitignore', 'nested/\n');
    expect((await survey()).linked).toEqual(['nested']);
  });

  it('is one with a large new file, which is named, with the limit', async () => {
    commit();
    write('weights.bin', '');
    truncateSync(path('weights.bin'), 33 * 2 ** 20);
    await refused(/weights\.bin is new and has 33(\.0)? MiB; the limit for new files is 32(\.0)? MiB/);
    git('add', 'weights.bin');
    expect((await survey()).bytes).toBe(33 * 2 ** 20);
  });

  it('is one with too much in it, with the limit', async () => {
    commit();
    for (const name of ['a', 'b']) {
      write(name, '');
      git('add', name);
      truncateSync(path(name), 300 * 2 ** 20);
    }
    await refused(/2 files with 600(\.0)? MiB.*the limit is 50000 files with 512(\.0)? MiB/);
  });

  it('is a working directory that is not copied', async () => {
    write('.gitignore', 'out/\n');
    write('out/x', '');
    commit();
    mkdirSync(path('empty'));
    await refused(/git ignores that folder, or knows no file in it/, path('out'));
    await refused(/git ignores that folder, or knows no file in it/, path('empty'));
  });
});
