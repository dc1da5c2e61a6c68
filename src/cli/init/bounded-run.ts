import { type ChildProcess, spawn } from 'node:child_process';
import { fstatSync, ftruncateSync } from 'node:fs';
import { runMarks } from '../../contract/files.js';
import { identityOf } from '../../processes/process-identity.js';
import { killTrees, terminateTrees, type Tree } from '../../processes/process-tree.js';

/**
 * A foreign program to try. `log`: descriptor of the file that its output goes to; by its path the program may have put something
 * else. `directory`: the folder of the run it takes itself for.
 */
type Bounded = {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly directory: string;
  readonly log: number;
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  readonly patienceMs: number;
  /** Bytes of output after which it is stopped. */
  readonly most: number;
};

/** How it ended. `late` and `loud`: it was stopped, with all it had started. */
export type BoundedEnd =
  | { readonly kind: 'exit'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'late' }
  | { readonly kind: 'loud' }
  | { readonly kind: 'unstartable'; readonly why: string };

/** Between two looks at how much it has printed, ms. */
const LOOK_MS = 50;
/** To write down what it holds, once it was asked to end, ms. */
const GRACE_MS = 2000;

/**
 * Runs a program whose behaviour nobody knows: it gets no input, a limit of time and of output, and nothing that it has
 * started stays behind. Never rejects.
 */
export async function boundedRun(call: Bounded): Promise<BoundedEnd> {
  const child = started(call);
  return child instanceof Error ? { kind: 'unstartable', why: child.message } : endOf(child, call);
}

function started({ command: [program = '', ...args], cwd, directory, environment, log }: Bounded) {
  try {
    return spawn(program, args, {
      cwd,
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...environment, [runMarks.directory]: directory, [runMarks.id]: 'init/trial', [runMarks.attempt]: '1' },
    });
  } catch (error) {
    // What no system call can take, a NUL byte for example.
    return error as Error;
  }
}

async function endOf(child: ChildProcess, { directory, log, patienceMs, most }: Bounded): Promise<BoundedEnd> {
  const exit = new Promise<BoundedEnd>((resolve) => {
    child.once('error', ({ message }) => resolve({ kind: 'unstartable', why: message }));
    child.once('exit', (code, signal) => resolve({ kind: 'exit', code, signal }));
  });
  if (child.pid === undefined) return exit;
  const tree = { pid: child.pid, startTime: identityOf(child.pid)?.startTime ?? null, directory };
  const watch = new Watch(log, { patienceMs, most });
  const end = await Promise.race([exit, watch.over]);
  watch.close();
  if (end.kind === 'late' || end.kind === 'loud') await stopped(tree, exit);
  // Also what a program has left behind that ended by itself.
  killTrees([tree]);
  // Gigabytes come between two looks at one that prints for ever: whoever reads it next is to read no more than was allowed.
  if (end.kind === 'loud') ftruncateSync(log, most);
  return end;
}

async function stopped(tree: Tree, exit: Promise<unknown>): Promise<void> {
  terminateTrees([tree]);
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise((resolve) => (timer = setTimeout(resolve, GRACE_MS)));
  await Promise.race([exit, enough]);
  clearTimeout(timer);
}

/** Sees when the time is up, or too much was printed. */
class Watch {
  readonly over: Promise<BoundedEnd>;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: number, { patienceMs, most }: { patienceMs: number; most: number }) {
    const end = performance.now() + patienceMs;
    this.over = new Promise((resolve) => {
      this.#timer = setInterval(() => {
        if (fstatSync(log).size > most) resolve({ kind: 'loud' });
        else if (performance.now() > end) resolve({ kind: 'late' });
      }, LOOK_MS);
    });
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
