import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Options, ResultPromise } from 'execa';
import { identityOf, readStat } from './process-identity.js';
import { killTrees, terminateTrees, type Tree } from './process-tree.js';

/** A program that runs for a moment: nvidia-smi, git, the command of a done rule. */
export type ShortCall = {
  program: string;
  args: readonly string[];
  environment: Readonly<NodeJS.ProcessEnv>;
  patienceMs: number;
  /** Working directory; absent: that of this process. */
  cwd?: string;
  /** The program's stdin. */
  input?: string;
  /** Limit on the bytes of output, at which the program is killed. */
  most?: number;
  /** For a user's program. Absent: the program starts no others, and is killed alone. */
  tree?: CallTree;
  /** Ends the program early. */
  signal?: AbortSignal;
};

/** All processes that the program starts are ended with it, also when this process dies first. `stderr` is merged into `stdout`. */
type CallTree = {
  /** The `MEMRL_RUN_DIR` that only this program has; absent: none. */
  directory?: string;
  /** What happens to processes that the program leaves when it exits by itself. */
  leftovers: 'killed' | 'kept';
  /** Time between SIGTERM and SIGKILL, ms; absent: SIGKILL at once. */
  graceMs?: number;
};

type Output = { readonly stdout: Buffer; readonly stderr: Buffer };

/** How a program ended, and its output so far. `late`: it exceeded its time; `loud`: it printed too much; both were killed. */
export type CallEnd =
  | ({ readonly kind: 'exit'; readonly code: number | null; readonly signal: string | null } & Output)
  | ({ readonly kind: 'late' } & Output)
  | ({ readonly kind: 'loud' } & Output)
  | { readonly kind: 'unstartable'; readonly why: string };

/**
 * `failed`: the exit code is not 0 (null: it could not be started, printed too much, or a signal ended it). `hung`: it exceeded its
 * time.
 */
type Answer<Text> =
  | { kind: 'answered'; stdout: Text }
  | { kind: 'failed'; code: number | null; stdout: Text; reason: string }
  | { kind: 'hung'; stdout: Text };
export type ShortAnswer = Answer<Buffer>;

type Child = ResultPromise<{ encoding: 'buffer'; reject: false; all: boolean; input: string }>;

/**
 * Programs that SIGKILL has not ended: they hang in a driver or on a disk. Another call would hang as well, so it is not made. By
 * program and folder.
 */
const stuck = new Set<string>();

/** Time that a killed program may take to end, ms. */
const KILL_WAIT_MS = 500;
/** Time in which output may still arrive after a program has ended, ms; a daemon that it left may hold the pipe open for ever. */
const DRAIN_MS = 200;
const MOST = 2 ** 24;
/** A path below which nothing can exist. */
const NOWHERE = '/dev/null/nowhere';
const nothing = Buffer.alloc(0);

/**
 * Runs a program and returns how it ended. Never rejects. Takes hardly longer than its limit, even if the program cannot be killed.
 */
export async function callProgram(call: ShortCall): Promise<CallEnd> {
  if (stuck.has(placeOf(call))) return { kind: 'late', stdout: nothing, stderr: nothing };
  // Loaded on demand, as most processes never call a program.
  const { execa } = await import('execa');
  const mark = randomUUID();
  const short = shortageOfDescriptors();
  if (short !== null) return { kind: 'unstartable', why: short };
  const guard = call.tree === undefined ? null : guardOf(mark);
  try {
    const child = execa(call.program, call.args, optionsOf(call, mark)) as Child;
    const tree = treeOf(child, call);
    if (tree !== null) guard?.write(`${tree.pid} ${tree.startTime}\n`);
    return await endOf(child, tree, call);
  } catch (error) {
    // An argument that no system call accepts, such as one with a NUL byte.
    return { kind: 'unstartable', why: (error as Error).message };
  } finally {
    guard?.end('\n\n');
  }
}

/** Descriptors that a call takes at its start: three pipes, the report of exec, and the same for its guard. */
const DESCRIPTORS = 16;

/**
 * Why no program can be started; null: one can. With too few descriptors for its pipes, a child has no streams, and its error would
 * reach nobody, so that this process died of it.
 */
function shortageOfDescriptors(): string | null {
  const open: number[] = [];
  try {
    while (open.length < DESCRIPTORS) open.push(openSync('/dev/null', 'r'));
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    for (const descriptor of open) closeSync(descriptor);
  }
}

/** Runs a short call whose exit code tells whether it succeeded. */
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

/** Runs a short call whose answer is text. */
export async function askProgram(call: ShortCall): Promise<Answer<string>> {
  const answer = await shortCall(call);
  return { ...answer, stdout: answer.stdout.toString('utf8') };
}

function placeOf({ program, cwd = '' }: ShortCall): string {
  return `${program}\n${cwd}`;
}

/**
 * Options for execa, without its clean-up: it listens for every fatal signal and then ends the process, so that a supervisor whose
 * journal reaches a limit (SIGXFSZ) would die just because it once called a program.
 */
function optionsOf({ environment, cwd, input = '', most = MOST, tree }: ShortCall, mark: string): Options {
  return {
    ...(cwd === undefined ? {} : { cwd }),
    ...{ input, maxBuffer: most, all: tree !== undefined, encoding: 'buffer', stripFinalNewline: false },
    ...{ env: tree === undefined ? environment : { ...environment, [CALL_MARK]: mark }, extendEnv: false },
    ...{ detached: tree !== undefined, cleanup: false, killSignal: 'SIGKILL', reject: false },
  };
}

/**
 * Waits for the end of the program within its limit: a program in a hung driver never ends, and a daemon may hold its output open.
 */
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

/** The bytes of a stream; it is undefined if no descriptor was left. */
function bytesOf(read: Uint8Array | undefined): Buffer {
  return Buffer.from(read ?? nothing);
}

/** The process tree to kill; null: the program is killed alone. */
function treeOf({ pid }: Child, { tree }: ShortCall): Tree | null {
  if (tree === undefined || pid === undefined) return null;
  // A program that has ended keeps its start time until it is waited for.
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

/** Kills a tree, and its group even if the start time of the leader is unknown. */
function killAll(tree: Tree): void {
  // First, as living members lead to their descendants.
  killTrees([tree]);
  try {
    process.kill(-tree.pid, 'SIGKILL');
  } catch {
    // No process is left.
  }
}

/** Detaches from a program that cannot be killed, so that neither it nor its output keeps this process from ending. */
function giveUp(child: Child, place: string): void {
  stuck.add(place);
  child.once('exit', () => stuck.delete(place));
  child.unref();
  close(child);
}

function close({ stdout, stderr }: Child): void {
  for (const stream of [stdout, stderr]) stream?.destroy();
}

/** Variable in the environment of all processes that a called program starts: a unique word. */
const CALL_MARK = 'MEMRL_CALL';

/**
 * The guard reads pid and start time of the program, and waits for the end of its caller (another line means that nothing is left
 * to do). Then it kills the group of the program, and all processes with its mark, which is the argument. It is a separate process,
 * because SIGKILL leaves the caller no time.
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
 * Ends the program with that mark and its processes when this process dies in any way. Returns the stdin of the guard; null if no
 * process or descriptor was left for it.
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
