import { type ChildProcess, spawn } from 'node:child_process';
import { kill } from 'node:process';
import { LineSplitter } from '../../base/line-splitter.js';
import type { Message } from './notification.js';

type CommandContext = {
  environment: Readonly<Record<string, string>>;
  /** Told each line that the command writes. */
  heard: (line: string) => void;
  signal: AbortSignal;
  patienceMs?: number;
};

/** A command that takes longer hangs, ms. */
const PATIENCE_MS = 30_000;
/** ms */
const LAST_LINES_MS = 500;
/** Lines of its output that are passed on. */
const MOST_LINES = 50;

/**
 * Starts the command, without a shell, with the message in words as its last argument and as one line of JSON on its
 * stdin. Gives what went wrong, or null. Never rejects.
 */
export async function runNotifyCommand(
  words: readonly string[],
  message: Message,
  context: CommandContext,
): Promise<string | null> {
  try {
    return await run(words, message, context);
  } catch (error) {
    // What no system call can take: a NUL byte, more than fits on a command line.
    return (error as Error).message;
  }
}

function run(
  [program, ...words]: readonly string[],
  message: Message,
  { environment, heard, signal, patienceMs = PATIENCE_MS }: CommandContext,
): Promise<string | null> {
  return new Promise((resolve) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
    // In a group of its own, so that what it starts can be ended with it.
    const options = { env: environment, detached: true } as const;
    const child = spawn(program!, [...words, message.text], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    limit.addEventListener('abort', () => {
      endGroup(child);
      resolve(signal.aborted ? 'the supervisor ended first' : `still running after ${patienceMs / 1000} s`);
    });
    passOn(child.stdout, heard);
    passOn(child.stderr, heard);
    child.on('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ENOENT' ? 'no such program' : error.message),
    );
    child.on('exit', (code, ended) => {
      const problem = code === 0 ? null : `ended with ${ended ?? `code ${code}`}`;
      // Its last lines may still be on their way; something it left behind may hold the other end for ever.
      child.once('close', () => resolve(problem));
      setTimeout(() => resolve(problem), LAST_LINES_MS).unref();
    });
    // A command need not read what it is told.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${JSON.stringify(message)}\n`);
  });
}

function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

function passOn(stream: NodeJS.ReadableStream, heard: (line: string) => void): void {
  const splitter = new LineSplitter();
  let left = MOST_LINES;
  stream.on('data', (chunk: Buffer) => {
    if (left <= 0) return;
    for (const line of splitter.push(chunk).slice(0, left)) {
      heard(line);
      left -= 1;
    }
  });
}
