import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { redactor } from '../../src/text/redaction.js';
import type { PlannedRun } from '../../src/spec/planned-run.js';
import { CodeReader, type CodeState } from '../../src/provenance/code-state.js';
import { interpreterOf } from '../../src/provenance/packages.js';
import { readRunRecord } from '../../src/files/run-directory/run-record-file.js';
import { Records } from '../../src/supervisor/runs/records.js';
import { hasProgram } from '../has-program.js';
import { plan } from '../supervisor/testbed.js';
import { removeFolder } from '../remove-folder.js';

const hasPython = hasProgram('python3', 'the versions of Python packages');

let folder: string;
const environment = {
  PATH: process.env['PATH']!,
  HOME: '/nonexistent',
  WANDB_API_KEY: 'abcdefgh-12345678',
  GIT_CONFIG_NOSYSTEM: '1',
};
const redact = redactor(environment);

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'code-')));
  mkdirSync(path('runs'));
});

afterEach(() => removeFolder(folder));

function path(...parts: string[]): string {
  return join(folder, ...parts);
}

function write(name: string, text: string | Buffer): void {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), text);
}

function git(...words: string[]): string {
  const identity = ['-c', 'user.name=me', '-c', 'user.email=me@example.com', '-c', 'init.defaultBranch=trunk'];
  return execFileSync('git', [...identity, ...words], { cwd: folder, env: environment, encoding: 'utf8' });
}

function commit(): string {
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '-m', 'one', '--allow-empty');
  return git('rev-parse', 'HEAD').trim();
}

function runs(...sketches: Partial<PlannedRun>[]): PlannedRun[] {
  return plan(
    path('runs'),
    's',
    sketches.map((sketch) => ({ cwd: folder, ...sketch })),
  ).runs;
}

async function read(sketch: Partial<PlannedRun> = {}): Promise<CodeState> {
  const found = await new CodeReader(runs(sketch), environment, redact).read();
  return [...found.values()][0]!;
}

/** Text of a file that the record refers to. */
function kept(reference: string | null | undefined): string {
  return readFileSync(path('runs', 's', reference!), 'utf8');
}

describe('the repository of a run', () => {
  it('is named by its commit, branch and remote, and has no diff while it is clean', async () => {
    write('train.py', 'print(1)\n');
    const hash = commit();
    git('remote', 'add', 'origin', 'https://me:hunter2secret@example.com/me/code.git');
    expect((await read()).git).toEqual({
      ...{ commit: hash, branch: 'trunk', dirty: false, diff: null },
      remote: 'https://example.com/me/code.git',
    });
  });

  it('is nothing outside one, and where there is no commit yet', async () => {
    expect((await read()).git).toBeNull();
    git('init', '-q');
    expect((await read()).git).toBeNull();
  });

  it('has no branch when none is checked out', async () => {
    commit();
    git('checkout', '-q', '--detach');
    expect((await read()).git).toMatchObject({ branch: null, remote: null });
  });

  it('is found from a folder within it', async () => {
    write('deep/er/train.py', 'print(1)\n');
    const hash = commit();
    write('deep/er/train.py', 'print(2)\n');
    const state = await read({ cwd: path('deep', 'er') });
    expect(state.git).toMatchObject({ commit: hash, dirty: true });
    expect(kept(state.git!.diff)).toContain('deep/er/train.py');
  });
});

describe('the diff', () => {
  it('gives back the working tree from the commit: changed, new, deleted, empty, binary and executable files', async () => {
    write('changed.py', 'a\nb\nc\n');
    write('deleted.py', 'x\n');
    write('blob.bin', Buffer.from([0, 1, 2, 255]));
    write('latin.txt', Buffer.from('caf\xe9\n', 'latin1'));
    const hash = commit();
    write('changed.py', 'a\nB\nc');
    rmSync(path('deleted.py'));
    write('blob.bin', Buffer.from([0, 9, 9, 9, 254]));
    write('latin.txt', Buffer.from('caf\xe9s\n', 'latin1'));
    write('new file.py', 'print("é")\n');
    write('sub/no-newline.sh', 'echo');
    chmodSync(path('sub/no-newline.sh'), 0o755);
    write('empty.py', '');
    const { git: record } = await read();

    const copy = path('copy');
    git('clone', '-q', folder, copy);
    execFileSync('git', ['checkout', '-q', hash], { cwd: copy, env: environment });
    execFileSync('git', ['apply', path('runs', 's', record!.diff!)], { cwd: copy, env: environment });
    for (const name of ['changed.py', 'blob.bin', 'latin.txt', 'new file.py', 'sub/no-newline.sh', 'empty.py']) {
      expect(readFileSync(join(copy, name)), name).toEqual(readFileSync(path(name)));
    }
    expect(existsSync(join(copy, 'deleted.py'))).toBe(false);
    expect(statSync(join(copy, 'sub/no-newline.sh')).mode & 0o100).toBe(0o100);
  });

  it('names new files that are large, binary, links or named like secrets, and leaves out the runs', async () => {
    commit();
    write('data.csv', 'x'.repeat(300_000));
    write('weights.bin', Buffer.from([1, 0]));
    write('.env', 'KEY=hidden-value\n');
    symlinkSync('/etc/passwd', path('link'));
    write('runs/s/old/metrics.jsonl', '{}\n');
    write('small.py', 'x\n');
    const text = kept((await read()).git!.diff);
    expect(text).toContain('# New files that are in it: small.py\n');
    expect(text).toContain('# New files that are not in it: .env, data.csv, link, weights.bin\n');
    expect(text).not.toContain('hidden-value');
    expect(text).not.toContain('metrics.jsonl');
  });

  it('leaves out what git ignores', async () => {
    write('.gitignore', '*.log\n');
    commit();
    write('a.log', 'x\n');
    expect((await read()).git!.diff).toBeNull();
  });

  it('masks secrets and says so; only the owner may read it', async () => {
    write('config.py', 'key = None\n');
    commit();
    write('config.py', `key = "${environment.WANDB_API_KEY}"\n`);
    const { diff } = (await read()).git!;
    expect(kept(diff)).not.toContain(environment.WANDB_API_KEY);
    expect(kept(diff)).toContain('# Secrets stand as *** in it.');
    expect(statSync(path('runs', 's', diff!)).mode & 0o077).toBe(0);
  });

  it('masks also what the sweep file sets, which is part of the diff when it is new', async () => {
    commit();
    write('sweep.yaml', 'env: {MY_TOKEN: from-the-sweep-file}\n');
    const { diff } = (await read({ env: { MY_TOKEN: 'from-the-sweep-file' } })).git!;
    expect(kept(diff)).toContain('env: {MY_TOKEN: ***}');
  });

  it('ends after a whole file where it would be too long', async () => {
    write('a.txt', 'a\n');
    write('b.txt', 'b\n');
    commit();
    write('a.txt', 'changed\n');
    write('b.txt', `${'0123456789abcde\n'.repeat(200_000)}`);
    const text = kept((await read()).git!.diff);
    expect(text.length).toBeLessThan(1000);
    expect(text).toContain('+changed');
    expect(text).toContain('more than 2 MiB');
  });

  it('is kept once for all runs, and again only when the code has changed', async () => {
    write('a.py', '1\n');
    commit();
    write('a.py', '2\n');
    const all = runs({ group: 'a' }, { group: 'b' }, { group: 'b' });
    const states = await new CodeReader(all, environment, redact).read();
    expect(states.size).toBe(2);
    const diffs = () => readdirSync(path('runs/s/code')).filter((name) => name.endsWith('.diff'));
    await read();
    expect(diffs()).toHaveLength(1);
    write('a.py', '3\n');
    await read();
    expect(diffs()).toHaveLength(2);
  });

  it('does not touch the index, whose lock may be held by someone', async () => {
    write('a.py', '1\n');
    commit();
    write('a.py', '2\n');
    write('.git/index.lock', '');
    expect((await read()).git).toMatchObject({ dirty: true });
  });
});

describe('the interpreter of a command', () => {
  beforeEach(() => {
    write('bin/python3', '');
    write('project/.venv/bin/python', '');
    write('project/deep/x', '');
    write('bin/torchrun', `#!${path('bin/python3')}\nimport torch\n`);
    write('bin/accelerate', "#!/bin/sh\n'''exec' \"/very long/path/bin/python3.12\" \"$0\" \"$@\"\n' '''\n");
    write('bin/memrl', '#!/usr/bin/env node\n');
    write('shims/torchrun', '#!/usr/bin/env bash\nexec "/home/me/.pyenv/libexec/pyenv" exec "$program" "$@"\n');
    write('shims/python', '');
    write('train.py', '#!/usr/bin/env -S python3 -u\n');
    write('binary', Buffer.from([0x7f, 0x45]));
    write('loop', '#!/usr/bin/env loop\n');
    // What a name on the PATH means must be a program that may be executed.
    for (const name of ['bin/torchrun', 'bin/accelerate', 'bin/memrl', 'loop']) chmodSync(path(name), 0o755);
  });

  it.each<{ argv: string[]; cwd?: string; found: string[] | null }>([
    { argv: ['python', 'train.py'], found: ['python'] },
    { argv: ['/opt/py/bin/python3.12', '-m', 'x'], found: ['/opt/py/bin/python3.12'] },
    { argv: ['env', 'A=1', 'nice', '-n', '5', 'python3', 'x.py'], found: ['python3'] },
    { argv: ['timeout', '60s', 'python', 'x.py'], found: ['python'] },
    { argv: ['sh', '-c', 'cd x && A=1 python3 train.py | tee log'], found: ['python3'] },
    { argv: ['bash', '-lc', '.venv/bin/python train.py; true'], found: ['.venv/bin/python'] },
    { argv: ['uv', 'run', 'train.py'], cwd: 'project/deep', found: ['project/.venv/bin/python'] },
    { argv: ['conda', 'run', '-n', 'rl', 'python', 'x.py'], found: ['conda', 'run', '-n', 'rl', 'python'] },
    { argv: ['./train.py', '--lr', '1'], found: ['python3'] },
    { argv: ['torchrun', '--nproc', '2'], found: ['bin/python3'] },
    { argv: ['accelerate', 'launch'], found: ['/very long/path/bin/python3.12'] },
    { argv: ['shims/torchrun'], found: ['shims/python'] },
    { argv: ['memrl', 'train'], found: ['node'] },
    { argv: ['npx', 'tsx', 'x.ts'], found: ['node'] },
    { argv: ['./binary'], found: null },
    { argv: ['loop'], found: null },
    { argv: ['nowhere', 'x'], found: null },
    { argv: ['env', 'A=1'], found: null },
    { argv: ['sh', 'run.sh'], found: null },
    { argv: ['true'], found: null },
  ])('$argv', ({ argv, cwd = '.', found }) => {
    const command = interpreterOf(argv, { cwd: path(cwd), path: `${path('bin')}:${folder}:/usr/bin` })?.command ?? null;
    expect(command?.map((word) => word.replace(`${folder}/`, '')) ?? null).toEqual(found);
  });
});

describe('pipes in the place of files', () => {
  const pipe = (name: string) => void execFileSync('mkfifo', [path(name)]);

  it('hold nobody up who reads what the code is', async () => {
    commit();
    for (const name of ['requirements.txt', 'package.json', 'uv.lock', 'new.py', '.python-version', 'train'])
      pipe(name);
    expect(interpreterOf(['./train'], { cwd: folder, path: '' })).toBeNull();
    const state = await read({ argv: ['node', 'train.js'] });
    expect(state.git).toMatchObject({ dirty: false, diff: null });
    const found = JSON.parse(kept(state.packages)) as Record<string, unknown>;
    expect(found).toMatchObject({ node: { project: null, packages: {} }, pinned: {} });
  });
});

describe('the packages', () => {
  const read_ = async (sketch: Partial<PlannedRun>) =>
    JSON.parse(kept((await read(sketch)).packages)) as Record<string, unknown>;

  it.skipIf(!hasPython)('of Python are those that its interpreter finds, with where they came from', async () => {
    write('site/demo-1.2.dist-info/METADATA', 'Metadata-Version: 2.1\nName: demo\nVersion: 1.2\n');
    write('site/local-0.1.dist-info/METADATA', 'Metadata-Version: 2.1\nName: local\nVersion: 0.1\n');
    const origin = { url: `https://me:${environment.WANDB_API_KEY}@example.com/x`, vcs_info: { commit_id: 'abc' } };
    write('site/local-0.1.dist-info/direct_url.json', JSON.stringify(origin));
    // A file of that name in the working directory must not be taken for the module.
    write('json.py', 'raise SystemExit(3)\n');
    write('uv.lock', 'pinned\n');
    const found = await read_({ argv: ['python3', 'train.py'], env: { PYTHONPATH: path('site') } });
    expect(found).toMatchObject({
      version: 1,
      python: {
        executable: expect.stringContaining('python') as string,
        version: expect.stringMatching(/^3\.\d+\.\d+/) as string,
        packages: { demo: '1.2', local: '0.1 @ https://me:***@example.com/x#abc' },
      },
      pinned: { [path('uv.lock')]: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
    });
  });

  it.skipIf(!hasPython)('of a virtual environment are its own', async () => {
    const made = spawnSync('python3', ['-m', 'venv', '--without-pip', path('.venv')], { env: environment });
    expect(made.status).toBe(0);
    const found = await read_({ argv: ['.venv/bin/python', 'train.py'] });
    expect(found).toMatchObject({ python: { prefix: path('.venv'), packages: {} } });
  });

  it('of Node are the versions that are installed of what the project asks for', async () => {
    write('package.json', JSON.stringify({ name: 'p', version: '1.0.0', dependencies: { a: '^1', b: '^2' } }));
    write('node_modules/a/package.json', JSON.stringify({ name: 'a', version: '1.5.0' }));
    write('package-lock.json', '{}');
    const found = await read_({ argv: ['node', 'x.js'] });
    const node = { version: process.version, project: 'p@1.0.0', packages: { a: '1.5.0', b: 'not installed' } };
    expect(found).toMatchObject({ node, pinned: { [path('package-lock.json')]: expect.any(String) as string } });
  });

  it('are unknown, with the reason, where the interpreter does not answer', async () => {
    write('python', '#!/bin/sh\necho "no such interpreter" >&2; exit 127\n');
    chmodSync(path('python'), 0o755);
    expect(await read_({ argv: ['./python', 'x.py'] })).toMatchObject({
      unknown: expect.stringMatching(/^\.\/python: /) as string,
    });
  });

  it('are known though the interpreter leaves something behind that holds its output open', async () => {
    write('python', `#!/bin/sh\nsleep 300 & echo $! > ${path('left')}\necho '{"version": "3.99"}'\n`);
    chmodSync(path('python'), 0o755);
    const found = await read_({ argv: ['./python', 'x.py'] });
    process.kill(Number(readFileSync(path('left'), 'utf8')));
    expect(found).toMatchObject({ python: { version: '3.99' } });
  });

  it('are nothing for a program that is neither, in a folder that pins nothing', async () => {
    expect((await read({ argv: ['true'] })).packages).toBeNull();
  });
});

describe('run.json', () => {
  const origin = { redact, environment: 'environments/0123456789abcdef.json' };
  const submitter = { environment, redact, gpus: ['NVIDIA H100'] };
  const start = { number: 1, slot: 'cpu 0', startedAt: 1 };
  let said: string[];

  function records(): Records {
    said = [];
    return new Records(
      (line) => said.push(line),
      () => origin,
    );
  }

  it('tells of code, machine and environment, and of no secret', async () => {
    write('a.py', '1\n');
    const hash = commit();
    write('a.py', '2\n');
    const argv: [string, ...string[]] = ['true', `--key=${environment.WANDB_API_KEY}`];
    const made = plan(path('runs'), 's', [{ cwd: folder, argv, parameters: { key: environment.WANDB_API_KEY, n: 3 } }]);
    const [run] = made.runs as [PlannedRun];
    const keeper = records();
    await keeper.capture(made, submitter);
    keeper.started(run, start);
    const line = `KeyError: ${environment.WANDB_API_KEY}`;
    keeper.ended(run, { number: 1, endedAt: 2, outcome: { kind: 'failed', code: 1, line } });
    keeper.flush();
    const record = readRunRecord(run.directory)!;
    const { diff } = record.git!;
    expect(diff).toMatch(/^code\/[0-9a-f]{16}\.diff$/);
    expect(record).toMatchObject({
      version: 1,
      argv: ['true', '--key=***'],
      parameters: { key: '***', n: 3 },
      git: { commit: hash, branch: 'trunk', dirty: true },
      packages: null,
      environment: 'environments/0123456789abcdef.json',
      machine: { gpus: ['NVIDIA H100'], node: process.version, cores: expect.any(Number) as number },
      attempts: [
        { ...start, endedAt: 2, outcome: { kind: 'failed', code: 1, line: 'KeyError: ***' }, commit: hash, diff },
      ],
    });
    expect(readFileSync(join(run.directory, 'run.json'), 'utf8')).not.toContain(environment.WANDB_API_KEY);
    expect(said).toEqual([]);
  });

  it('is completed when the run was faster than the look at its code', async () => {
    const hash = commit();
    const made = plan(path('runs'), 's', [{ cwd: folder }, { cwd: folder }]);
    const [quick, long] = made.runs as [PlannedRun, PlannedRun];
    const keeper = records();
    const captured = keeper.capture(made, submitter);
    keeper.started(quick, start);
    keeper.ended(quick, { number: 1, endedAt: 2, outcome: { kind: 'done' } });
    keeper.started(long, start);
    keeper.flush();
    expect(readRunRecord(quick.directory)).toMatchObject({ git: null, attempts: [{ outcome: { kind: 'done' } }] });
    await captured;
    expect(readRunRecord(quick.directory)).toMatchObject({
      git: { commit: hash },
      attempts: [{ commit: hash, endedAt: 2 }],
    });
    keeper.ended(long, { number: 1, endedAt: 3, outcome: { kind: 'done' } });
    keeper.flush();
    expect(readRunRecord(long.directory)).toMatchObject({
      git: { commit: hash },
      attempts: [{ commit: hash, endedAt: 3 }],
    });
  });

  it('is as complete when a new supervisor starts what was submitted to an earlier one', async () => {
    const hash = commit();
    const made = plan(path('runs'), 's', [{ cwd: folder }]);
    await records().capture(made, submitter);
    const later = records();
    later.started(made.runs[0]!, start);
    later.flush();
    expect(readRunRecord(made.runs[0]!.directory)).toMatchObject({
      git: { commit: hash },
      machine: { gpus: ['NVIDIA H100'] },
    });
  });

  it('keeps for each attempt the commit that it ran with', async () => {
    const first = commit();
    const made = plan(path('runs'), 's', [{ cwd: folder }]);
    const [run] = made.runs as [PlannedRun];
    const keeper = records();
    await keeper.capture(made, submitter);
    keeper.started(run, start);
    keeper.ended(run, { number: 1, endedAt: 2, outcome: { kind: 'killed' } });
    git('commit', '-q', '--allow-empty', '-m', 'two');
    const second = git('rev-parse', 'HEAD').trim();
    await keeper.capture(made, submitter);
    keeper.started(run, { ...start, number: 2 });
    keeper.flush();
    const { git: now, attempts } = readRunRecord(run.directory)!;
    expect([now?.commit, ...attempts.map((attempt) => attempt.commit)]).toEqual([second, first, second]);
  });

  it('of version 1, written before there was more to tell, is still read', () => {
    write(
      'old/run.json',
      JSON.stringify({
        ...{
          version: 1,
          sweep: 's',
          group: 'g',
          subgroup: null,
          name: 'n',
          identity: 'i',
          parameters: {},
          argv: ['true'],
        },
        ...{ cwd: '/', host: 'h', git: { commit: 'abc', dirty: false } },
        attempts: [{ number: 1, slot: 'cpu 0', startedAt: 1, endedAt: 2, outcome: { kind: 'done' } }],
      }),
    );
    expect(readRunRecord(path('old'))).toMatchObject({
      git: { commit: 'abc', dirty: false },
      attempts: [{ number: 1 }],
    });
  });

  it('is written all the same when the files beside it cannot be', async () => {
    commit();
    const made = plan(path('runs'), 's', [{ cwd: folder, directory: path('elsewhere', 'run0') }]);
    write('a.py', '1\n');
    write('elsewhere/code', 'a file in the way');
    const keeper = records();
    await keeper.capture(made, submitter);
    keeper.started(made.runs[0]!, start);
    keeper.flush();
    expect(said).toEqual([expect.stringContaining('the code of s could not be saved') as string]);
    expect(readRunRecord(made.runs[0]!.directory)).toMatchObject({ argv: ['true'] });
  });
});
