import { type ChildProcess, spawn } from 'node:child_process';
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
/** How long output may still come after a program has ended; a daemon that it left behind may hold it open for ever, ms. */
const DRAIN_MS = 200;

/**
 * Runs a short program and gives what it printed. Never rejects, and takes no longer than `patienceMs` and a moment, even
 * where the program cannot be killed.
 */
export async function askProgram(question: Question): Promise<Answer> {
  if (stuck.has(question.program)) return { kind: 'hung' };
  const child = started(question);
  if (child instanceof Error) return { kind: 'failed', code: null, stdout: '', reason: child.message };
  const stdout = textOf(child.stdout);
  const stderr = textOf(child.stderr);
  // That it has ended without reading this is told by its exit code.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(question.input ?? '');
  const end = await endOf(child, question);
  child.stdout?.destroy();
  child.stderr?.destroy();
  if (end === 'hung') return { kind: 'hung' };
  if (end.code === 0) return { kind: 'answered', stdout: stdout() };
  return { kind: 'failed', code: end.code, stdout: stdout(), reason: words(stdout(), stderr(), end.problem) };
}

/** Whether such a program is on the PATH of `environment`. */
export function isOnPath(program: string, { PATH: path = '' }: Readonly<NodeJS.ProcessEnv>): boolean {
  return path.split(':').some((folder) => folder !== '' && isExecutable(join(folder, program)));
}

function started({ program, args, environment }: Question): ChildProcess | Error {
  try {
    return spawn(program, args, { env: environment, stdio: 'pipe' });
  } catch (error) {
    return error as Error;
  }
}

type End = { code: number | null; problem: string };

function endOf(child: ChildProcess, { program, patienceMs }: Question): Promise<End | 'hung'> {
  return new Promise((resolve) => {
    let isLate = false;
    let timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
      timer = setTimeout(() => {
        stuck.set(program, child);
        resolve('hung');
      }, MERCY_MS);
    }, patienceMs);
    const finish = (code: number | null, problem: string) => {
      clearTimeout(timer);
      stuck.delete(program);
      resolve(isLate ? 'hung' : { code, problem });
    };
    child.once('error', (error) => finish(null, error.message));
    child.once('close', (code, signal) => finish(code, signal ?? `exit code ${code}`));
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      timer = setTimeout(() => finish(code, signal ?? `exit code ${code}`), DRAIN_MS);
    });
  });
}

function textOf(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

function words(stdout: string, stderr: string, problem: string): string {
  return (stdout.trim() || stderr.trim() || problem).split('\n').slice(0, 3).join(' ');
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
