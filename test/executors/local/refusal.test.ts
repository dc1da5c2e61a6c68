import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptDirectory } from '../../../src/executors/attempt/attempt-files.js';
import { commandProblem } from '../../../src/executors/attempt/start-attempt.js';
import { hasProgram } from '../../has-program.js';
import { id, log, newExecutor, orderFor, runFolder, untilLogged } from './folder.js';
import { PATIENCE_MS } from '../../patience.js';
import { removeFolder } from '../../remove-folder.js';

let folder: string;
let program: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'start-'));
  chmodSync(folder, 0o755);
  program = join(folder, 'start-program.mjs');
  await build({
    ...{ entryPoints: ['test/executors/local/start-program.ts'], outfile: program, bundle: true },
    ...{ platform: 'node', format: 'esm', target: 'node20' },
  });
});
afterAll(() => removeFolder(folder));

/** What `start-program` printed, started by these words, a shell script that ends in `"$@"`. */
function startedBy(script: string, order: ReturnType<typeof orderFor>, shortage = ''): unknown[] {
  const args = ['-c', script, 'sh', process.execPath, program, JSON.stringify(order), shortage];
  const text = execFileSync('sh', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: PATIENCE_MS,
  });
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as unknown]));
}

/** A file system of its own at `$PLACE`, for the one who starts it only. */
const mounted = (options: string) => `mount -t tmpfs -o ${options} tmpfs "$PLACE" || exit 9;`;

const isRoot = process.getuid?.() === 0;
const asNobody = isRoot ? 'setpriv --reuid=65534 --regid=65534 --clear-groups ' : '';
const owned = (path: string, uid = 65534) => {
  if (isRoot) chownSync(path, uid, uid);
  return path;
};

const done = { kind: 'exited', code: 0 };
const canLimit = hasProgram('prlimit', 'a machine short of files or processes');
const canMount = hasProgram('unshare', 'read-only, full and noexec file systems') && mayMount();

function mayMount(): boolean {
  try {
    execFileSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('SKIPPED, because nothing may be mounted here: read-only, full and noexec file systems');
    return false;
  }
}

describe.runIf(canLimit)('a run that the machine is too short to start', () => {
  it.each([
    { what: 'any file', shortage: 'files', reason: /^cannot write to .*: the supervisor is out of open files$/ },
    { what: 'more than its log', shortage: 'one file', reason: /^the machine is out of processes or open files$/ },
  ])('of files to open $what, is refused for now, and goes when there are', ({ shortage, reason }) => {
    const order = orderFor(runFolder(), ['true']);
    const refused = { kind: 'refused', reason: expect.stringMatching(reason) as string, transient: true };
    expect(startedBy('ulimit -n 64; "$@"', order, shortage)).toEqual([refused, done]);
  });

  it('of processes, is refused for now, and goes when there are', () => {
    const order = orderFor(owned(runFolder()), ['true']);
    const reason = 'the machine is out of processes or open files';
    const script = `ulimit -S -n 256; ${asNobody}"$@"`;
    expect(startedBy(script, order, 'processes')).toEqual([{ kind: 'refused', reason, transient: true }, done]);
    expect(log(order.directory)).toBe('');
  });

  // A thread of Node that ends after the count leaves room for the command.
  it.runIf(isRoot)('of processes for all but its shim, was not started at all', { retry: 3 }, () => {
    // Nobody else's processes count against the limit of this user.
    const uid = 61_236;
    const order = orderFor(owned(runFolder(), uid), ['touch', 'it-ran']);
    const script = `exec setpriv --reuid=${uid} --regid=${uid} --clear-groups "$@"`;
    const shortage = 'the machine is out of processes';
    expect(startedBy(script, order, 'one process')).toEqual([{ kind: 'not-run', shortage }]);
    expect(existsSync(join(order.directory, 'it-ran'))).toBe(false);
  });
});

describe.runIf(canMount)('a run on a file system that does not let it', () => {
  const place = (options: string, after = '') => {
    const script = `PLACE=$MEMRL_PLACE; ${mounted(options)} ${after} "$@"`;
    return `export MEMRL_PLACE; exec unshare -rm sh -c '${script}' "$0" "$@"`;
  };
  const on = (directory: string, options: string, after?: string) =>
    `MEMRL_PLACE=${directory}; ${place(options, after)}`;

  it('write, is refused with the reason', () => {
    const order = { ...orderFor(runFolder(), ['true']), cwd: '/' };
    const refused = { kind: 'refused', reason: `cannot write to ${order.directory}: EROFS`, transient: false };
    expect(startedBy(on(order.directory, 'ro'), order)).toEqual([refused]);
  });

  it('make a file more, is refused for now', () => {
    const order = { ...orderFor(runFolder(), ['true']), cwd: '/' };
    const reason = `cannot write to ${order.directory}: the disk is full`;
    const full = on(order.directory, 'nr_inodes=2', 'mkdir "$PLACE/attempts";');
    const refused = { kind: 'refused', reason, transient: true };
    expect(startedBy(full, order)).toEqual([refused, refused]);
  });

  it('write a byte more, is refused for now', () => {
    const order = { ...orderFor(runFolder(), ['touch', '/tmp/memrl-it-ran']), cwd: '/' };
    const full = on(order.directory, 'size=4k', 'head -c 4096 /dev/zero > "$PLACE/ballast";');
    const reason = `cannot write to ${order.directory}: the disk is full`;
    const refused = { kind: 'refused', reason, transient: true };
    expect(startedBy(full, order)).toEqual([refused, refused]);
    expect(existsSync('/tmp/memrl-it-ran')).toBe(false);
  });

  it('write its claim, never begins its command', async () => {
    const directory = runFolder();
    const attempt = attemptDirectory(directory, 1);
    mkdirSync(attempt, { recursive: true });
    // What a shim before it left there: the name, and no room for the line.
    writeFileSync(join(attempt, 'pid'), '');
    const { executor, untilEnded } = newExecutor();
    executor.start(id, orderFor(directory, ['touch', join(directory, 'it-ran')]));
    expect(await untilEnded()).toEqual({ kind: 'not-claimed' });
    expect(existsSync(join(directory, 'it-ran'))).toBe(false);
  });

  it('execute, says so', () => {
    const order = orderFor(runFolder(), ['./train.sh']);
    const script = on(order.directory, 'noexec', 'cd "$PLACE"; echo "#!/bin/sh" > train.sh; chmod 755 train.sh;');
    const reason = `${order.directory}/train.sh is not executable: its file system is mounted noexec`;
    expect(startedBy(script, order)).toEqual([{ kind: 'not-begun', reason }]);
  });
});

describe('a run whose directory', () => {
  it('belongs to someone else, is refused with the reason', () => {
    const directory = runFolder();
    const order = { ...orderFor(join(directory, 'run'), ['true']), cwd: '/' };
    if (isRoot) chmodSync(directory, 0o755);
    else chmodSync(directory, 0o555);
    const refused = { kind: 'refused', reason: `cannot write to ${order.directory}: EACCES`, transient: false };
    expect(startedBy(`${asNobody}"$@"`, order)).toEqual([refused]);
  });

  it('is deleted while it runs, goes on, and ends with its code', async () => {
    const directory = runFolder();
    const { executor, untilEnded } = newExecutor();
    const pipe = join(mkdtempSync(join(folder, 'pipe-')), 'gate');
    execFileSync('mkfifo', [pipe]);
    executor.start(id, orderFor(directory, ['sh', '-c', `echo up; read line < ${pipe}; exit 6`]));
    await untilLogged(directory, 'up');
    rmSync(directory, { recursive: true });
    writeFileSync(pipe, 'go\n');
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 6 });
    expect(existsSync(directory)).toBe(false);
  });

  it('is deleted while it runs and the supervisor changes, ends in a way that nobody can know', async () => {
    const directory = runFolder();
    const first = newExecutor();
    first.executor.start(id, orderFor(directory, ['sh', '-c', 'echo up; sleep 600']));
    await untilLogged(directory, 'up');
    first.executor.close();
    const next = newExecutor();
    next.executor.adopt(id, directory, 1);
    rmSync(directory, { recursive: true });
    next.executor.kill(id);
    const reason = 'its directory was deleted while it ran, and its exit code with it';
    expect(await next.untilEnded()).toEqual({ kind: 'unknown', reason });
  });

  it('has no room for its exit code, is said to have that trouble', async () => {
    const directory = runFolder();
    const { executor } = newExecutor();
    executor.start(id, orderFor(directory, ['sh', '-c', 'echo up; sleep 600']));
    await untilLogged(directory, 'up');
    executor.close();
    const next = newExecutor();
    next.executor.adopt(id, directory, 1);
    // What a shim leaves on a full disk.
    writeFileSync(join(attemptDirectory(directory, 1), 'exit'), '');
    next.executor.kill(id);
    const reason = 'its exit code could not be written (is the disk full?)';
    expect(await next.untilEnded()).toEqual({ kind: 'unknown', reason });
  });
});

describe('what stands in the way of a command', () => {
  const at = runFolderOnce();
  function runFolderOnce(): string {
    const made = mkdtempSync(join(tmpdir(), 'commands-'));
    const files: Record<string, [text: string, mode: number]> = {
      'fine.sh': ['#!/bin/sh\n', 0o755],
      'plain.sh': ['#!/bin/sh\n', 0o644],
      'windows.sh': ['#!/bin/sh\r\n', 0o755],
      'lost.py': ['#!/opt/no/such/python -u\n', 0o755],
      binary: ['\x7fELF\0\0', 0o755],
    };
    for (const [name, [text, mode]] of Object.entries(files)) writeFileSync(join(made, name), text, { mode });
    mkdirSync(join(made, 'folder'));
    return made;
  }
  afterAll(() => removeFolder(at));

  it.each<{ command: string; problem: string | null; path?: string; cwd?: string }>([
    { command: './fine.sh', problem: null },
    { command: 'fine.sh', problem: 'command not found: fine.sh' },
    { command: 'fine.sh', path: '/usr/bin:AT', problem: null },
    { command: 'plain.sh', path: '/usr/bin:AT', problem: 'AT/plain.sh is not executable' },
    { command: './plain.sh', problem: 'AT/plain.sh is not executable' },
    { command: './windows.sh', problem: 'AT/windows.sh has Windows line ends, so its interpreter is not found' },
    { command: './lost.py', problem: 'the interpreter of AT/lost.py does not exist: /opt/no/such/python' },
    { command: './binary', problem: null },
    { command: './folder', problem: 'AT/folder is not a program' },
    { command: './none', problem: 'command not found: AT/none' },
    { command: 'sh', problem: 'command not found: sh', path: '' },
    { command: 'sh', problem: 'working directory AT/none does not exist', cwd: 'none' },
    { command: 'sh', problem: 'working directory AT/binary is not a directory', cwd: 'binary' },
  ])('$command in "$cwd": $problem', ({ command, path = '/usr/bin:/bin', cwd = '', problem }) => {
    const found = commandProblem(command, join(at, cwd), path.replace('AT', at));
    expect(found).toBe(problem?.replace('AT', at) ?? null);
  });

  it('is told for an interpreter that is not there, instead of "not found"', async () => {
    const { executor, untilEnded } = newExecutor();
    executor.start(id, { ...orderFor(runFolder(), ['./lost.py']), cwd: at });
    const reason = `the interpreter of ${at}/lost.py does not exist: /opt/no/such/python`;
    expect(await untilEnded()).toEqual({ kind: 'not-begun', reason });
  });

  it('is not looked for when the command itself ends with that code', async () => {
    const { executor, untilEnded } = newExecutor();
    executor.start(id, orderFor(runFolder(), ['sh', '-c', 'exit 127']));
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 127 });
  });
});
