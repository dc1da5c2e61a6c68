import { type ChildProcess, execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** `failed`: the exit code is not 0 (null: it could not be started, or a signal ended it). `hung`: no answer in time. */
export type Answer =
  | { kind: 'answered'; stdout: string }
  | { kind: 'failed'; code: number | null; stdout: string; reason: string }
  | { kind: 'hung' };

export type Question = {
  program: string;
  args: readonly string[];
  environment: Readonly<NodeJS.ProcessEnv>;
  patienceMs: number;
  /** Given to it as its stdin. */
  input?: string;
};

/**
 * Programs that SIGKILL has not ended: they are inside a driver that does not return. To start another would hang as well,
 * and pile up. By program.
 */
const stuck = new Map<string, ChildProcess>();

/** How long a killed program may take to be gone, ms. */
const MERCY_MS = 500;

/**
 * Runs a short program and gives what it printed. Never rejects, and takes no longer than `patienceMs` and a moment, even
 * where the program cannot be killed.
 */
export async function askProgram(question: Question): Promise<Answer> {
  const { program, args, environment, patienceMs, input } = question;
  if (stuck.has(program)) return { kind: 'hung' };
  return new Promise((resolve) => {
    const options = { env: environment, encoding: 'utf8', maxBuffer: 1 << 26 } as const;
    let patience: NodeJS.Timeout | null = null;
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (patience !== null) clearTimeout(patience);
      stuck.delete(program);
      const late = child.killed ? ({ kind: 'hung' } as const) : null;
      resolve(late ?? (error === null ? { kind: 'answered', stdout } : failure(error, stdout, stderr)));
    });
    patience = setTimeout(() => {
      end(child);
      patience = setTimeout(() => {
        stuck.set(program, child);
        resolve({ kind: 'hung' });
      }, MERCY_MS);
    }, patienceMs);
    // That it has ended without reading this is told by its exit code.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
  });
}

/** Whether such a program is on the PATH of `environment`. */
export function isOnPath(program: string, { PATH: path = '' }: Readonly<NodeJS.ProcessEnv>): boolean {
  return path.split(':').some((folder) => folder !== '' && isExecutable(join(folder, program)));
}

/** Its own children may hold its output open; nobody reads that any more. */
function end(child: ChildProcess): void {
  child.kill('SIGKILL');
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function failure(error: Error & { code?: unknown }, stdout: string, stderr: string): Answer {
  const code = typeof error.code === 'number' ? error.code : null;
  const words = stdout.trim() || stderr.trim() || (code === null ? error.message : `exit code ${code}`);
  return { kind: 'failed', code, stdout, reason: words.split('\n').slice(0, 3).join(' ') };
}
