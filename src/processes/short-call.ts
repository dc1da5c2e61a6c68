import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { Options, ResultPromise } from 'execa';
import { identityOf, readStat } from './process-identity.js';
import { killTrees, terminateTrees, type Tree } from './process-tree.js';

/** A program to run for a moment: nvidia-smi, git, the command of a done rule, a program that is tried. */
export type ShortCall = {
  program: string;
  args: readonly string[];
  environment: Readonly<NodeJS.ProcessEnv>;
  patienceMs: number;
  /** Default: our own working directory. */
  cwd?: string;
  /** Given to the program as its stdin. */
  input?: string;
  /** Bytes of output after which the program is stopped. */
  most?: number;
  /** For a program of a person's. Absent: the program starts no others, and is ended alone. */
  tree?: CallTree;
  /** Ends the program before its time. */
  signal?: AbortSignal;
};

/** All that the program starts is ended with it, also when this process dies first. `stderr` is heard within `stdout`. */
type CallTree = {
  /** The `MEMRL_RUN_DIR` that is the program's alone; absent: it has none. */
  directory?: string;
  /** What the program leaves behind when it ends by itself: killed, or left alone. */
  leftovers: 'killed' | 'kept';
  /** Between SIGTERM and SIGKILL, ms; absent: SIGKILL at once. */
  graceMs?: number;
};

type Output = { readonly stdout: Buffer; readonly stderr: Buffer };

/** How a program ended, and what it had printed by then. `late`: not in time; `loud`: it printed too much; both were killed. */
export type CallEnd =
  | ({ readonly kind: 'exit'; readonly code: number | null; readonly signal: string | null } & Output)
  | ({ readonly kind: 'late' } & Output)
  | ({ readonly kind: 'loud' } & Output)
  | { readonly kind: 'unstartable'; readonly why: string };

/** `failed`: the exit code is not 0 (null: it could not be started, printed too much, or a signal ended it). `hung`: late. */
type Answer<Text> =
  | { kind: 'answered'; stdout: Text }
  | { kind: 'failed'; code: number | null; stdout: Text; reason: string }
  | { kind: 'hung'; stdout: Text };
export type ShortAnswer = Answer<Buffer>;

type Child = ResultPromise<{ encoding: 'buffer'; reject: false; all: boolean; input: string }>;

/**
 * Programs that SIGKILL has not ended: they are inside a driver, or on a disk, that does not return. To start another would
 * hang as well, and pile up. By program and folder.
 */
const stuck = new Set<string>();

/** How long a killed program may take to be gone, ms. */
const KILL_WAIT_MS = 500;
/** How long output may still come after a program has ended; a daemon that it left behind may hold it open for ever, ms. */
const DRAIN_MS = 200;
const MOST = 2 ** 24;
/** Nothing is below this path. */
const NOWHERE = '/dev/null/nowhere';
const nothing = Buffer.alloc(0);

/** Runs a program and returns how it ended. Never rejects. Takes hardly longer than its limit, even if the program cannot be killed. */
export async function callProgram(call: ShortCall): Promise<CallEnd> {
  if (stuck.has(placeOf(call))) return { kind: 'late', stdout: nothing, stderr: nothing };
  // Most processes never call a program.
  const { execa } = await import('execa');
  const mark = randomUUID();
  const guard = call.tree === undefined ? null : guardOf(mark);
  try {
    const child = execa(call.program, call.args, optionsOf(call, mark)) as Child;
    const tree = treeOf(child, call);
    if (tree !== null) guard?.write(`${tree.pid} ${tree.startTime}\n`);
    return await endOf(child, tree, call);
  } catch (error) {
    // What no system call can take, a NUL byte for example.
    return { kind: 'unstartable', why: (error as Error).message };
  } finally {
    guard?.end('\n\n');
  }
}

/** A short call whose exit code says whether it worked. */
export async function shortCall(call: ShortCall): Promise<ShortAnswer> {
  const end = await callProgram(call);
  if (end.kind === 'unstartable') return { kind: 'failed', code: null, stdout: nothing, reason: end.why };
  const { stdout, stderr } = end;
  if (end.kind === 'late') return { kind: 'hung', stdout };
  if (end.kind === 'loud') {
    return { kind: 'failed', code: null, stdout, reason: `more than ${call.most ?? MOST} bytes` };
  }
  const { code, signal } = end;
  if (code === 0) return { kind: 'answered', stdout };
  const said = stdout.toString('utf8').trim() || stderr.toString('utf8').trim() || (signal ?? `exit code ${code}`);
  return { kind: 'failed', code, stdout, reason: said.split('\n').slice(0, 3).join(' ') };
}

/** A short call whose answer is text. */
export async function askProgram(call: ShortCall): Promise<Answer<string>> {
  const answer = await shortCall(call);
  return { ...answer, stdout: answer.stdout.toString('utf8') };
}

function placeOf({ program, cwd = '' }: ShortCall): string {
  return `${program}\n${cwd}`;
}

/**
 * Without execa's clean-up: it listens for every signal that ends a process and then ends it, so that a supervisor whose journal
 * reaches a limit (SIGXFSZ) would die of having called a program.
 */
function optionsOf({ environment, cwd, input = '', most = MOST, tree }: ShortCall, mark: string): Options {
  return {
    ...(cwd === undefined ? {} : { cwd }),
    ...{ input, maxBuffer: most, all: tree !== undefined, encoding: 'buffer', stripFinalNewline: false },
    ...{ env: tree === undefined ? environment : { ...environment, [CALL_MARK]: mark }, extendEnv: false },
    ...{ detached: tree !== undefined, cleanup: false, killSignal: 'SIGKILL', reject: false },
  };
}

/** Races the end of the program against its limit: a program in a hung driver never ends, and a daemon may hold its output. */
async function endOf(child: Child, tree: Tree | null, call: ShortCall): Promise<CallEnd> {
  let isLate = false;
  let timer: NodeJS.Timeout | undefined;
  let stop = () => undefined as void;
  const gaveUp = new Promise<null>((resolve) => {
    stop = () => {
      if (isLate || child.exitCode !== null || child.signalCode !== null) return;
      isLate = true;
      void stopped(child, tree, call.tree?.graceMs ?? 0).then(
        () => (timer ??= setTimeout(resolve, KILL_WAIT_MS, null)),
      );
    };
  });
  const limit = setTimeout(stop, call.patienceMs);
  call.signal?.addEventListener('abort', stop);
  if (call.signal?.aborted) stop();
  child.once('exit', () => {
    if (tree !== null && call.tree?.leftovers === 'killed') killAll(tree);
    clearTimeout(timer);
    timer = setTimeout(() => close(child), DRAIN_MS);
  });
  const result = await Promise.race([child, gaveUp]);
  for (const each of [limit, timer]) clearTimeout(each);
  call.signal?.removeEventListener('abort', stop);
  if (result !== null) return resultOf(result, isLate, call);
  giveUp(child, placeOf(call));
  return { kind: 'late', stdout: nothing, stderr: nothing };
}

function resultOf(result: Awaited<Child>, isLate: boolean, { most = MOST }: ShortCall): CallEnd {
  const { exitCode: code = null, signal = null, originalMessage: why = '' } = result;
  const stdout = bytesOf(result.all ?? result.stdout).subarray(0, most);
  const stderr = bytesOf(result.stderr);
  if (isLate) return { kind: 'late', stdout, stderr };
  if (result.isMaxBuffer) return { kind: 'loud', stdout, stderr };
  if (code === null && signal === null) return { kind: 'unstartable', why };
  return { kind: 'exit', code, signal, stdout, stderr };
}

/** Undefined where no descriptor was left for the stream. */
function bytesOf(read: Uint8Array | undefined): Buffer {
  return Buffer.from(read ?? nothing);
}

/** Null: the program is ended alone. */
function treeOf({ pid }: Child, { tree }: ShortCall): Tree | null {
  if (tree === undefined || pid === undefined) return null;
  // One that has ended already has its start time until it is waited for.
  return {
    pid,
    startTime: readStat(pid)?.startTime ?? identityOf(pid)?.startTime ?? null,
    directory: tree.directory ?? NOWHERE,
  };
}

async function stopped(child: Child, tree: Tree | null, graceMs: number): Promise<void> {
  if (tree === null) return void child.kill('SIGKILL');
  if (graceMs > 0) {
    terminateTrees([tree]);
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise((resolve) => (timer = setTimeout(resolve, graceMs)));
    await Promise.race([grace, new Promise((resolve) => child.once('exit', resolve))]);
    clearTimeout(timer);
  }
  killAll(tree);
}

/** The group goes even where nobody can say when its leader started. */
function killAll(tree: Tree): void {
  // While its members live they tell what descends from them.
  killTrees([tree]);
  try {
    process.kill(-tree.pid, 'SIGKILL');
  } catch {
    // Nothing is left of it.
  }
}

/** Neither such a program nor its output may keep this process from ending. */
function giveUp(child: Child, place: string): void {
  stuck.add(place);
  child.once('exit', () => stuck.delete(place));
  child.unref();
  close(child);
}

function close({ stdout, stderr }: Child): void {
  for (const stream of [stdout, stderr]) stream?.destroy();
}

/** In the environment of everything that a called program starts: a word that no other process has. */
const CALL_MARK = 'MEMRL_CALL';

/**
 * Reads pid and start time of the program, and waits for the end of its caller (another line says that nothing is left to do). Then it kills the
 * group of the program, and all that carries its mark, which is the argument. A process of its own, because SIGKILL leaves the caller no time.
 */
const GUARD = `mark=$1
read -r pid start && read -r line && exit
started() {
  if [ -d /proc/self ]; then
    stat=$(cat "/proc/$1/stat") && set -- \${stat##*) } && shift 19 && echo "$1"
  else
    set -- $(LC_ALL=C ps -o lstart= -p "$1") && echo "$*"
  fi
}
if [ "$pid" ]; then
  case $(started "$pid") in '' | "$start") kill -9 "-$pid" ;; esac
fi
for round in 1 2 3; do
  for file in $(grep -lsF "$mark" /proc/[0-9]*/environ); do file=\${file%/environ}; kill -9 "\${file#/proc/}"; done
done`;

/**
 * Ends the program with that mark and what it has started when this process dies, however it dies. The stdin of the guard; null
 * where no process or descriptor was left for it.
 */
function guardOf(mark: string): Writable | null {
  const guard = spawn('/bin/sh', ['-c', GUARD, 'memrl-guard', mark], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: process.env['PATH'] },
  });
  for (const emitter of [guard, guard.stdin]) emitter?.on('error', () => undefined);
  guard.unref();
  return guard.stdin;
}
