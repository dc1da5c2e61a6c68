import { type ChildProcess, spawn } from 'node:child_process';
import { identityOf } from './process-identity.js';
import { killTrees } from './process-tree.js';

/** A program of a person's to run for a while. */
type TreeCall = {
  command: readonly string[];
  cwd: string;
  environment: Readonly<Record<string, string>>;
  patienceMs: number;
  /** A path below which nothing else is: only what descends from the program is its own. */
  mark: string;
};

/** How it ended. `said`: the last line that it printed. */
export type TreeEnd =
  | { kind: 'exit'; code: number | null; signal: string | null; said: string }
  | { kind: 'late' }
  | { kind: 'unstartable'; why: string };

/** Of what it prints, the end is kept, characters. */
const KEPT = 4096;
/** How long output may still come after a program has ended, ms. */
const DRAIN_MS = 200;

/**
 * Runs a program and gives how it ended. It gets no input and a limit of time, after which it is killed with all that it has
 * started; what it leaves behind in its group is killed as well. Never rejects.
 */
export async function treeCall(call: TreeCall): Promise<TreeEnd> {
  const { command, cwd, environment: env } = call;
  const [program = '', ...args] = command;
  try {
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    return await endOf(child, call);
  } catch (error) {
    // What no system call can take, a NUL byte for example.
    return { kind: 'unstartable', why: (error as Error).message };
  }
}

async function endOf(child: ChildProcess, { patienceMs, mark }: TreeCall): Promise<TreeEnd> {
  const said = lastLine(child);
  const { pid } = child;
  const startTime = pid === undefined ? null : (identityOf(pid)?.startTime ?? null);
  let timer: NodeJS.Timeout | undefined;
  const end = await new Promise<TreeEnd>((resolve) => {
    timer = setTimeout(() => {
      if (pid !== undefined) killTrees([{ pid, startTime, directory: mark }]);
      resolve({ kind: 'late' });
    }, patienceMs);
    child.once('error', ({ message }) => resolve({ kind: 'unstartable', why: message }));
    child.once('exit', (code, signal) => {
      if (pid !== undefined) killGroup(pid);
      const tell = () => resolve({ kind: 'exit', code, signal, said: said() });
      // What it said may still be on its way; who has left its group may hold it open for ever.
      child.once('close', tell);
      setTimeout(tell, DRAIN_MS).unref();
    });
  });
  clearTimeout(timer);
  for (const stream of [child.stdout, child.stderr]) stream?.destroy();
  return end;
}

function lastLine({ stdout, stderr }: ChildProcess): () => string {
  let tail = '';
  const hear = (chunk: Buffer) => (tail = (tail + chunk.toString('utf8')).slice(-KEPT));
  for (const stream of [stdout, stderr]) stream?.on('data', hear);
  return () => tail.trimEnd().split('\n').at(-1)?.trim() ?? '';
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing is left.
  }
}
